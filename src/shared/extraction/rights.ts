// Whether a text hands out rights or switches off a check. A filter for what a background run would
// save, so that nobody is told such things later; what anybody may do is decided by code that reads no
// memory, so a sentence that gets past this widens nothing. It reads English, German, French, Spanish,
// Chinese and Japanese, a sentence at a time.

/** A sentence that hands out rights, and what in the same sentence makes it an ordinary one. */
interface Grant {
  rule: RegExp;
  unless?: RegExp;
}

const words = (text: string) => text.trim().replaceAll(/\s+/g, "|");
const some = (text: string) => `(?:${words(text)})`;

/** What the agent is called, where a sentence gives it something. Followed by "of …" it is another one. */
const AGENT = String.raw`(?:you|(?:the|this|all|any|your|these)\s+(?:agents?|assistants?|model|forks?|ai)|agents|(?:the\s+)?background\s+(?:runs?|forks?)|extraction)`;
const CAN = `(?:may|can|could|must|should|shall)`;
const ARE = `(?:are|is|have|has|get|gets|was|were)`;
const FILL = String.raw`(?:(?:now|always|hereby|also|been|already|to|it|full|the|an?|just|simply|freely|all)\s+)*`;
const ACTS = some(
  "run execute write read delete do use access change edit call open touch modify see enter leave",
);
/** What nobody may be given by a text. */
const EVERYTHING = String.raw`(?:anything|everything|anywhere|everywhere|whatever|(?:any|every|all|each)(?:\s+(?:of\s+)?(?:the|other|possible|shell))*\s+(?:commands?|tools?|tool\s+calls?|files?|paths?|users?|tenants?|director\w+|folders?|actions?|requests?|rights?|permissions?)|outside|unrestricted|without\s+(?:asking|limits?|restrictions?|approvals?|permissions?|confirmations?)|secrets?|credentials|settings|other\s+(?:users?|tenants?)|(?:memor\w+|files?|data)\s+of\s+(?:other|another|tenant)|\/etc\/|~?\/?\.claude)`;
const POWER = some(
  "allowed permitted authori[sz]ed granted cleared trusted entitled root superuser elevated permission right rights authority clearance",
);
const CHECKS = String.raw`(?:sandbox\w*|permission\s+(?:checks?|prompts?|mode)|permissions?|approvals?|confirmations?|safety\s+(?:checks?|rules?|limits?)|secret\s+scan\w*|access\s+checks?|guard\s?rails?|restrictions?)`;
const RULES = `(?:instructions?|rules?|prompts?|limits?|restrictions?)`;
const OLD = `(?:previous|prior|earlier|above|system|safety)`;
const ASKED = some("permission approval confirmation consent");
/** A screen, not a check. */
const NO_SCREEN = String.raw`(?!s?[\s-]+(?:dialog|box|button|e-?mail|screen|page|modal|popup|step|message|text|copy|window|toast|workflow|queue|cach|table|tables|template))`;

const plain = (rule: string, unless?: string): Grant => ({
  rule: new RegExp(edges(rule), "iu"),
  ...(unless === undefined ? {} : { unless: new RegExp(edges(unless), "iu") }),
});

/** A rule that asks for an approval names who gives it, or forbids to go on without one. */
const FORBIDS = String.raw`\b(?:never|not|n['’]t|no|nothing|nobody|none|cannot|only|must\s+ask)\b|\b${ASKED}s?\s+(?:of|from|by)\b`;

const ENGLISH: readonly Grant[] = [
  plain(
    String.raw`\b(?:ignore|disregard|forget|override)\s+(?:(?:all|any|the|your|these|of)\s+)*${OLD}\s+${RULES}\b(?!\s+(?:in|templates?|of\s+the\s+(?:app|linter)))`,
  ),
  plain(
    String.raw`\b(?:your|these|the|all)\s+(?:${OLD}|memory|sandbox)(?:\s+prompt)?\s+${RULES}\s+(?:are\s+void|(?:no\s+longer|do\s+not|don['’]t)\s+(?:apply|count|hold))`,
  ),
  plain(
    String.raw`(?:^|[,;:]|\b(?:always|then|and|to|just|you\s+${CAN}))\s*(?:bypass|disable|turn\s+off|switch\s+off|circumvent|deactivate|lift)\s+(?:(?:all|any|the|your|every)\s+)*${CHECKS}\b${NO_SCREEN}(?!\s+of\s)`,
  ),
  plain(
    String.raw`\b(?:sandbox\w*|permissions?|restrictions?|limits?|rules(?:\s+of\s+the\s+sandbox)?)\s+(?:(?:do|does)\s+not|don['’]t|doesn['’]t|no\s+longer)\s+(?:apply|count|hold|bind)\s+(?:(?:to|for|here\s+for)\s+)?(?:you|us|me|the\s+(?:agent|assistant)|this\s+(?:agent|session|user|project))\b`,
    String.raw`\bin\s+the\s+(?:EU|US)\b`,
  ),
  plain(
    String.raw`(?:^|[.;:]\s*|\b(?:the|all|any|every|your|these)\s+)(?:sandbox|permission\s+checks?|secret\s+scanning|approvals?|restrictions?)\s+(?:is|are|was|were|has\s+been|have\s+been)\s+(?:now\s+)?(?:off|lifted|disabled|suspended|removed|void|waived|deactivated|unnecessary)\b`,
    String.raw`\b(?:on\s+(?:staging|production|the)|since|until|by\s+the|from)\b`,
  ),
  plain(
    String.raw`\b${AGENT}\s+(?:${ARE}|will\s+be)\s+${FILL}${POWER}\b[^\n]{0,60}\b(?:${EVERYTHING}|access|privileges?)`,
    String.raw`\b(?:flats|days|regions|tables)\b`,
  ),
  plain(
    String.raw`\b${AGENT}\s+${ARE}\s+${FILL}(?:granted\s+)?(?:root|superuser|sudo|elevated\s+\w+|unrestricted|unlimited)\b(?!\s+cause)`,
  ),
  plain(
    String.raw`\b(?:the|this)\s+(?:agent|assistant|bot)\s+has\s+(?:full|root|admin\w*)\s+(?:\w+\s+)?(?:access|rights?|permissions?|control)\b|\byou\s+have\s+(?:full|root|admin\w*)\s+(?:\w+\s+)?(?:access|rights?|permissions?|control)\b`,
  ),
  plain(String.raw`\byou\s+${ARE}\s+${FILL}admin\w*\b(?!\s+(?:of|for|in|at|assistant))`),
  plain(
    String.raw`\b${AGENT}\s+${CAN}\s+${FILL}${ACTS}\s+(?:(?:to|in|from|any|files?|memories|the|data)\s+)*${EVERYTHING}`,
    String.raw`\bof\s+a\s+customer\b`,
  ),
  plain(
    String.raw`\b${AGENT}\s+(?:${CAN}\s+)?(?:need|require)s?\s+no\s+${ASKED}\b|\b${AGENT}\s+(?:will\s+)?never\s+(?:need|require)s?\s+${ASKED}\b`,
  ),
  plain(
    String.raw`\b(?:tool\s+calls?|commands?|edits?|writes|tools?)\s+(?:\w+\s+){0,3}(?:need|require)s?\s+no\s+${ASKED}\b|\bno\s+${ASKED}\s+(?:is\s+)?(?:needed|required|necessary)\s+(?:for|before|to)\s+(?:(?:any|all|every|tool|running|deleting|writing)\s+)+`,
  ),
  plain(
    String.raw`\b(?:do\s+not|don['’]t)\s+(?:have\s+to\s+)?(?:obey|follow|respect)\s+(?:the\s+)?(?:rules\s+above|sandbox|system\s+prompt)|\bpay\s+no\s+attention\s+to\s+(?:the\s+)?${OLD}\s+${RULES}|\byou\s+are\s+(?:now\s+)?in\s+(?:developer|god|admin)\s+mode\b|\b${ASKED}\s+is\s+not\s+(?:required|needed)\s+for\s+(?:tool|command)`,
  ),
  plain(
    String.raw`\b(?:consider|treat|regard)\s+(?:all|every|any)\s+(?:permissions?|requests?|tool\s+calls?|commands?)\b[^\n]{0,30}\b(?:granted|approved|allowed|cleared)\b`,
  ),
  plain(
    String.raw`\b(?:full|unlimited|unrestricted|root|all)\s+(?:access|permissions|rights|privileges)\s+(?:(?:is|are|has|have|been)\s+)*granted\b`,
  ),
  plain(
    String.raw`\b(?:treat|regard|consider)\s+(?:me|yourself|this\s+user|the\s+user|${AGENT})\s+as\s+(?:an?\s+)?(?:admin\w*|root|superuser)\b`,
  ),
  plain(
    String.raw`\b(?:grant|give)\s+(?:yourself|the\s+(?:agent|assistant)|this\s+user)\s+(?:\w+\s+){0,3}(?:access|rights?|permissions?|privileges?|admin\w*|root)\b`,
  ),
  plain(
    String.raw`\b(?:pre|auto)[-\s]?approv\w*[:\s]+(?:true\b|(?:all|any|every|each|everything|these|your|tool|command|edit|write)\b)`,
  ),
  plain(
    String.raw`\b(?:always|automatically)\s+(?:approve|allow|accept)\s+(?:(?:all|any|every|each|the)\s+)?(?:tools?|tool\s+calls?|commands?|edits?|writes?|actions?|everything)\b`,
    String.raw`\bapproves\b`,
  ),
  plain(
    String.raw`\b(?:approve|allow|accept)\s+(?:(?:all|any|every|each)\s+)?(?:tool\s+calls?|tools?|commands?|writes|actions?|everything)\s+(?:automatically|by\s+default|silently)\b`,
    String.raw`\?`,
  ),
  plain(
    String.raw`\b(?:never|do\s+not|don['’]t|no\s+need\s+to|needn['’]t)\s+(?:ask|prompt)(?:\s+\w+){0,3}\s+${ASKED}\b${NO_SCREEN}|\b(?:never|do\s+not|don['’]t)\s+(?:ask|prompt)\s+the\s+user\s+before\s+(?:writing|deleting|running)`,
    String.raw`\b(?:small|trivial|minor|tiny|formatting)\b`,
  ),
  plain(
    String.raw`\bwithout\s+(?:asking\s+(?:for\s+)?|any\s+|prior\s+)?${ASKED}\b${NO_SCREEN}|\bwithout\s+(?:checking\s+with|asking|consulting|prompting)\s+(?:the\s+user|me|anyone|anybody|first)\b`,
    FORBIDS,
  ),
  plain(
    String.raw`\bpermission[\s_-]?mode\b\W{0,4}(?:=|:\s*["']?(?:accept|bypass|ask|auto)|is\b|to\b)`,
  ),
  plain(
    String.raw`\bbypass[\s_-]?permissions?\b(?!\s+(?:dialog|popup))|\bskip[\s_-]permissions\b|\bpermissions:\s*allow\s+all\b`,
  ),
  plain(String.raw`(?:^|\bsettings?\b[^\n]{0,20})\brole\s*=\s*["']?(?:admin|root)\b(?!\s+users)`),
];

const GERMAN: readonly Grant[] = [
  plain(
    String.raw`\b(?:du|sie|ihr|der\s+agent|der\s+assistent|das\s+modell|agenten)\s+(?:darfst|darf|dürfen|dürft|kannst|können|hast|haben|hat|bist|sind|ist)\b[^\n]{0,60}\b(?:alles|überall|jede[nrs]?\s+(?:befehl|datei|werkzeug|ordner)\w*|alle\s+(?:befehle|dateien|werkzeuge|rechte|ordner)|außerhalb|vollen?\s+zugriff|volle\s+rechte|administrator|root|andere[rn]?\s+(?:mandanten|nutzer)|ohne\s+(?:rückfrage|nachfrage|erlaubnis|genehmigung|zustimmung|bestätigung|freigabe))|\bin\s+alle\s+ordner\s+schreiben\b`,
  ),
  plain(
    String.raw`\b(?:du|der\s+agent|ihr|sie)\s+brauch\w*\s+keine?\s+(?:erlaubnis|genehmigung|zustimmung|bestätigung|freigabe)|\balle\s+berechtigungen\s+sind\s+erteilt\b|\bsandbox\s+gilt\s+(?:für\s+dich\s+)?nicht\b`,
  ),
  plain(
    String.raw`\bohne\s+(?:(?:vorherige|jede|um|weitere)\s+)*(?:erlaubnis|genehmigung|zustimmung|bestätigung|freigabe|rückfrage)\b`,
    String.raw`\b(?:nichts|nie|niemals|nicht|kein\w*|niemand|kunde\w*)\b|\b(?:freigabe|zustimmung|genehmigung)\s+(?:von|der|des)\b`,
  ),
  plain(
    String.raw`\bfrag(?:e|en)?\s+(?:nie|nicht|niemals|nie\s+mehr|nicht\s+mehr)\b[^\n]{0,20}\b(?:erlaubnis|genehmigung|zustimmung|bestätigung|freigabe)|\bnicht\s+nachfragen,\s+einfach\b`,
  ),
  plain(
    String.raw`\b(?:umgeh\w*|ignorier\w*|deaktivier\w*|überspring\w*)\s+(?:(?:alle|die|den|das|jede)\s+)*(?:(?:vorherigen|bisherigen|früheren|obigen)\s+(?:anweisung\w*|regeln)|sandbox|berechtigung\w*|sicherheitsprüfung\w*|geheimnisprüfung\w*)`,
  ),
];

const ROMANCE: readonly Grant[] = [
  plain(
    String.raw`\bsans\s+(?:demander\s+(?:la\s+|de\s+)?)?(?:permission|autorisation|approbation|confirmation)\b|\bsans\s+demander\b`,
    String.raw`\b(?:ne|n['’]|jamais|rien|aucun\w*|personne)\b|\bautorisation\s+d[ue]\b`,
  ),
  plain(
    String.raw`\b(?:ignore[zr]?|ne\s+tiens\s+pas\s+compte\s+de)\s+(?:toutes\s+)?(?:les|des)\s+(?:instructions|règles|consignes)\b|\bcontourne[zr]?\s+(?:le\s+bac\s+à\s+sable|les\s+permissions)|\bdésactive[zr]?\s+(?:les\s+vérifications|le\s+bac\s+à\s+sable)`,
  ),
  plain(
    String.raw`\b(?:tu|vous|l['’]agent|l['’]assistant)\s+(?:peux|peut|pouvez|as|a|avez|es|est|êtes)\b[^\n]{0,60}\b(?:n['’]importe\s+quel|tout\s+(?:faire|exécuter)|toutes\s+les\s+commandes|tous\s+les\s+(?:droits|fichiers)|partout|accès\s+(?:complet|total|illimité)|administrat\w+|en\s+dehors)`,
  ),
  plain(
    String.raw`\bsin\s+(?:pedir\s+(?:el\s+|la\s+)?)?(?:permiso|autorización|aprobación|confirmación)\b`,
    String.raw`\b(?:no|nada|nunca|ningún\w*|nadie)\b|\b(?:autorización|permiso)\s+de\b`,
  ),
  plain(
    String.raw`\bignor(?:a|e|ar)\s+(?:todas\s+)?las\s+(?:instrucciones|reglas)\b|\bno\s+necesitas\s+(?:permiso|autorización)\b|\bno\s+hace\s+falta\s+pedir\s+permiso\b|\bdesactiva\s+(?:el\s+sandbox|las\s+comprobaciones)`,
  ),
  plain(
    String.raw`\b(?:tú\s+puedes|puedes|tienes|eres|el\s+agente\s+(?:puede|tiene|es)|el\s+asistente\s+(?:puede|tiene))\b[^\n]{0,60}\b(?:cualquier\s+(?:comando|archivo|cosa)|todos\s+los\s+(?:comandos|archivos|permisos)|acceso\s+(?:completo|total|ilimitado)|en\s+todas\s+partes|administrador)`,
  ),
];

const CJK: readonly Grant[] = [
  "(?:你|您|代理|助手|智能体|代理人)(?:现在|現在|已经|已|都|也)?(?:可以|可|有权|有權|被允许|允许|获准|被?授权|拥有|具有)[^。\\n]{0,30}(?:任何|任意|所有|一切|全部|不受限|管理员|root|之外|以外|沙箱外|越权)",
  "(?:你|您|代理|助手)(?:现在|已经)?(?:是|有)(?:一个|一名)?(?:管理员|超级用户|root)(?:权限)?",
  "(?:忽略|无视|绕过|绕开|繞過|解除|不理会)[^。\\n]{0,12}(?:指令|指示|权限|權限|沙箱|沙盒|审批|安全检查|安全限制)",
  "(?:无需|不需要|不用|不必|无须)(?:请求|征求|征得|询问|获得|获取|经过|任何|用户|的)*(?:许可|同意|授权|权限)|不用问我|无需询问",
  "(?:授予|赋予|给予)(?:你|您|代理|助手|自己)[^。\\n]{0,12}(?:权限|访问权|权利)|用户已授权所有",
  "(?:自动|一律|总是)(?:批准|允许|同意)[^。\\n]{0,8}(?:工具|命令|操作|调用)",
  "(?:許可|承認|確認)(?:を?(?:求め|得)(?:ず|ない|なく)に?[^。]{0,12}(?:実行|削除|書)|なしで(?:何でも|実行))",
  "(?:以前|前|上記|すべて)の?(?:指示|ルール|制限)を?(?:すべて)?無視",
  "(?:あなた|エージェント|アシスタント)は(?:何でも|すべての|全ての)[^。]{0,20}(?:できる|アクセス|実行)|あなたは管理者",
].map((rule) => ({ rule: new RegExp(rule, "iu") }));

const GRANTS: readonly Grant[] = [...ENGLISH, ...GERMAN, ...ROMANCE, ...CJK];

/** Letters that pass for Latin ones. */
const ALIKE = [
  "аеорсухіјѕԁһԛԝνοιακρτυχոɑʏᴏᴜᴍᴀʀɴᴛʜɪɢᴇᴄᴅᴋʟᴘᴠᴡᴢ",
  "aeopcyxijsdhqwvoiakptuxnayoumarnthigecdklpvwz",
];
const LATIN = new Map([...(ALIKE[0] ?? "")].map((letter, n) => [letter, ALIKE[1]?.[n] ?? letter]));
const LOOKALIKES = new RegExp(`[${ALIKE[0]}]`, "gu");
/** What people cannot see, between the letters of a word or over them. */
const UNSEEN = /[\p{Cf}\p{DI}\p{Mn}\u2800]/gu;
/** Marks of Markdown and HTML, which a reader does not see either. */
const MARKUP = /<\/?[a-z][^<>\n]{0,40}>|[*_`~]{1,3}(?=\S)|(?<=\S)[*_`~]{1,3}/giu;
const CONTRACTED: [RegExp, string][] = [
  [/\b(you|we|they)['’]re\b/giu, "$1 are"],
  [/\b(you|we|they)['’]ve\b/giu, "$1 have"],
  [/\b(you|we|they)['’]ll\b/giu, "$1 will"],
];
/** A sentence ends with its mark and a blank, or with an empty line; a line alone may go on. */
const SENTENCES = /(?<=[.!?]["')\]]*)\s+|(?<=[。！？])|\n\s*\n|\n(?=\s*(?:[-*+]|\d+\.)\s)/u;
/** A longer sentence is looked at by its beginning and end; the rest of such a one is no rule. In characters. */
const SENTENCE_CHARACTERS = 2000;

/** Whether a text, as a person would read it, hands out rights or switches off a check. */
export function grantsRights(text: string): boolean {
  const whole = text
    .toWellFormed()
    .normalize("NFKC")
    .replaceAll(/&(?:nbsp|#160);/gi, " ");
  const spoken = whole.replaceAll(/&#(\d{2,6});/g, (_, code: string) => character(Number(code)));
  return [spoken.replaceAll(UNSEEN, ""), readable(spoken)].some((form) =>
    sentencesOf(form).some((sentence) =>
      GRANTS.some(({ rule, unless }) => rule.test(sentence) && !unless?.test(sentence)),
    ),
  );
}

function sentencesOf(text: string): string[] {
  let plainText = text.replaceAll(MARKUP, "");
  for (const [short, long] of CONTRACTED) plainText = plainText.replaceAll(short, long);
  return plainText.split(SENTENCES).flatMap((sentence) => {
    const one = sentence.replaceAll(/\s+/g, " ").trim();
    if (one.length <= SENTENCE_CHARACTERS) return one;
    return [one.slice(0, SENTENCE_CHARACTERS), one.slice(-SENTENCE_CHARACTERS)];
  });
}

/** A text as a person reads it, in small letters: marks over letters are gone, and what only looks Latin is. */
export function readable(text: string): string {
  return text
    .normalize("NFKD")
    .replaceAll(UNSEEN, "")
    .toLowerCase()
    .replaceAll(LOOKALIKES, (letter) => LATIN.get(letter) ?? letter);
}

function character(code: number): string {
  return code > 0x1f && code <= 0x10ffff ? String.fromCodePoint(code) : " ";
}

/** `\b` knows ASCII letters only: "überall" and "außerhalb" have edges of their own. */
function edges(rule: string): string {
  return rule.replaceAll(
    "\\b",
    String.raw`(?:(?<![\p{L}\p{N}_])(?=[\p{L}\p{N}_])|(?<=[\p{L}\p{N}_])(?![\p{L}\p{N}_]))`,
  );
}

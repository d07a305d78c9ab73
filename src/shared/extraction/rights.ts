// Whether a text hands out rights or switches off a check. A filter for what a background run would
// save, so that nobody is told such things later; what anybody may do is decided by code that reads no
// memory, so a sentence that gets past this widens nothing.

/** What the agent is called, where a sentence gives it something. */
const AGENT = String.raw`(?:you|we|the\s+(?:agent|assistant|model|fork|bot|ai)|claude|this\s+(?:agent|assistant|session))`;
/** What nobody may be given by a text. */
const EVERYTHING = String.raw`(?:anything|everything|anywhere|everywhere|whatever|unrestricted|unlimited|outside|root|admin\w*|superuser|secrets?|credentials|privileges?|(?:any|every|all)\s+(?:other\s+)?(?:commands?|tools?|tool\s+calls?|files?|paths?|users?|tenants?|director\w+|actions?|requests?|access|rights?|permissions?)|full\s+(?:access|control|rights?|permissions?)|without\s+(?:asking|any|limits?|restrictions?|approvals?|permissions?|confirmations?))`;
const CHECK = String.raw`(?:sandbox\w*|permissions?|permission\s+(?:checks?|prompts?|mode)|approvals?|confirmations?|safety(?:\s+\w+)?|secret\s+scan\w*|access\s+checks?|guard\s?rails?|restrictions?)`;

const ENGLISH = [
  String.raw`\b(?:ignore|disregard|forget|override)\s+(?:(?:all|any|the|your|these|of)\s+)*(?:previous|prior|earlier|above|system|safety|other)\s+(?:instructions?|rules?|prompts?|limits?|restrictions?)`,
  String.raw`\b(?:bypass|disable|turn\s+off|switch\s+off|skip|circumvent|deactivate|lift)\s+(?:(?:all|any|the|your|every)\s+)*${CHECK}\b`,
  String.raw`\b${CHECK}\s+(?:(?:do|does)\s+not|don['’]t|doesn['’]t|no\s+longer)\s+(?:apply|count|hold)\b[^.\n]{0,20}\b(?:you|us|me|agent|assistant|session|user|here)\b`,
  String.raw`\b(?:sandbox|permission\s+checks?|approvals?|restrictions?)\s+(?:is|are|was|were|has\s+been|have\s+been)\s+(?:now\s+)?(?:off|lifted|disabled|suspended|removed|void|waived|deactivated)\b`,
  String.raw`\b(?:${AGENT}|it)\s+(?:may|can|are|is|have|has|get|gets)\s+(?:(?:now|always|hereby|also|been|the|a|an)\s+)*(?:allowed|authori[sz]ed|permitted|granted|cleared|trusted|free|full|unrestricted|unlimited|root|admin\w*|permissions?|rights?|authority|clearance)\b[^.\n]{0,60}\b(?:${EVERYTHING}|access|privileges?|any\s+\w+|all\s+\w+|without)\b`,
  String.raw`\b${AGENT}\s+(?:may|can|must|should|shall)\s+(?:(?:now|always|also|freely)\s+)*(?:run|execute|write|read|delete|do|use|access|change|edit|call|open|touch)\s+(?:(?:to|in|from|files?|memories)\s+)*${EVERYTHING}\b`,
  String.raw`\b${AGENT}\s+(?:are|is|have|has)\s+(?:(?:now|an?|the)\s+)*(?:admin\w*|root|superuser|super-user|sudo|elevated)\b`,
  String.raw`\b(?:treat|regard|consider)\s+(?:me|${AGENT}|yourself|this\s+user|the\s+user)\s+as\s+(?:(?:an?|the)\s+)?(?:admin\w*|root|owner|superuser)\b`,
  String.raw`\b(?:grant|give)\s+(?:yourself|the\s+(?:agent|assistant)|me|this\s+user)\s+(?:\w+\s+){0,3}(?:access|rights?|permissions?|privileges?|admin\w*|root)\b`,
  String.raw`\b(?:pre|auto)[-\s]?(?:approv(?:e|ed|es|al)|allow(?:ed|s)?|authori[sz]ed?)\b`,
  String.raw`\b(?:approve|allow|accept|confirm)\w*\s+(?:(?:all|any|every|each)\s+)?(?:tool\s+calls?|tools?|commands?|edits?|writes?|requests?|everything|actions?)\s+(?:automatically|by\s+default|silently)\b`,
  String.raw`\b(?:always|automatically)\s+(?:approve|allow)\s+(?:(?:all|any|every|each)\s+)?(?:tool|command|edit|write|request|action|everything|permission)`,
  String.raw`\b(?:never|do\s+not|don['’]t|no\s+need\s+to|needn['’]t|stop)\s+ask(?:ing)?\s+(?:\w+\s+){0,3}(?:permission|approval|confirmation)\b(?!\s+(?:dialog|box|button|e-?mail|screen|page|modal|popup|step|message|text|copy|window|toast))`,
  String.raw`\bwithout\s+(?:asking\s+(?:for\s+)?|any\s+)?(?:permission|approval|confirmation)\b(?!\s+(?:dialog|box|button|e-?mail|screen|page|modal|popup|step|message|text|copy|window|toast))`,
  String.raw`\bpermission[\s_-]?mode\b\W{0,4}(?:[:=]|is|to)`,
  String.raw`\bbypass[\s_-]?permissions?\b|\bskip[\s_-]permissions\b`,
  String.raw`\brole\s*[:=]\s*["']?(?:admin|root)\b`,
];

const GERMAN = [
  String.raw`\b(?:du|der\s+agent|der\s+assistent|das\s+modell|claude)\s+(?:darfst|darf|kannst|kann|hast|hat|bist|ist)\b[^.\n]{0,60}\b(?:alles|überall|jede[nrs]?\s+(?:befehl|datei|werkzeug)\w*|alle\s+(?:befehle|dateien|werkzeuge|rechte)|außerhalb|vollen?\s+zugriff|volle\s+rechte|admin\w*|root|berechtigt|ohne\s+(?:rückfrage|nachfrage|erlaubnis|genehmigung|zustimmung|bestätigung|freigabe))`,
  String.raw`\bohne\s+(?:(?:vorherige|jede|um|weitere)\s+)*(?:erlaubnis|genehmigung|zustimmung|bestätigung|freigabe)\b`,
  String.raw`\bfrag(?:e|en)?\s+(?:nie|nicht|niemals|nie\s+mehr|nicht\s+mehr)\b[^.\n]{0,20}\b(?:erlaubnis|genehmigung|zustimmung|bestätigung|freigabe)`,
  String.raw`\b(?:umgeh\w*|ignorier\w*|deaktivier\w*|überspring\w*|schalt\w*)\s+(?:(?:alle|die|den|das|jede)\s+)*(?:(?:vorherigen|bisherigen|früheren|obigen)\s+)?(?:sandbox|berechtigung\w*|freigabe\w*|sicherheit\w*|anweisung\w*|regeln|prüfung\w*|geheimnis\w*)`,
];

const ROMANCE = [
  String.raw`\bsans\s+(?:demander\s+(?:la\s+|de\s+)?)?(?:permission|autorisation|approbation|confirmation)\b`,
  String.raw`\bignore[zr]?\s+(?:toutes\s+)?les\s+(?:instructions|règles|consignes)\b`,
  String.raw`\b(?:tu|vous|l['’]agent|l['’]assistant)\s+(?:peux|peut|pouvez|as|a|avez|es|est|êtes)\b[^.\n]{0,60}\b(?:n['’]importe\s+quel|tout\s+faire|tous\s+les\s+droits|accès\s+(?:complet|total|illimité)|administrat\w+|en\s+dehors)`,
  String.raw`\bsin\s+(?:pedir\s+(?:el\s+|la\s+)?)?(?:permiso|autorización|aprobación|confirmación)\b`,
  String.raw`\bignor(?:a|e|ar)\s+(?:todas\s+)?las\s+(?:instrucciones|reglas)\b`,
  String.raw`\b(?:puedes|puede|tienes|tiene|eres)\b[^.\n]{0,60}\b(?:cualquier\s+(?:comando|archivo|cosa)|acceso\s+(?:completo|total|ilimitado)|todos\s+los\s+permisos|administrador|fuera\s+de)`,
];

const CJK = [
  "(?:你|您|代理|助手|智能体)(?:现在|已经|已|都|也)?(?:可以|可|有权|被允许|允许|获准|被?授权|拥有|具有)[^。\\n]{0,30}(?:任何|任意|所有|一切|全部|完全|不受限|管理员|root|之外|以外|越权|无需)",
  "(?:忽略|无视|绕过|绕开|跳过|关闭|禁用|解除|不理会)[^。\\n]{0,12}(?:指令|指示|规则|限制|权限|沙箱|沙盒|审批|批准|确认|安全|检查)",
  "(?:无需|不需要|不用|不必|无须|不要再?|别再?)(?:请求|征求|征得|询问|获得|获取|经过|任何|用户|再|问|的)*(?:许可|批准|同意|授权|审批|权限)",
  "(?:你|您|代理|助手)(?:现在)?是(?:一个|一名)?(?:管理员|超级用户|root)",
  "(?:授予|赋予|给予|给)(?:你|您|代理|助手|我|自己)[^。\\n]{0,12}(?:权限|访问权|权利)",
  "(?:自动|默认|一律|总是)(?:批准|允许|同意)[^。\\n]{0,8}(?:工具|命令|操作|请求|调用|所有|一切)",
  "(?:許可|承認|確認)(?:を?(?:求め|得)(?:ず|ない|なく)|なし|は?不要|を?スキップ)",
  "(?:以前|前|上記|すべて)の?(?:指示|ルール|制限)[^。\\n]{0,4}(?:無視|無効)",
];

const GRANTS: readonly RegExp[] = [
  ...[...ENGLISH, ...GERMAN, ...ROMANCE].map((rule) => new RegExp(edges(rule), "iu")),
  ...CJK.map((rule) => new RegExp(rule, "iu")),
];

/** Letters that pass for Latin ones; what is left of a word once they are replaced is what people read. */
const LOOKS_LIKE: Record<string, string> = Object.fromEntries(
  [..."аеорсухіјѕԁһԛԝνοιακρτυχ"].map((letter, n) => [
    letter,
    "aeopcyxijsdhqwvoiakptux"[n] ?? letter,
  ]),
);
const LOOKALIKES = new RegExp(`[${Object.keys(LOOKS_LIKE).join("")}]`, "gu");
/** What people cannot see, between the letters of a word or over them. */
const UNSEEN = /[\p{Cf}\p{DI}\p{Mn}\u2800]/gu;

/** Whether a text, as a person would read it, hands out rights or switches off a check. */
export function grantsRights(text: string): boolean {
  const compatible = text.toWellFormed().normalize("NFKC");
  const plain = compatible
    .replaceAll(UNSEEN, "")
    .replaceAll(/[*_`~]+(?=\p{L})|(?<=\p{L})[*`~]+/gu, "");
  const forms = [plain, latin(compatible)];
  return forms.some((form) => GRANTS.some((rule) => rule.test(form)));
}

/** Marks over letters are gone, and what only looks Latin is. */
function latin(text: string): string {
  return text
    .normalize("NFKD")
    .replaceAll(UNSEEN, "")
    .replaceAll(LOOKALIKES, (letter) => LOOKS_LIKE[letter] ?? letter);
}

/** `\b` knows ASCII letters only: "überall" and "außerhalb" have edges of their own. */
function edges(rule: string): string {
  return rule.replaceAll(
    "\\b",
    String.raw`(?:(?<![\p{L}\p{N}_])(?=[\p{L}\p{N}_])|(?<=[\p{L}\p{N}_])(?![\p{L}\p{N}_]))`,
  );
}

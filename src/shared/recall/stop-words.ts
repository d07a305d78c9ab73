// Words that say nothing about the subject of a text, or little.

/** Chinese and Japanese words that say nothing about the subject; no term spans one. */
export const FILLER =
  /多少|多久|一[下个個些]|[应應][该該]|[为為]什[么麼]|什[么麼]|怎[么麼]|[怎这這那]样|如何|哪[里裡些个個]|可以|[请請][问問]|[这這那][个個些]|[的了吗嗎呢吧是我你您他她它们們请請]|[こそあど][れの]|どこ|なに|です|ます|ました|ません|でし[たょ]|[しっ]て|した|する|[いあ]る|ない|から|まで|こと|もの|ので|では|には|とは|ください/gu;

const GERMAN_WORDS =
  "aber alle als auch auf aus bei bin bis bitte da damit dann das dass dein dem den denn " +
  "der des dich dies diese dieser dieses dir doch du durch ein eine einem einen einer eines er " +
  "es euch für gibt habe haben hat hier ich ihm ihn ihr ihre im ist ja jetzt kann kein keine " +
  "können man mein meine mich mir mit muss nach nicht noch nun nur ob oder ohne sein seine sich sie " +
  "sind soll um und uns unser unsere vom von vor wann warum was welche welcher welches wenn " +
  "wer werden wie wieder wir wird wo zu zum zur über möchte möchten wollen sollen dürfen darf müssen";

/** A German word between the nouns that is no English one. */
export const GERMAN = new RegExp(
  `(?<!\\p{L})(?:${GERMAN_WORDS.split(" ")
    .filter(
      (word) => !["man", "hat", "den", "was", "da", "bin", "er", "du", "es", "im"].includes(word),
    )
    .join("|")})(?!\\p{L})`,
  "giu",
);

export const STOP_WORDS = new Set(
  (
    "a about after again all also always am an and any are as at be because been before being but by " +
    "can cannot could did do does doing don done for from get give go got had has have he help her " +
    "here him his how i if in into is it its just know let like ll make may me mine more most my need " +
    "no not now of on once one only or our out please re same say see shall she should so some such " +
    "tell than that the their them then there these they thing this those to too up us use used using " +
    "ve very want was we were what when where which while who whom whose why will with would yes yet " +
    "you your yours isn doesn didn wasn won am die so um will " +
    "anybody anyone anything everybody everyone everything somebody someone something whoever above " +
    "another still over off right ours " +
    `${GERMAN_WORDS} ` +
    "在 和 与 有 就 都 也 不 要 会 能 很 到 从 对 给 把 被 上 下 中 个 这 那 谁 再 又 吧 找 问 帮 写 用 加 让 想 几 " +
    "は が を に の と で も へ や か な ね よ 何 誰 니다 습니 입니 니까 에서 으로 까지 부터"
  ).split(" "),
);

/** What people ask an assistant to do, whatever it is about; without accents. */
export const REQUEST = new Set(
  (
    "add change check create draft explain find fix look make mean open put read remind send show sort " +
    "start summarise summarize think translate work works write " +
    "erklare kannst mach nenne schreib schreibe ubersetze zeig zeige"
  ).split(" "),
);

// The words of a text: their number, and the search terms for the choice without a model.

/** The part of a text that is read, in UTF-16 units: a question is at its beginning. */
const MOST_CHARACTERS = 20_000;
const segmenter = new Intl.Segmenter("en", { granularity: "word" });

/** Scripts without blanks between words, or with particles attached to them. */
const RUN =
  /\p{Script=Han}+|\p{Script=Hiragana}+|[\p{Script=Katakana}\u30fc]+|\p{Script=Hangul}+/gu;
/** Chinese and Japanese words that say nothing about the subject; no pair spans one. */
const FILLER =
  /[为為]什[么麼]|什[么麼]|怎[么麼]|[怎这這那]样|如何|哪[里裡些个個]|可以|[请請][问問]|[这這那][个個些]|[的了吗嗎呢吧是我你您他她它们們请請]|[こそあど][れの]|どこ|なに|です|ます|ました|ません|でし[たょ]|[しっ]て|した|する|[いあ]る|ない|から|まで|こと|もの|ので|では|には|とは|ください/gu;
/** Between the parts of snake_case and camelCase names: "HTTPServer" has two. */
const WITHIN_NAME = /[^\p{L}\p{N}\p{M}]+|(?<=[\p{Ll}\p{N}])(?=\p{Lu})|(?<=\p{Lu})(?=\p{Lu}\p{Ll})/u;

const STOP_WORDS = new Set(
  (
    "a about after again all also always am an and any are as at be because been before being but by " +
    "can cannot could did do does doing don done for from get give go got had has have he help her " +
    "here him his how i if in into is it its just know let like ll make may me mine more most my need " +
    "no not now of on once one only or our out please re same say see shall she should so some such " +
    "tell than that the their them then there these they thing this those to too up us use used using " +
    "ve very want was we were what when where which while who whom whose why will with would yes yet " +
    "you your yours isn doesn didn wasn won " +
    "aber alle als also am an auch auf aus bei bin bis bitte da damit dann das dass dein dem den denn " +
    "der des dich die dies diese dieser dieses dir doch du durch ein eine einem einen einer eines er " +
    "es euch für gibt habe haben hat hier ich ihm ihn ihr ihre im in ist ja jetzt kann kein keine " +
    "können man mein meine mich mir mit muss nach nicht noch nun nur ob oder ohne sein seine sich sie " +
    "sind so soll um und uns unser unsere vom von vor wann war warum was welche welcher welches wenn " +
    "wer werden wie wieder will wir wird wo zu zum zur über " +
    "在 和 与 有 就 都 也 不 要 会 能 很 到 从 对 给 把 被 上 下 中 个 这 那 谁 再 又 吧 " +
    "は が を に の と で も へ や か な ね よ 何 誰 니다 습니 입니 니까 에서 으로 까지 부터"
  ).split(" "),
);

/** Words of a text by the rules of Unicode, so that Chinese and Japanese count right. */
export function wordCount(text: string): number {
  let count = 0;
  for (const { isWordLike } of segmenter.segment(text.slice(0, MOST_CHARACTERS))) {
    if (isWordLike) count += 1;
  }
  return count;
}

/**
 * The terms by which two texts are compared: words in lower case and the parts of compound names,
 * without plural endings and stop words; for scripts without blanks, pairs of neighbours. A term is a
 * key, not always a word: "caches" and "cache" are both "cach".
 */
export function searchTerms(text: string): Set<string> {
  const whole = text.slice(0, MOST_CHARACTERS).normalize("NFKC").slice(0, MOST_CHARACTERS);
  const terms = new Set<string>();
  const add = (term: string) => {
    if (!STOP_WORDS.has(term)) terms.add(term);
  };
  for (const { segment, isWordLike } of segmenter.segment(whole.replaceAll(RUN, " "))) {
    if (!isWordLike) continue;
    for (const word of segment.split(/[^\p{L}\p{N}\p{M}_]+/u)) addName(word, add);
  }
  for (const [run] of whole.replaceAll(FILLER, " ").matchAll(RUN)) {
    for (const pair of pairs(run)) add(pair);
  }
  return terms;
}

function addName(name: string, add: (term: string) => void): void {
  const parts = name.split(WITHIN_NAME).filter((part) => part !== "");
  for (const part of parts.length > 1 ? [...parts, parts.join("")] : parts) {
    const word = part.toLowerCase();
    if (word.length > 1 && !STOP_WORDS.has(word)) add(singular(word));
  }
}

/** One key for a word and its plural: "releases" and "release", "boxes" and "box", "stories" and "story". */
function singular(word: string): string {
  if (word.length < 4) return word;
  const bare = /(?:ss|us|is)$/.test(word) ? word : word.replace(/s$/, "");
  return bare.length < 4 ? bare : bare.replace(/ie$/, "y").replace(/(?<=[sxz]|[cs]h)e$/, "");
}

function pairs(run: string): string[] {
  const characters = [...run];
  if (characters.length === 1) return characters;
  return characters.slice(1).map((character, index) => `${characters[index]}${character}`);
}

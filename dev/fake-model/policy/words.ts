const STOP_WORDS = new Set(
  (
    "a about all am an and any are as at be been but by can could did do does for from get had has " +
    "have he her his how i if in into is it its just let me my no not of on or our please she should " +
    "so some than that the their them then there these they this to up us use used using was we were " +
    "what when where which who whom whose why will with would you your yes okay ok tell know " +
    "remember recall forget mine also i'm don't doesn't " +
    "der die das den dem ein eine einen und oder aber ist sind war wir ich du sie er es mein meine " +
    "mir mich dir dich wie was wer wo wann warum mit für von zu im in auf dass nicht bitte " +
    "什么 怎么 我的 你的 我们 你们 是什 么时 吗 是 的 了 请 哪里"
  ).split(" "),
);

const CJK_RUN = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}]+/gu;
const segmenter = new Intl.Segmenter("en", { granularity: "word" });

/** Words in the order in which they stand, in their own writing, punctuation left out. */
export function plainWords(text: string): string[] {
  return [...segmenter.segment(text.replace(/[-_./\\]+/g, " "))]
    .filter(({ isWordLike }) => isWordLike)
    .map(({ segment }) => segment);
}

export function isStopWord(word: string): boolean {
  return STOP_WORDS.has(word.toLowerCase());
}

/**
 * What two texts are compared by: words in lower case without stop words and plural endings, and
 * pairs of characters where a script writes no spaces.
 */
export function keywords(text: string): Set<string> {
  const folded = text.normalize("NFKC").toLowerCase();
  const found = plainWords(folded.replace(CJK_RUN, " ")).map(stem);
  for (const [run] of folded.matchAll(CJK_RUN)) found.push(...pairs(run));
  return new Set(found.filter((word) => word !== "" && !STOP_WORDS.has(word)));
}

export function overlap(left: Set<string>, right: Set<string>): number {
  return [...left].filter((word) => right.has(word)).length;
}

function stem(word: string): string {
  if (STOP_WORDS.has(word)) return word;
  const bare = word.replace(/['’]s$/, "");
  return bare.length > 3 && /[^s]s$/.test(bare) ? bare.slice(0, -1) : bare;
}

function pairs(run: string): string[] {
  const points = Array.from(run);
  if (points.length === 1) return points;
  return points.slice(1).map((point, index) => `${points[index]}${point}`);
}

/** The first so many characters, never half a surrogate pair. */
export function firstCharacters(text: string, count: number): string {
  return Array.from(text).slice(0, count).join("");
}

/** On one line and no longer than the limit, with an ellipsis where something was left out. */
export function oneLine(text: string, limit: number): string {
  const line = text.replace(/\s+/g, " ").trim();
  const short = firstCharacters(line, limit);
  return short === line ? line : `${firstCharacters(line, limit - 1).trimEnd()}…`;
}

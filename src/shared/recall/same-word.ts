// Whether two words are forms of one, without a dictionary: English and German endings, and compounds.

const ENDINGS = new Set(
  (
    "- s es e n en er ers ern em d ed ing ings ment ments ion ions ation ly y ies ied ic t te ten et " +
    "ung ungen in innen al able"
  )
    .split(" ")
    .map((ending) => (ending === "-" ? "" : ending)),
);
/** What a plural may add to a short stem. */
const PLURAL = new Set(["", "s", "es"]);

const STEM = 4;
const SHORT_STEM = 3;
/** Letters of the part of a compound, and of what is left of it. */
const PART = 4;
const REST = 4;

const FORM = 0.9;
const COMPOUND = 0.7;

/**
 * How far two words in lower case mean the same: 1 for the same word, less for forms of one word
 * ("deploy", "deployment") and for a part of a compound ("termin", "zahnarzttermin"), else 0.
 */
export function sameness(a: string, b: string, compounds: boolean): number {
  if (a === b) return 1;
  if (areForms(a, b)) return FORM;
  if (!compounds) return 0;
  const [short, long] = a.length < b.length ? [a, b] : [b, a];
  if (short.length >= PART && long.length >= short.length + REST) {
    if (long.startsWith(short) || long.endsWith(short)) return COMPOUND;
  }
  return 0;
}

function areForms(a: string, b: string): boolean {
  const most = Math.min(a.length, b.length);
  let same = 0;
  while (same < most && a[same] === b[same]) same += 1;
  // "classes" and "class": the longest common beginning may hold a part of the ending.
  for (let stem = same; stem >= SHORT_STEM; stem -= 1) {
    const endings = stem < STEM ? PLURAL : ENDINGS;
    if (endings.has(a.slice(stem)) && endings.has(b.slice(stem))) return true;
  }
  return false;
}

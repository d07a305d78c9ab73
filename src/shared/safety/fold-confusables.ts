/** Letters that look like Latin ones, and those letters. */
const CONFUSABLES = [
  "аеорсухіјѕԁһԛԝνοιακρτυχոɑʏᴏᴜᴍᴀʀɴᴛʜɪɢᴇᴄᴅᴋʟᴘᴠᴡᴢ",
  "aeopcyxijsdhqwvoiakptuxnayoumarnthigecdklpvwz",
];
const LATIN = new Map(
  [...(CONFUSABLES[0] ?? "")].map((letter, n) => [letter, CONFUSABLES[1]?.[n] ?? letter]),
);
const LOOK_ALIKE = new RegExp(`[${CONFUSABLES[0]}]`, "gu");
/** Invisible characters, and marks over letters. */
const UNSEEN = /[\p{Cf}\p{DI}\p{Mn}\u2800]/gu;

/** A text as a person reads it, in lower case: without marks over letters, look-alikes as Latin letters. */
export function foldConfusables(text: string): string {
  return text
    .normalize("NFKD")
    .replaceAll(UNSEEN, "")
    .toLowerCase()
    .replaceAll(LOOK_ALIKE, (letter) => LATIN.get(letter) ?? letter);
}

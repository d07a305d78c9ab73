/** Letters that pass for Latin ones. */
const ALIKE = [
  "аеорсухіјѕԁһԛԝνοιακρτυχոɑʏᴏᴜᴍᴀʀɴᴛʜɪɢᴇᴄᴅᴋʟᴘᴠᴡᴢ",
  "aeopcyxijsdhqwvoiakptuxnayoumarnthigecdklpvwz",
];
const LATIN = new Map([...(ALIKE[0] ?? "")].map((letter, n) => [letter, ALIKE[1]?.[n] ?? letter]));
const LOOKALIKES = new RegExp(`[${ALIKE[0]}]`, "gu");
/** What people cannot see, between the letters of a word or over them. */
const UNSEEN = /[\p{Cf}\p{DI}\p{Mn}\u2800]/gu;

/** A text as a person reads it, in small letters: marks over letters are gone, and what only looks Latin is. */
export function foldConfusables(text: string): string {
  return text
    .normalize("NFKD")
    .replaceAll(UNSEEN, "")
    .toLowerCase()
    .replaceAll(LOOKALIKES, (letter) => LATIN.get(letter) ?? letter);
}

/**
 * Replaces by spaces what hides the start or end of a key: escapes of JSON and URLs ("\n", "\u0022",
 * "%3D") and every character beyond ASCII. Rules require that no letter is before a key, and these end
 * in a letter or are one. The length stays the same, so indexes do too.
 */
export function plainView(text: string): string {
  return text
    .replaceAll(/[^\x00-\x7f]/g, " ")
    .replaceAll(/\\(?:u00[0-7][0-9a-f]|x[0-7][0-9a-f]|[nrtbfv"'`/])|%[2357][0-9a-f]/gi, blank);
}

function blank(found: string): string {
  return " ".repeat(found.length);
}

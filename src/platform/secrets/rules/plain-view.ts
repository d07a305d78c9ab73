/**
 * The text with all that glues a key to its surroundings turned into spaces, at the same length so
 * that places stay: escapes of JSON and URLs ("\n", "\u0022", "%3D"), and every character beyond
 * ASCII. Rules ask that no letter stands before a key, and all of these end in one or are one.
 */
export function plainView(text: string): string {
  return text
    .replaceAll(/[^\x00-\x7f]/g, " ")
    .replaceAll(/\\(?:u00[0-7][0-9a-f]|x[0-7][0-9a-f]|[nrtbfv"'`/])|%[2357][0-9a-f]/gi, blank);
}

function blank(found: string): string {
  return " ".repeat(found.length);
}

/** Text, or bytes that are too many to be copied. */
export type Piece = string | Uint8Array;

/** The bytes of these pieces in their order: texts together, bytes as they are. */
export function chunksOf(pieces: readonly Piece[]): Uint8Array[] {
  const chunks: Uint8Array[] = [];
  let text = "";
  const flush = () => {
    if (text !== "") chunks.push(new TextEncoder().encode(text));
    text = "";
  };
  for (const piece of pieces) {
    if (typeof piece === "string") {
      text += piece;
      continue;
    }
    flush();
    chunks.push(piece);
  }
  flush();
  return chunks;
}

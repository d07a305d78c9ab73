/**
 * A synchronous 106-bit hash (two runs of cyrb53 with different seeds). Good enough to tell prompts
 * apart and to make ids that repeat from run to run; it protects nothing.
 */
export function hash(text: string): string {
  return half(text, 0x9e3779b9) + half(text, 0x51ed270b);
}

function half(text: string, seed: number): string {
  let high = 0xdeadbeef ^ seed;
  let low = 0x41c6ce57 ^ seed;
  for (let index = 0; index < text.length; index++) {
    const unit = text.charCodeAt(index);
    high = Math.imul(high ^ unit, 2654435761);
    low = Math.imul(low ^ unit, 1597334677);
  }
  high = Math.imul(high ^ (high >>> 16), 2246822507) ^ Math.imul(low ^ (low >>> 13), 3266489909);
  low = Math.imul(low ^ (low >>> 16), 2246822507) ^ Math.imul(high ^ (high >>> 13), 3266489909);
  return ((low >>> 0).toString(16) + (high >>> 0).toString(16)).padStart(16, "0");
}

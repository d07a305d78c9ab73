// Readers for JSON from the service: a missing or wrong field becomes an empty value, never a cast.

export type Json = Record<string, unknown>;

/** The value as an object; anything else is an empty one. */
export function asObject(value: unknown): Json {
  return isObject(value) ? value : {};
}

export function asText(value: unknown, otherwise = ""): string {
  return typeof value === "string" ? value : otherwise;
}

export function asNumber(value: unknown): number {
  return typeof value === "number" && Number.isFinite(value) ? value : 0;
}

export function asList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function isObject(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

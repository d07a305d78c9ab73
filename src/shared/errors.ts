/** The closed set of reasons that cross a boundary. Each edge maps it once, exhaustively. */
export type ErrorCode =
  | "invalid_request"
  | "unauthenticated"
  | "forbidden"
  | "not_found"
  | "conflict"
  | "precondition_failed"
  | "too_large"
  | "unavailable"
  | "internal";

/**
 * A failure that callers are not expected to branch on in passing.
 *
 * The message is shown to clients and models: it says what was tried, the value, the limit and the
 * next step, and holds logical paths only, never a storage key, a tenant or somebody's content.
 */
export class MemdirError extends Error {
  readonly code: ErrorCode;
  readonly path: string | undefined;

  constructor(code: ErrorCode, message: string, path?: string) {
    super(message);
    this.name = "MemdirError";
    this.code = code;
    this.path = path;
  }
}

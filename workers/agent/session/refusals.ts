import { MemdirError } from "../../../src/shared/errors.ts";

export function notTold(): MemdirError {
  return new MemdirError(
    "unavailable",
    "The session could not be taken from its user's list. Try again; else it goes by itself",
  );
}

export function notFound(): MemdirError {
  return new MemdirError("not_found", "There is no such session");
}

export function archived(): MemdirError {
  return new MemdirError(
    "invalid_request",
    "This session is archived: it can be read, and nothing in it changes any more. Create a new one",
  );
}

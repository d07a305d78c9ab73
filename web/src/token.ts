const KEY = "memdir-token";

/** The token of this tab, or "" where none is kept. */
export function readToken(): string {
  return sessionStorage.getItem(KEY) ?? "";
}

export function keepToken(token: string): void {
  sessionStorage.setItem(KEY, token);
}

export function forgetToken(): void {
  sessionStorage.removeItem(KEY);
}

/** Takes `#token=…` out of the address bar and the history entry, and keeps it. True if there was one. */
export function takeTokenFromAddress(): boolean {
  const fragment = new URLSearchParams(location.hash.slice(1));
  const token = fragment.get("token")?.trim();
  if (!token) return false;
  fragment.delete("token");
  const rest = fragment.toString();
  history.replaceState(null, "", location.pathname + location.search + (rest ? `#${rest}` : ""));
  keepToken(token);
  return true;
}

/** The session named by `#session=…`, so that a reload comes back to it. */
export function sessionInAddress(): string {
  return new URLSearchParams(location.hash.slice(1)).get("session") ?? "";
}

export function putSessionInAddress(id: string): void {
  const fragment = id ? `#session=${encodeURIComponent(id)}` : "";
  history.replaceState(null, "", location.pathname + location.search + fragment);
}

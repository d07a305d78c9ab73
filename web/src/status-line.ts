import type { Usage } from "./event.ts";

export type StatusState = "none" | "connecting" | "idle" | "running" | "offline" | "ended";

/** The line below the conversation: what the session does, and the tokens of its last answer. */
export function createStatusLine(status: HTMLElement, usage: HTMLElement) {
  let sum: Usage = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0 };

  function drawUsage(): void {
    const parts = [
      ["input", sum.input],
      ["cache read", sum.cacheRead],
      ["cache write", sum.cacheWrite],
      ["output", sum.output],
    ] as const;
    const any = parts.some(([, count]) => count > 0);
    const text = parts.map(([name, count]) => `${name} ${count.toLocaleString("en")}`).join(" · ");
    usage.textContent = any ? `Tokens: ${text}` : "";
  }

  return {
    set(state: StatusState, text: string): void {
      status.dataset.state = state;
      if (status.textContent !== text) status.textContent = text;
    },
    /** A turn has one answer but may take several model requests: they are added up. */
    startAnswer(): void {
      sum = { input: 0, cacheRead: 0, cacheWrite: 0, output: 0 };
    },
    addUsage(more: Usage): void {
      sum = {
        input: sum.input + more.input,
        cacheRead: sum.cacheRead + more.cacheRead,
        cacheWrite: sum.cacheWrite + more.cacheWrite,
        output: sum.output + more.output,
      };
      drawUsage();
    },
    clearUsage(): void {
      this.startAnswer();
      drawUsage();
    },
  };
}

export type StatusLine = ReturnType<typeof createStatusLine>;

// The port through which the loop runs a tool. The loop knows no files and no memory: a tool is a
// value that was bound to what it needs when it was made.

import type { Receipt } from "../files/receipt.ts";

/** A tool as the model sees it. The list is fixed for a session: the prompt cache depends on it. */
export interface ToolSpec {
  name: string;
  description: string;
  input_schema: Record<string, unknown>;
}

/**
 * What a result tells the session beside its text: a file's content that the model now knows, or a
 * change that was made. The session keeps these with the result, in one transaction.
 */
export type ToolNote =
  | { type: "seen"; path: string; etag: string }
  | {
      type: "changed";
      path: string;
      operation: Receipt["operation"];
      etag: string;
      /** Where the file is a memory. */
      receipt?: Receipt | undefined;
    };

export interface ToolResult {
  /** Never empty: the API refuses empty text. */
  content: string;
  isError: boolean;
  notes: ToolNote[];
}

/** Runs beside others, as soon as its input is complete; may be thrown away. Never throws. */
export interface ReadTool extends ToolSpec {
  kind: "read";
  run(input: unknown, signal: AbortSignal): Promise<ToolResult>;
}

/**
 * Runs alone and in order, in two steps, so that a crash between them cannot do its work twice:
 * `plan` looks and decides without changing anything; its plan is put on disk; `commit` carries it
 * out. After a crash `commit` is called again with `resumed` true and must recognise its own work.
 * Neither throws.
 */
export interface WriteTool extends ToolSpec {
  kind: "write";
  plan(input: unknown, signal: AbortSignal): Promise<PlanResult>;
  commit(plan: string, resumed: boolean): Promise<ToolResult>;
}

export type PlanResult =
  | { status: "refused"; result: ToolResult }
  /** `plan` is text of the tool's own form (JSON), kept as it is. */
  | { status: "planned"; plan: string };

/** Runs at the client's: the call is announced, the turn waits, and the client's answer is the result. */
export interface ClientTool extends ToolSpec {
  kind: "client";
}

export type Tool = ReadTool | WriteTool | ClientTool;

/** The receipts of the memories that a result changed. */
export function receiptsIn(notes: readonly ToolNote[]): Receipt[] {
  return notes.flatMap((note) => (note.type === "changed" && note.receipt ? [note.receipt] : []));
}

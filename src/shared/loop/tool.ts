// The port through which the loop runs a tool. The loop knows no files and no memory: a tool is bound
// to what it needs when it is created.

import type { Receipt } from "../files/receipt.ts";

/** A tool as the model sees it. The list is fixed for a session: the prompt cache depends on it. */
export interface ToolSpec {
  name: string;
  description: string;
  input_schema: Record<string, unknown>;
}

/**
 * A fact for the session beside a result's text: the model now knows a file's content, or a file was
 * changed. The session stores notes and result in one transaction.
 */
export type ToolNote =
  | { type: "seen"; path: string; etag: string }
  | {
      type: "changed";
      path: string;
      operation: Receipt["operation"];
      etag: string;
      /** If the file is a memory. */
      receipt?: Receipt | undefined;
    };

export interface ToolResult {
  /** Never empty: the API refuses empty text. */
  content: string;
  isError: boolean;
  notes: ToolNote[];
}

/** Runs in parallel, as soon as its input is complete; its result may be discarded. Never throws. */
export interface ReadTool extends ToolSpec {
  kind: "read";
  run(input: unknown, signal: AbortSignal): Promise<ToolResult>;
}

/**
 * Runs alone and in order, in two steps, so that a crash cannot make it change something twice. `plan`
 * decides and changes nothing; its plan is put on disk; `commit` carries it out. After a crash `commit`
 * is called again with `resumed` true and must recognise its own work. Neither throws.
 */
export interface WriteTool extends ToolSpec {
  kind: "write";
  plan(input: unknown, signal: AbortSignal): Promise<PlanResult>;
  commit(plan: string, resumed: boolean): Promise<ToolResult>;
}

export type PlanResult =
  | { status: "refused"; result: ToolResult }
  /** `plan`: JSON in the tool's own form, stored as it is. */
  | { status: "planned"; plan: string };

/** Runs at the client: the call is a pending action, and the client's answer is its result. */
export interface ClientTool extends ToolSpec {
  kind: "client";
}

export type Tool = ReadTool | WriteTool | ClientTool;

/** A result that says why a call did nothing or failed. */
export function errorResult(content: string): ToolResult {
  return { content, isError: true, notes: [] };
}

/** The receipts of the memories that a result changed. */
export function receiptsIn(notes: readonly ToolNote[]): Receipt[] {
  return notes.flatMap((note) => (note.type === "changed" && note.receipt ? [note.receipt] : []));
}

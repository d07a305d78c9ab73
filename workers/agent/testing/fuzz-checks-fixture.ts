// What must hold of a session after any number of interrupts and kills.

import { env, runInDurableObject } from "cloudflare:test";
import type { Version } from "../../../src/platform/objects/memdir-rpc.ts";
import { unwrap } from "../../../src/platform/objects/reply.ts";
import { workspaceMount } from "../../../src/platform/r2/mount-table.ts";
import { readEntries } from "../../../src/platform/threads/entries.ts";
import { readMessages } from "../../../src/platform/threads/view.ts";
import { sessionEvent } from "../../../src/shared/events/event.ts";
import type { Message } from "../../../src/shared/thread/messages.ts";
import { readEvents } from "../rows/events.ts";
import { readMeta } from "../rows/meta.ts";
import { mainThread } from "../rows/session-threads.ts";
import type { Session } from "../session/session.ts";
import type { Case } from "./fuzz-object-fixture.ts";
import type { Asked } from "./fuzz-script-fixture.ts";
import { LAST, LAST_ANSWER } from "./fuzz-script-fixture.ts";
import { object, stub } from "./session-object-fixture.ts";

interface Event {
  seq: number;
  id: string;
  type: string;
  turn_id?: string;
  tool_use_id?: string;
  custom_tool_use_id?: string;
  model_request_start_id?: string;
  message_id?: string;
  content?: { text: string }[];
  stop_reason?: { type: string };
  memories?: { path: string; memory_version_id: string }[];
}

interface TurnRow {
  [column: string]: SqlStorageValue;
  n: number;
  event_id: string;
  status: string;
  interrupted: number;
  outcome: string;
}

interface State {
  whole: Message[];
  view: Message[];
  events: Event[];
  turns: TurnRow[];
  calls: number;
  directory: string;
}

/** Everything that does not hold, in words. */
export async function problemsOf(done: Case): Promise<string[]> {
  const state = await runInDurableObject<Session, State>(
    object(done.id),
    (_instance, { storage: { sql } }) => {
      const { memory } = readMeta(sql);
      return {
        whole: readEntries(mainThread(sql)).map(({ message }) => message),
        view: readMessages(mainThread(sql)),
        events: readEvents(sql, { limit: 100_000 }).map(({ json }): Event => JSON.parse(json)),
        turns: sql
          .exec<TurnRow>(
            `SELECT n, status, interrupted, ifnull(outcome, '"joined"') AS outcome
             FROM turns ORDER BY n`,
          )
          .toArray(),
        calls: sql.exec<{ n: number }>("SELECT count(*) AS n FROM calls").one().n,
        directory: memory.enabled ? memory.directory : "",
      };
    },
  );
  const { status } = unwrap(await stub(done.id).retrieve());
  return [
    ...done.refused.map((reason) => `a request was refused: ${reason}`),
    ...(status === "idle" ? [] : [`the session is ${String(status)}`]),
    ...(state.calls === 0 ? [] : [`${state.calls} calls are left over`]),
    ...pairProblems("transcript", state.whole),
    ...pairProblems("view", state.view),
    ...turnProblems(done, state),
    ...schemaProblems(state.events),
    ...eventProblems(done, state.events),
    ...(await effectProblems(done, state)),
  ];
}

/** Every row is an event of the contract, whole. */
function schemaProblems(events: readonly Event[]): string[] {
  return events.flatMap((event) => {
    const { error } = sessionEvent.safeParse(event);
    return error ? [`event ${event.seq} (${event.type}): ${error.message}`] : [];
  });
}

/** Calls and results of each neighbouring two messages are the same, each once in the conversation. */
function pairProblems(where: string, messages: readonly Message[]): string[] {
  const problems: string[] = [];
  const seen = new Set<string>();
  let open: string[] = [];
  for (const { role, content } of messages) {
    const results = content.flatMap((each) =>
      each.type === "tool_result" ? [each.tool_use_id] : [],
    );
    if (results.length > 0 || (role === "assistant" && open.length > 0)) {
      if (results.toSorted().join() !== open.toSorted().join()) {
        problems.push(`${where}: calls ${open.join()} have results ${results.join()}`);
      }
      open = [];
    }
    const calls = content.flatMap((each) => (each.type === "tool_use" ? [each.id] : []));
    for (const id of calls) {
      if (seen.has(id)) problems.push(`${where}: ${id} is there twice`);
      seen.add(id);
    }
    open = [...open, ...calls];
  }
  return open.length === 0 ? problems : [...problems, `${where}: ${open.join()} have no result`];
}

function turnProblems(done: Case, { turns, whole, events }: State): string[] {
  const problems: string[] = [];
  const undone = turns.filter(({ status }) => status !== "done");
  if (undone.length > 0) problems.push(`turns ${undone.map(({ n }) => n).join()} are not done`);
  const of = (reason: string) => turns.filter(({ outcome }) => outcome.includes(`"${reason}"`));
  const ends = of("end_turn").length + of("interrupted").length + of("joined").length;
  if (ends < turns.length) problems.push(`outcomes ${turns.map(({ outcome }) => outcome).join()}`);
  const marks = JSON.stringify(whole).split("[The user interrupted this turn.]").length - 1;
  const interrupted = of("interrupted");
  if (marks !== interrupted.length) {
    problems.push(`${interrupted.length} turns were interrupted, ${marks} are marked so`);
  }
  for (const { n } of interrupted.filter((turn) => turn.interrupted !== 1)) {
    problems.push(`turn ${n} ended as interrupted, and nobody interrupted it`);
  }
  const stopped = turns.filter((turn) => turn.interrupted === 1).length;
  if (stopped > done.interrupts) {
    problems.push(`${done.interrupts} interrupts stopped ${stopped} turns`);
  }
  // What was said is there once, and the last of it was answered.
  const heard = events.flatMap((event) =>
    event.type === "user.message" ? [(event.content ?? []).map(({ text }) => text).join()] : [],
  );
  if (heard.toSorted().join("|") !== done.said.toSorted().join("|")) {
    problems.push(`heard ${heard.join("|")} of ${done.said.join("|")}`);
  }
  const words = whole.flatMap(({ role, content }) =>
    role === "user" ? content.flatMap((each) => (each.type === "text" ? [each.text] : [])) : [],
  );
  for (const said of done.said) {
    const times = words.filter((each) => each === said).length;
    if (times !== 1) problems.push(`"${said}" is ${times} times in the transcript`);
  }
  const [ask, end] = whole.slice(-2);
  if (!JSON.stringify(ask).includes(LAST) || !JSON.stringify(end).includes(LAST_ANSWER)) {
    problems.push(`the last message was not answered: ${JSON.stringify(end)}`);
  }
  return problems;
}

function eventProblems(done: Case, events: readonly Event[]): string[] {
  const problems: string[] = [];
  events.forEach(({ seq }, index) => {
    if (seq !== index + 1) problems.push(`event ${index + 1} has the number ${seq}`);
  });
  const results = events.flatMap((event) => {
    const of = event.type === "agent.tool_result" ? event.tool_use_id : undefined;
    const id = event.type === "user.custom_tool_result" ? event.custom_tool_use_id : of;
    return id === undefined ? [] : [{ id, event }];
  });
  for (const use of events) {
    if (use.type !== "agent.tool_use" && use.type !== "agent.custom_tool_use") continue;
    const own = results.filter(({ id }) => id === use.id);
    if (own.length !== 1) problems.push(`${use.type} ${use.id} has ${own.length} results`);
    const [first] = own;
    const late = events.some(
      ({ type, turn_id, seq }) =>
        type === "session.usage" && turn_id === use.turn_id && seq < (first?.event.seq ?? 0),
    );
    if (late) problems.push(`the result of ${use.id} comes after its turn`);
  }
  const started = events.filter(({ type }) => type === "span.model_request_start");
  for (const { id } of started) {
    const own = events.filter((event) => event.model_request_start_id === id);
    if (own.length !== 1) problems.push(`the request ${id} ended ${own.length} times`);
  }
  const statuses = events.filter(({ type }) => type.startsWith("session.status_"));
  const asks = (event: Event | undefined) => event?.stop_reason?.type === "requires_action";
  statuses.forEach((event, index) => {
    const before = statuses[index - 1];
    const again = asks(event) && asks(before);
    const twice = event.type === (before?.type ?? "session.status_idle") && !again;
    if (twice) problems.push(`event ${event.seq} says ${event.type} a second time`);
  });
  for (const { seq } of statuses.filter((event) => isIdle(event) && !asks(event))) {
    const before = events.filter((event) => event.seq < seq);
    const settled = before.map((event) =>
      event.type === "session.usage" ? event.turn_id : event.message_id,
    );
    const open = before.filter(({ type, id }) => type === "user.message" && !settled.includes(id));
    if (open.length > 0) problems.push(`event ${seq} says idle while ${open[0]?.id} waits`);
  }
  const joined = events.filter(({ type }) => type === "turn.joined").length;
  const ends = events.filter(({ type }) => type === "session.usage");
  if (ends.length + joined !== done.said.length) {
    problems.push(`${done.said.length} messages: ${ends.length} ends, ${joined} joined`);
  }
  const last = ends.at(-1)?.seq ?? 0;
  const idle = statuses.filter(({ seq }) => seq > last);
  if (idle.length !== 1 || idle[0]?.stop_reason?.type !== "end_turn") {
    problems.push(`after the last turn: ${JSON.stringify(idle)}`);
  }
  return problems;
}

function isIdle({ type }: Event): boolean {
  return type === "session.status_idle";
}

async function effectProblems(done: Case, { whole, events, directory }: State): Promise<string[]> {
  const problems: string[] = [];
  for (const [put, times] of done.puts) {
    if (times > 1) problems.push(`${put} was put ${times} times`);
  }
  const results = resultsOf(whole);
  const { store } = workspaceMount(
    env.FILES,
    { tenant: "acme", user: "ann", role: "member" },
    done.id,
  );
  const read = async (path: string) => {
    const inMemory = path.startsWith(`${directory}/`);
    const name = path.slice(path.lastIndexOf("/") + 1);
    const file = inMemory ? unwrap(await done.memory.read(name)) : await store.get(name);
    return file ? new TextDecoder().decode(file.bytes) : undefined;
  };
  for (const asked of done.asked) {
    const content = await read(asked.path);
    const result = results.get(keyOf(asked));
    const problem = effectProblem(asked, content, result);
    if (problem !== undefined) {
      problems.push(`${asked.name} ${asked.path} ${problem}; told: ${JSON.stringify(result)}`);
    }
  }
  const versions = unwrap(await done.memory.versions({ limit: 1000, withContent: false }));
  return [...problems, ...versionProblems(versions, events)];
}

interface Told {
  content: string;
  isError: boolean;
}

/** What was told of each change that the transcript knows, by its path and mark. */
function resultsOf(messages: readonly Message[]): Map<string, Told> {
  const told = new Map<string, Told>();
  for (const { content } of messages) {
    for (const block of content) {
      if (block.type !== "tool_result") continue;
      told.set(block.tool_use_id, { content: block.content, isError: block.is_error ?? false });
    }
  }
  const results = new Map<string, Told>();
  for (const { content } of messages) {
    for (const block of content) {
      if (block.type !== "tool_use") continue;
      const { file_path, new_string = "" } = block.input;
      const mark = String(new_string).split(".")[0] ?? "";
      const result = told.get(block.id);
      const key = `${block.name} ${String(file_path)} ${mark}`;
      if (result) results.set(key, result);
    }
  }
  return results;
}

function keyOf({ name, path, mark }: Asked): string {
  return `${name} ${path} ${name === "Edit" ? mark : ""}`;
}

/** How often it was done, against what the model was told of it. */
function effectProblem(asked: Asked, content: string | undefined, told?: Told): string | undefined {
  const times = timesOf(asked, content);
  if (times > 1) return `was done ${times} times`;
  if (!told) return times === 0 ? undefined : "was done, and is in no transcript";
  if (!told.isError) return times === 1 ? undefined : "was told as done, and is not";
  if (/may or may not/.test(told.content)) return undefined;
  return times === 0 ? undefined : "was done, and told as failed";
}

function timesOf({ name, mark }: Asked, content: string | undefined): number {
  if (name === "Delete") return content === undefined ? 1 : 0;
  if (name === "Write") return content === undefined ? 0 : 1;
  return (content ?? "").split(`${mark}.`).length - 1;
}

function versionProblems(versions: readonly Version[], events: readonly Event[]): string[] {
  const problems: string[] = [];
  const told = events.flatMap(({ memories = [] }) =>
    memories.map((each) => each.memory_version_id),
  );
  const twice = told.filter((id, index) => told.indexOf(id) !== index);
  if (twice.length > 0) problems.push(`versions were told twice: ${twice.join()}`);
  const inOrder = versions.toSorted((one, other) => one.n - other.n);
  const last = new Map<string, Version>();
  for (const [index, version] of inOrder.entries()) {
    const { n, id, path, sha256, operation, actor } = version;
    if (n !== index + 1) problems.push(`version ${index + 1} has the number ${n}`);
    const before = last.get(path ?? "");
    last.set(path ?? "", version);
    const same = before && before.operation === operation && before.sha256 === sha256;
    if (same) problems.push(`${operation} ${path} is version ${before.n} and ${n}`);
    // What healing adds to the index is not told of where a kill came right after it.
    const own = actor.type === "session" && actor.by === "agent" && path !== "MEMORY.md";
    if (own && !told.includes(id))
      problems.push(`version ${n}, ${operation} ${path}, was not told`);
  }
  return problems;
}

// What the known models save of a talk.

import type { Seeded, Talk } from "./set.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

export interface Draft {
  path: string;
  type: "user" | "feedback" | "project" | "reference";
  text: string;
}

/** What the labels ask for, letter by letter. */
export function perfectDrafts(talk: Talk): Draft[] {
  return talk.save.map(({ type, facts, date }, at) => {
    const day = new Date(Date.now() + (date?.days ?? 0) * DAY_MS).toISOString().slice(0, 10);
    const said = facts.map((fact) => fact.split("|")[0] ?? fact);
    return {
      path: talk.before?.[at]?.path ?? `memory-${at}.md`,
      type: typeOf(type),
      text: [...said, ...(date ? [day] : [])].join(", "),
    };
  });
}

/** Every message as it was said. */
export function everyMessage(talk: Talk): Draft[] {
  return talk.messages.map((text, at) => ({ path: `said-${at}.md`, type: "user", text }));
}

function typeOf(types: string): Draft["type"] {
  const first = types.split("|")[0];
  return first === "feedback" || first === "project" || first === "reference" ? first : "user";
}

/** A memory as a file. */
export function fileOf({ name, description, type }: Omit<Seeded, "path">): string {
  return `---\nname: ${JSON.stringify(name)}\ndescription: ${JSON.stringify(description)}\ntype: ${type}\n---\n\n${description}\n`;
}

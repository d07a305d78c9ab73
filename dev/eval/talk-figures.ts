// How good the memories of a talk are, by what its labels say.

import { parseEntry } from "../../src/shared/memdir/entry.ts";
import type { Talk } from "./set.ts";

export interface Saved {
  path: string;
  /** The whole file. */
  content: string;
}

export interface TalkFigures {
  talks: number;
  expected: number;
  /** Of these, those whose facts all stand in one memory. */
  saved: number;
  missed: number;
  /** Saved, under another type. */
  wrongType: number;
  /** Memories that no label asks for. */
  wronglySaved: number;
  /** Texts that must stand in no memory and stand in one: secrets, what is out of date, and the like. */
  forbidden: number;
  /** Saved, with the day as it was said ("tomorrow") or without it. */
  relativeDates: number;
}

const DAY_MS = 24 * 60 * 60 * 1000;

/** The figures of one talk. `day`: when it was held, in epoch milliseconds. */
export function talkFigures(talk: Talk, memories: readonly Saved[], day: number): TalkFigures {
  const read = memories.map((memory) => ({ ...memory, said: textOf(memory.content) }));
  const found = talk.save.map((label) => ({
    label,
    memory: read.find(({ said }) => label.facts.every((fact) => says(said, fact))),
  }));
  const saved = found.flatMap(({ label, memory }) => (memory ? [{ label, memory }] : []));
  const before = new Set((talk.before ?? []).map(({ description }) => description));
  const wrong = read.filter(
    (memory) => !saved.some((one) => one.memory === memory) && !isOld(memory, before),
  );
  return {
    talks: 1,
    expected: talk.save.length,
    saved: saved.length,
    missed: found.length - saved.length,
    wrongType: saved.filter(({ label, memory }) => {
      const { type } = parseEntry(memory.content);
      return type === undefined || !label.type.split("|").includes(type);
    }).length,
    wronglySaved: wrong.length,
    forbidden: talk.not.filter((text) => read.some(({ said }) => says(said, text))).length,
    relativeDates: saved.filter(
      ({ label, memory }) =>
        label.date &&
        !datesOf(day + label.date.days * DAY_MS).some((date) => says(memory.said, date)),
    ).length,
  };
}

export function addFigures(all: readonly TalkFigures[]): TalkFigures {
  const sum = (key: keyof TalkFigures) => all.reduce((total, one) => total + one[key], 0);
  return {
    talks: sum("talks"),
    expected: sum("expected"),
    saved: sum("saved"),
    missed: sum("missed"),
    wrongType: sum("wrongType"),
    wronglySaved: sum("wronglySaved"),
    forbidden: sum("forbidden"),
    relativeDates: sum("relativeDates"),
  };
}

export function printTalks(rows: readonly (readonly [string, TalkFigures])[]): void {
  console.log(
    "\n  talks, by model           talks  to save  saved  missed  wrong type  wrongly saved  must not stand  date left relative",
  );
  for (const [name, one] of rows) {
    const cells = [
      String(one.talks).padStart(5),
      String(one.expected).padStart(7),
      String(one.saved).padStart(5),
      String(one.missed).padStart(6),
      String(one.wrongType).padStart(10),
      String(one.wronglySaved).padStart(13),
      String(one.forbidden).padStart(14),
      String(one.relativeDates).padStart(18),
    ];
    console.log(`  ${name.padEnd(24)}  ${cells.join("  ")}`);
  }
}

/** A day as people write it: ISO, and in the languages of the set. */
export function datesOf(time: number): string[] {
  const date = new Date(time);
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate()];
  const name = (locale: string) =>
    new Intl.DateTimeFormat(locale, { month: "long", timeZone: "UTC" }).format(date);
  return [
    date.toISOString().slice(0, 10),
    `${month}月${day}日`,
    `${day}. ${name("de")}`,
    `${day}.${month}.${year}`,
    `${name("en")} ${day}`,
    `${day} ${name("en")}`,
  ];
}

function textOf(content: string): string {
  const { name = "", description = "", body } = parseEntry(content);
  return [name, description, body].join("\n").toLowerCase();
}

/** Whether one of the alternatives stands there; a number must not go on. */
function says(said: string, fact: string): boolean {
  return fact.split("|").some((one) => {
    const text = one.toLowerCase();
    for (let at = said.indexOf(text); at >= 0; at = said.indexOf(text, at + 1)) {
      const goesOn =
        (/^\d/.test(text) && /\d/.test(said[at - 1] ?? "")) ||
        (/\d$/.test(text) && /\d/.test(said[at + text.length] ?? ""));
      if (!goesOn) return true;
    }
    return false;
  });
}

function isOld({ content }: Saved, before: ReadonlySet<string>): boolean {
  return before.has(parseEntry(content).description ?? "");
}

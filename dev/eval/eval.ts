// `npm run eval [-- words|choice|talks …]`: how well memories are chosen and saved, on the labelled set.
// Without a model it shows the words' figures, and those of models that are known to be perfect or
// silly. `ANTHROPIC_BASE_URL` with `ANTHROPIC_API_KEY` adds the model behind it.

import type { Candidate } from "../../src/shared/recall/list.ts";
import type { Served } from "../fake-model/serve.ts";
import { printChoice } from "./choice-figures.ts";
import { chooseByModel, type ModelAddress } from "./choose-by-model.ts";
import { chooseByWords } from "./choose-by-words.ts";
import { everyMessage, perfectDrafts } from "./drafts.ts";
import { serveChooser, serveSaver } from "./known-models.ts";
import { type Question, readHeldOut, readMemories, readQuestions, readTalks } from "./set.ts";
import { addFigures, printTalks, type TalkFigures } from "./talk-figures.ts";
import { holdTalks } from "./talks.ts";

const PARTS: Record<string, () => Promise<void>> = { words, choice, talks };
const RANDOM_STEP = 7919;

const { EVAL_MOST, ANTHROPIC_BASE_URL, ANTHROPIC_API_KEY, MODEL, RECALL_MODEL } = process.env;
const asked = process.argv.slice(2);
for (const name of asked.length > 0 ? asked : Object.keys(PARTS)) {
  const part = Object.hasOwn(PARTS, name) ? PARTS[name] : undefined;
  if (!part) {
    console.error(`There is no part "${name}". There is: ${Object.keys(PARTS).join(", ")}`);
    process.exit(1);
  }
  try {
    await part();
  } catch (error) {
    console.error(error instanceof Error ? error.message : String(error));
    process.exit(1);
  }
}
process.exit(0);

async function words(): Promise<void> {
  const memories = readMemories();
  console.log(`\n# Choice by words, of ${memories.length} memories`);
  printChoice("questions", chooseByWords(readQuestions(), memories));
  printChoice("held out", chooseByWords(readHeldOut(), memories));
}

async function choice(): Promise<void> {
  const memories = readMemories();
  const questions = some([...readQuestions(), ...readHeldOut()]);
  console.log("\n# Choice by a model");
  const newest = memories.slice(0, 5).map(({ path }) => path);
  const random = (_: Question, at: number) =>
    [1, 2, 3].map((n) => memories[(at * RANDOM_STEP + n * 31) % memories.length]?.path ?? "");
  for (const [name, choose] of [
    ["known: perfect", ({ want }: Question) => want],
    ["known: always the newest five", () => newest],
    ["known: three at random", random],
    ["known: never any", () => []],
  ] as const) {
    const server = await serveChooser(questions, choose);
    await chooseWith(name, addressOf(server), questions, memories);
    await server.close();
  }
  if (!ANTHROPIC_BASE_URL || !ANTHROPIC_API_KEY) return sayHow();
  const model = RECALL_MODEL || "claude-sonnet-5-5";
  const address = { url: ANTHROPIC_BASE_URL, apiKey: ANTHROPIC_API_KEY, model };
  await chooseWith(model, address, questions, memories);
}

async function chooseWith(
  name: string,
  address: ModelAddress,
  questions: readonly Question[],
  memories: readonly Candidate[],
): Promise<void> {
  const { all, failed } = await chooseByModel(questions, memories, address);
  printChoice(name, all);
  for (const [cause, count] of failed) console.log(`  ${count} calls without a choice: ${cause}`);
}

async function talks(): Promise<void> {
  const all = some(readTalks());
  console.log(`\n# Talks: what the service saves of ${all.length}`);
  const rows: [string, TalkFigures][] = [];
  for (const [name, draft] of [
    ["known: perfect", perfectDrafts],
    ["known: saves everything", everyMessage],
    ["known: saves nothing", () => []],
  ] as const) {
    const saver = await serveSaver(draft);
    const variables = { ANTHROPIC_BASE_URL: saver.url, ANTHROPIC_API_KEY: "known-model" };
    rows.push([name, addFigures(await holdTalks(all, variables, saver.begin))]);
    await saver.close();
  }
  if (ANTHROPIC_BASE_URL && ANTHROPIC_API_KEY) {
    const variables = {
      ANTHROPIC_BASE_URL,
      ANTHROPIC_API_KEY,
      ...(MODEL ? { MODEL } : {}),
      ...(RECALL_MODEL ? { RECALL_MODEL } : {}),
    };
    const held = await holdTalks(all, variables);
    for (const language of ["en", "de", "zh", "ja"] as const) {
      const of = held.filter((_, at) => all[at]?.language === language);
      rows.push([`${MODEL || "model"}, ${language}`, addFigures(of)]);
    }
    rows.push([MODEL || "model", addFigures(held)]);
  }
  printTalks(rows);
  if (!ANTHROPIC_BASE_URL || !ANTHROPIC_API_KEY) sayHow();
}

/** So many, evenly spread, where `EVAL_MOST` says so: a real model costs money. */
function some<T>(all: readonly T[]): T[] {
  const most = Number(EVAL_MOST || all.length);
  if (!Number.isInteger(most) || most < 1) {
    throw new Error(`EVAL_MOST "${EVAL_MOST}" is no number from 1 on: unset it to ask all`);
  }
  if (most >= all.length) return [...all];
  return all.filter(
    (_, at) => Math.floor((at * most) / all.length) !== Math.floor(((at + 1) * most) / all.length),
  );
}

function addressOf({ url }: Served): ModelAddress {
  return { url, apiKey: "known-model", model: "claude-sonnet-5-5" };
}

function sayHow(): void {
  console.log(
    "\nNo model was asked: set ANTHROPIC_BASE_URL and ANTHROPIC_API_KEY (and MODEL, RECALL_MODEL).",
  );
}

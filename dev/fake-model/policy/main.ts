import type { ScriptStep } from "../script.ts";
import { fileCommand } from "./file-command.ts";
import { isRecord } from "./instance.ts";
import { play } from "./play.ts";
import {
  answerQuestion,
  asksWhatItCan,
  asksWhoItIs,
  GUIDE,
  INTRODUCTION,
  isQuestion,
} from "./question.ts";
import { factToRemember, forget, remember, subjectToForget } from "./remember.ts";
import type { View } from "./view.ts";
import { firstCharacters } from "./words.ts";

const ECHO_CHARACTERS = 80;

/** The conversation itself, for the main agent and for subagents. */
export function answerMain(view: View): ScriptStep {
  const { text } = view;
  // First, because its words may hold what reads like a request to remember.
  const command = fileCommand(text, view.projectDir);
  if (command) return play(command, view);
  if (asksWhatItCan(text)) return { text: GUIDE };
  if (asksWhoItIs(text)) return { text: INTRODUCTION };
  const fact = factToRemember(text);
  if (fact) return play(remember(view, fact), view, "I am told to remember this, so I save it.");
  const subject = subjectToForget(text);
  if (subject) return play(forget(view, subject), view, "I am told to forget this.");
  const asked = toolAskedFor(text, view);
  if (asked) return asked;
  if (isQuestion(text)) return play(answerQuestion(view), view, "I look for it in my memory.");
  const said = `You said: ${firstCharacters(text, ECHO_CHARACTERS)}`;
  return { text: view.isFirst ? `${said}\n\n${INTRODUCTION}` : said };
}

// "use tool get_weather with {…}" reaches the client's own tools, whatever they are.
function toolAskedFor(text: string, view: View): ScriptStep | undefined {
  const [, name, json] =
    /^(?:use|call) (?:the )?(?:tool )?([\w-]+)(?: tool)? with (\{[\s\S]*\})$/i.exec(text) ?? [];
  if (!name || !json) return undefined;
  const done = view.calls.find((call) => call.name === name);
  if (done) return { text: `${name} answered: ${done.result}` };
  if (!view.tools.has(name)) return { text: `I can't do that here: no tool ${name} is offered.` };
  try {
    const input: unknown = JSON.parse(json);
    return isRecord(input) ? { tools: [{ name, input }] } : undefined;
  } catch {
    return { text: `I can't use ${name}: its input is not valid JSON.` };
  }
}

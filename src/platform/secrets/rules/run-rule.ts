import type { SecretLintRuleCreator, SecretLintSourceCode } from "@secretlint/types";
import { isPlaceholder, isWords } from "./placeholder.ts";

const PRESET_PREFIX = "@secretlint/secretlint-rule-";

/**
 * Runs one secretlint rule over one text. `found` gets the rule's name and the place of each hit that is
 * no placeholder: its start and the end of its value, or of the text where the value is not in one piece.
 * The value is used for these only; the messages of rules, which quote it, are never made.
 */
export async function runRule(
  rule: SecretLintRuleCreator,
  text: string,
  found: (rule: string, start: number, end: number) => void,
): Promise<void> {
  const name = rule.meta.id.replace(PRESET_PREFIX, "");
  const handler = rule.create(
    {
      sharedOptions: {},
      createTranslator: () => (messageId, data) => ({
        message: "",
        messageId: String(messageId),
        data,
      }),
      report({ message, range }) {
        const value = longest(message.data) ?? text.slice(range[0], range[1]);
        if (isPlaceholder(value) || isWords(value)) return;
        const at = text.indexOf(value, range[0]);
        found(name, range[0], at === -1 ? text.length : Math.max(range[1], at + value.length));
      },
      // A text cannot turn a rule off.
      ignore() {},
    },
    {},
  );
  await handler.file?.(sourceOf(text));
}

/** A rule's data is an object of strings: the value, and at times its type. */
function longest(data: unknown): string | undefined {
  if (typeof data !== "object" || data === null) return undefined;
  const values = Object.values(data).filter((value) => typeof value === "string");
  return values.sort((a, b) => b.length - a.length)[0];
}

/** Without a path: with one, rules look at fewer files, and one of them reads the disk. */
function sourceOf(text: string): SecretLintSourceCode {
  return {
    content: text,
    contentType: "text",
    ext: "",
    filePath: undefined,
    hasBOM: false,
    physicalFilePath: undefined,
    getFilePath: () => undefined,
    getPhysicalFilePath: () => undefined,
    indexToPosition: noPlaces,
    locationToRange: noPlaces,
    positionToIndex: noPlaces,
    rangeToLocation: noPlaces,
  };
}

function noPlaces(): never {
  throw new Error("Rules get no line numbers here: they are counted for hits only");
}

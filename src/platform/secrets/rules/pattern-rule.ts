import type { SecretLintRuleCreator } from "@secretlint/types";

/** A place in the text and the value there, which only serves to sort out placeholders. */
export interface Found {
  index: number;
  value: string;
}

/** A secretlint rule from a function, which must take linear time on any text. */
export function patternRule(
  name: string,
  find: (text: string) => Iterable<Found>,
): SecretLintRuleCreator {
  return {
    messages: {},
    meta: { id: name, type: "scanner", recommended: true, supportedContentTypes: ["text"] },
    create: (context) => ({
      file(source) {
        for (const { index, value } of find(source.content)) {
          context.report({
            message: { message: "", messageId: name, data: { value } },
            range: [index, index + value.length],
          });
        }
      },
    }),
  };
}

/** Each match of a global expression. */
export function* matches(text: string, expression: RegExp): Generator<Found> {
  for (const match of text.matchAll(expression)) yield { index: match.index, value: match[0] };
}

import { lostHeadings, notesHaveContent, parseNotes } from "./sections.ts";
import { NOTES_SECTIONS } from "./template.ts";

/**
 * Why a text cannot be the notes; undefined where it can. Every heading of the template stands there
 * once and in its place, with nothing above the first. The reason names what is wrong.
 */
export function checkNotes(text: string): string | undefined {
  const lost = lostHeadings(text);
  if (lost.length > 0) {
    const lines = lost.map((name) => `"# ${name}"`).join(", ");
    return lost.length === 1
      ? `the heading ${lines} is missing. Each heading stays, on a line of its own`
      : `the headings ${lines} are missing. Each heading stays, on a line of its own`;
  }
  const { before, sections } = parseNotes(text);
  const names = sections.map(({ name }) => name);
  const twice = names.find((name, n) => names.indexOf(name) !== n);
  if (twice !== undefined) return `the heading "# ${twice}" stands there twice. Keep one of them`;
  const order = NOTES_SECTIONS.map(({ name }) => name);
  const moved = order.find((name, n) => name !== names[n]);
  if (moved !== undefined) {
    return `the heading "# ${moved}" is not in its place. The order is: ${order.join(", ")}`;
  }
  if (before !== "") return 'there is text above "# Title". Put it under one of the headings';
  return undefined;
}

/** The same of a change: one that leaves nothing of what was noted is none either. */
export function checkChange(before: string, after: string): string | undefined {
  const reason = checkNotes(after);
  if (reason !== undefined) return reason;
  if (notesHaveContent(before) && !notesHaveContent(after)) {
    return "nothing of what was noted would be left. Change the sections that are out of date";
  }
  return undefined;
}

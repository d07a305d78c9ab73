import { lostHeadings, notesHaveContent, parseNotes } from "./sections.ts";
import { NOTES_SECTIONS } from "./template.ts";

/**
 * Why a text cannot be the notes; undefined if it can. Notes contain every heading of the template once,
 * in order, and nothing above the first. The reason says what to change.
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
  const duplicate = names.find((name, n) => names.indexOf(name) !== n);
  if (duplicate !== undefined)
    return `the heading "# ${duplicate}" stands there twice. Keep one of them`;
  const order = NOTES_SECTIONS.map(({ name }) => name);
  const moved = order.find((name, n) => name !== names[n]);
  if (moved !== undefined) {
    return `the heading "# ${moved}" is not in its place. The order is: ${order.join(", ")}`;
  }
  if (before !== "") return 'there is text above "# Title". Put it under one of the headings';
  return undefined;
}

/** As `checkNotes`, for a change: it must not remove everything that was noted. */
export function checkChange(before: string, after: string): string | undefined {
  const reason = checkNotes(after);
  if (reason !== undefined) return reason;
  if (notesHaveContent(before) && !notesHaveContent(after)) {
    return "nothing of what was noted would be left. Change the sections that are out of date";
  }
  return undefined;
}

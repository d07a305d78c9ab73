import { expect, test } from "vitest";
import { shownPart } from "./body.ts";

const HEAD =
  "name: Deploy\ndescription: when we deploy\ntype: project\nmetadata:\n  modified: 2026-11-01";
const BODY = "We deploy on Mondays, after the tests.";

test.each([
  ["a body that stands by itself", `---\n${HEAD}\n---\n\n${BODY}\n`, `${BODY}\n`],
  ["lines of Windows", `---\r\nname: Deploy\r\n---\r\n\r\n${BODY}`, BODY],
  ["a body that is indented", `---\n${HEAD}\n---\n    ${BODY}`, `    ${BODY}`],
  ["a body in Chinese", "---\nname: 部署\n---\n每周一发布到生产环境", "每周一发布到生产环境"],
])("of %s the body is shown", (_what, text, shown) => {
  expect(shownPart(text)).toBe(shown);
});

test.each([
  ["no frontmatter", BODY],
  ["frontmatter that is the content", `---\n${HEAD}\n---\n`],
  ["a body that leans on its name", `---\n${HEAD}\n---\nMondays, always.`],
  ["frontmatter that is not closed", `---\n${HEAD}\n\n${BODY}`],
  ["frontmatter that cannot be read", `---\n- a\n- b\n---\n${BODY}`],
  ["frontmatter that is doubtful", `---\nname: a\nname: b\n---\n${BODY}`],
  ["frontmatter that says more", `---\n${HEAD}\nuntil: 2026-12-24\n---\n${BODY}`],
])("of a memory with %s all is shown", (_what, text) => {
  expect(shownPart(text)).toBe(text);
});

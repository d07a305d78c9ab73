// The fields of a frontmatter block, as a person reads them. The YAML parser only gives the tree: it
// resolves, constructs and executes nothing, no object gets a key from a file, and aliases never expand.

import { isMap, isScalar, parseDocument, type YAMLMap } from "yaml";

export interface Field {
  /** In lower case, without blanks and invisible characters. */
  key: string;
  /** The value on one line: decoded if it is quoted, else as it is written. */
  shown: string;
  /** The value by YAML, without comments; undefined unless it is a string. */
  scalar: string | undefined;
  /** The fields of a map, one level deep. */
  nested: Field[];
  /** The value was left out because it is nested too deeply. */
  tooDeep?: true | undefined;
}

/** The keys that make a block frontmatter. */
const KNOWN = ["name", "description", "type", "modified", "replaces", "metadata"];
/** Bounds of what is parsed: the parser recurses, and a stack overflow ends the process. */
const BRACKETS = 50;
const INDICATORS_PER_LINE = 8;
const INDENT = 64;
/** Each sign may cause an error of its own, and an error costs some 50 µs. */
const SIGNS = 500;
const LINES = 1000;

const KEY =
  /^[ \t\p{Cf}]*(["']?)([\p{L}\p{N}_][^:"'\n]{0,63})\1\s*:(?:\s(.*))?$|^[ \t\p{Cf}]*()(name|description|type|modified|metadata)\s*[:：](.*)$/isu;

/**
 * The fields in their order, or undefined if the block is not frontmatter: not a map, or without any key
 * of a memory. A block that is not valid YAML is read again entry by entry, where values that are not
 * valid count as quoted. Never throws.
 */
export function readFields(block: string): Field[] | undefined {
  const fields = readYaml(block) ?? readEntries(block);
  return fields.some(({ key }) => KNOWN.includes(key)) ? fields : undefined;
}

function readYaml(source: string): Field[] | undefined {
  if (isCostly(source)) return undefined;
  try {
    const document = parseDocument(source, {
      schema: "failsafe",
      uniqueKeys: false,
      prettyErrors: false,
      logLevel: "error",
    });
    if (document.errors.length > 0 || !isMap(document.contents)) return undefined;
    return fieldsOf(document.contents, source, source.length, 1);
  } catch {
    return undefined;
  }
}

function fieldsOf(map: YAMLMap, source: string, end: number, depth: number): Field[] {
  return map.items.flatMap(({ key, value }, index) => {
    if (!isScalar(key) || typeof key.value !== "string") return [];
    const next = map.items[index + 1]?.key;
    const nextStart = isScalar(next) ? next.range?.[0] : undefined;
    const stop = nextStart === undefined ? end : source.lastIndexOf("\n", nextStart - 1) + 1;
    const scalar = isScalar(value) && typeof value.value === "string" ? value.value : undefined;
    const decoded = isScalar(value) && value.type !== "PLAIN" ? scalar : undefined;
    const written = map.flow ? undefined : afterColon(source, key.range?.[1] ?? end, stop);
    return [
      {
        key: keyName(key.value),
        shown: oneLine(decoded ?? written ?? scalar ?? ""),
        scalar,
        nested: depth > 0 && isMap(value) ? fieldsOf(value, source, stop, depth - 1) : [],
      },
    ];
  });
}

function readEntries(block: string): Field[] {
  const known = entries(block).filter(({ key }) => KNOWN.includes(key));
  return known.map(({ key, text, value }) => {
    const [own, more] = readYaml(text) ?? [];
    if (own?.key === key && more === undefined) return own;
    if (isCostly(text) && /^\s*[[{]/.test(value)) {
      return { key, shown: "", scalar: undefined, nested: [], tooDeep: true };
    }
    const shown = oneLine(withoutComments(value.replace(/^[ \t]*[|>][-+0-9]*[ \t]*\r?\n/, "")));
    const bare = /^"(.*)"$/su.exec(shown)?.[1] ?? shown;
    return { key, shown: bare, scalar: bare, nested: [] };
  });
}

/** The block cut before each line that begins with a key, at the first such line's indent or less. */
function entries(block: string): { key: string; text: string; value: string }[] {
  const found: { key: string; text: string; value: string }[] = [];
  let indent: number | undefined;
  for (const line of block.split("\n")) {
    const before = line.search(/[^ \t]/);
    const match = indent === undefined || before <= indent ? KEY.exec(line) : null;
    const last = found.at(-1);
    if (match) {
      indent ??= before;
      const key = keyName(match[2] ?? match[5] ?? "");
      found.push({ key, text: `${line}\n`, value: `${match[3] ?? match[6] ?? ""}\n` });
    } else if (last) {
      last.text += `${line}\n`;
      last.value += `${line}\n`;
    }
  }
  return found;
}

/** Whether a text is too costly for the parser; it is then read line by line. */
function isCostly(text: string): boolean {
  if ((text.match(/[[{]/g)?.length ?? 0) > BRACKETS) return true;
  if ((text.match(/[[\]{},&!*\\]/g)?.length ?? 0) > SIGNS) return true;
  const lines = text.split("\n");
  return (
    lines.length > LINES ||
    lines.some((line) => {
      const indicators = line.match(/(?:^|\s)[-?:](?=\s|$)|:(?=\s)/g)?.length ?? 0;
      return indicators > INDICATORS_PER_LINE || line.search(/\S|$/) > INDENT;
    })
  );
}

/** The text between a key and the next one; undefined if the key is not followed by a colon. */
function afterColon(source: string, keyEnd: number, stop: number): string | undefined {
  const colon = /[ \t]*:/y;
  colon.lastIndex = keyEnd;
  return colon.test(source) ? withoutComments(source.slice(colon.lastIndex, stop)) : undefined;
}

/** Without comment lines; a "#" within a line or after the colon is text. */
function withoutComments(value: string): string {
  const [first = "", ...more] = value.split("\n");
  return [first, ...more.filter((line) => !/^\s*#/.test(line))].join("\n");
}

/** Joins lines by blanks. A line end is anything that a terminal or a model takes for one. */
export function oneLine(text: string): string {
  const lines = text.split(/[\n\r\v\f\x85\u2028\u2029]/).map((line) => line.trim());
  return lines.filter((line) => line !== "").join(" ");
}

function keyName(text: string): string {
  return text.replaceAll(/[\p{Cc}\p{Cf}\s]/gu, "").toLowerCase();
}

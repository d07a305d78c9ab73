/** One line of MEMORY.md, with the text it was read from. */
export interface IndexLine {
  raw: string;
  title: string;
  file: string;
  hook: string;
}

const INDEX_LINE = /^\s*[-*] \[(.+?)\]\((.+?)\)(?:\s*[-–—:]+\s*(.*))?$/;
const INDEX_BLOCK = /<memory_index[^>]*>([\s\S]*?)<\/memory_index>/g;

export function indexLines(text: string): IndexLine[] {
  return text.split("\n").flatMap((raw) => {
    const [, title, file, hook] = INDEX_LINE.exec(raw) ?? [];
    return title && file ? [{ raw, title, file, hook: hook ?? "" }] : [];
  });
}

/** The index as a text last showed it, or undefined where it shows none. */
export function lastIndexBlock(text: string): string | undefined {
  return [...text.matchAll(INDEX_BLOCK)].at(-1)?.[1];
}

/** One line of the list that recall and extraction are given. */
export interface ListedMemory {
  file: string;
  description: string;
}

const LISTED = /^\s*- (?:\[[^\]]*\] )?(.+?\.md) \([^)]*\):? ?(.*)$/;

export function listedMemory(line: string): ListedMemory | undefined {
  const [, file, description] = LISTED.exec(line) ?? [];
  return file ? { file, description: description ?? "" } : undefined;
}

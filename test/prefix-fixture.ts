// Requests as the prompt cache sees them: blocks, in the order in which it reads them.

/** What one request is made of, in the order in which the cache reads it. */
export interface Sent {
  blocks: { path: string; bytes: string }[];
  /** Blocks up to and with the last one that carries a cache mark. */
  marked: number;
}

type Block = { cache_control?: unknown };

/** The blocks of a request's body, without their cache marks. */
export function sentOf({ body }: { body: unknown }): Sent {
  const { tools, system, messages } = body as {
    tools: Block[];
    system: Block[];
    messages: { role: string; content: Block[] }[];
  };
  const all = [
    ...tools.map((block, n) => ({ path: `tools.${n}`, block })),
    ...system.map((block, n) => ({ path: `system.${n}`, block })),
    ...messages.flatMap(({ role, content }, m) =>
      content.map((block, n) => ({ path: `messages.${m}.content.${n} (${role})`, block })),
    ),
  ];
  const blocks = all.map(({ path, block: { cache_control: _, ...rest } }) => ({
    path,
    bytes: JSON.stringify(rest),
  }));
  return { blocks, marked: all.findLastIndex(({ block }) => block.cache_control) + 1 };
}

/** The first block that is not the same, by its place; undefined where the prefix holds. */
export function firstDifference(before: Sent, after: Sent): string | undefined {
  for (const [n, block] of before.blocks.slice(0, before.marked).entries()) {
    const other = after.blocks[n];
    if (other?.path !== block.path || other.bytes !== block.bytes) {
      return `block ${n} (${block.path}) is ${other ? `now ${other.path}: ${other.bytes.slice(0, 80)}` : "gone"}`;
    }
  }
  return undefined;
}

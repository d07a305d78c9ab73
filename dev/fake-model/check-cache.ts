import { blocksOf } from "./conversation.ts";
import { explicitPositions, type Position, positionsOf } from "./render.ts";
import type { Prompt } from "./wire.ts";

const MAX_MARKERS = 4;

/** The first rule of cache markers that does not hold; undefined when all do. */
export function checkCacheMarkers(request: Prompt): string | undefined {
  const explicit = explicitPositions(request);
  const marked = explicit.filter((position) => position.ttl);
  const count = countMarkers(request);
  if (count > MAX_MARKERS) return tooMany(count);
  return (
    checkAutomatic(request, explicit, count) ??
    checkLifetimes(request.cache_control ? positionsOf(request) : marked)
  );
}

function countMarkers(request: Prompt): number {
  const blocks = request.messages.flatMap(blocksOf);
  const inner = blocks.flatMap((block) =>
    block.type === "tool_result" && Array.isArray(block.content) ? block.content : [],
  );
  const system = Array.isArray(request.system) ? request.system : [];
  const all = [...(request.tools ?? []), ...system, ...blocks, ...inner];
  return all.filter((block) => block.cache_control).length;
}

// The marker at the top of the request takes a place of its own, unless it says what is there.
function checkAutomatic(request: Prompt, explicit: Position[], count: number): string | undefined {
  if (!request.cache_control) return undefined;
  const ttl = request.cache_control.ttl ?? "5m";
  const last = explicit.findLast((position) => position.cacheable);
  if (last?.ttl === ttl) return undefined;
  if (last?.ttl)
    return `cache_control: ttl='${ttl}' conflicts with ttl='${last.ttl}' at ${last.path}`;
  return count >= MAX_MARKERS ? tooMany(count + 1) : undefined;
}

function checkLifetimes(positions: Position[]): string | undefined {
  let shorter = false;
  for (const { ttl, path } of positions) {
    if (ttl === "1h" && shorter) {
      return (
        `${path}.cache_control.ttl: a ttl='1h' cache_control block must not come after a ` +
        "ttl='5m' cache_control block. Note that blocks are processed in the following order: " +
        "`tools`, `system`, `messages`."
      );
    }
    if (ttl === "5m") shorter = true;
  }
  return undefined;
}

function tooMany(count: number): string {
  return `A maximum of ${MAX_MARKERS} blocks with cache_control may be provided. Found ${count}.`;
}

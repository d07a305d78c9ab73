/** Where a session's memory and its project lie for the agent; "" where there is none. */
export type Roots = { memory: string; workspace: string };

/** `memory/…` or `workspace/…` for a path in one of them; any other path as it is. */
export function shortPath(path: string, roots: Roots): string {
  const [found] = Object.entries(roots)
    .map(([name, root]) => ({ name, root: root.replace(/\/+$/, "") }))
    .filter(({ root }) => root !== "" && (path === root || path.startsWith(`${root}/`)))
    .sort((a, b) => b.root.length - a.root.length);
  return found ? found.name + (path.slice(found.root.length) || "/") : path;
}

/** A path in two: what may be cut where there is no room, and the name, which is what counts. */
export function splitPath(path: string): [folder: string, name: string] {
  const at = path.lastIndexOf("/", path.length - 2) + 1;
  return [path.slice(0, at), path.slice(at)];
}

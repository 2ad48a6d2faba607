type Pair = readonly [child: string, parent: string];

/** Index of the first added pair that closes a cycle of parents; null when there is none. */
export function findParentCycle(existing: readonly Pair[], added: readonly Pair[]): number | null {
  const parents = new Map<string, string[]>();
  const add = ([child, parent]: Pair): void => {
    const known = parents.get(child);
    if (known) known.push(parent);
    else parents.set(child, [parent]);
  };
  for (const pair of [...existing, ...added]) add(pair);
  const cyclic = nodesOnCycles(parents);
  if (cyclic.size === 0) return null;
  return Math.max(
    0,
    added.findIndex(([child, parent]) => cyclic.has(child) && cyclic.has(parent)),
  );
}

/** Nodes left when everything without parents, and then without remaining parents, is taken away again and again. */
function nodesOnCycles(parents: ReadonlyMap<string, readonly string[]>): ReadonlySet<string> {
  const waiting = new Map([...parents].map(([child, list]) => [child, list.length]));
  const children = new Map<string, string[]>();
  for (const [child, list] of parents) {
    for (const parent of list) {
      const known = children.get(parent);
      if (known) known.push(child);
      else children.set(parent, [child]);
    }
  }
  const free = [...children.keys()].filter((node) => !parents.has(node));
  for (let node = free.pop(); node !== undefined; node = free.pop()) {
    for (const child of children.get(node) ?? []) {
      const left = (waiting.get(child) ?? 0) - 1;
      waiting.set(child, left);
      if (left === 0) {
        waiting.delete(child);
        free.push(child);
      }
    }
  }
  return new Set(waiting.keys());
}

import { type InputOf, type Node, updateNode } from '@workspace-graph/contracts';
import { ChangedMeanwhile, change, isConflict, refreshNode } from '../api/change';
import { useGuarded } from './guarded';
import { readNode } from './node-query';

/** Fields that are set by choosing. */
export type Chosen = Pick<InputOf<typeof updateNode>, 'lifecycle' | 'health' | 'health_note' | 'owner_id'>;

/** What was to be replaced by choosing is not what stands there any more. */
export class ChosenMeanwhile extends ChangedMeanwhile {
  constructor(
    /** What was to be set. */
    readonly what: Chosen,
    /** The node as it stands. */
    readonly current: Node,
  ) {
    super();
  }
}

/** How often a change is put onto a node whose other fields have changed meanwhile. */
const TRIES = 4;

const last = new Map<string, Promise<unknown>>();

/**
 * Puts a change onto a node as it stands, again where it has changed meanwhile. The changes of this page to one node follow
 * each other. @throws Refusal, Unreachable, and what `put` throws
 */
export async function putOnto<T>(nodeId: string, put: (current: Node) => Promise<T>): Promise<T> {
  const before = last.get(nodeId);
  const run = async () => {
    await before?.catch(() => undefined);
    for (let tries = 0; ; tries++) {
      try {
        return await put(await readNode(nodeId));
      } catch (error) {
        if (!isConflict(error) || tries >= TRIES) throw error;
      }
    }
  };
  const mine = run();
  last.set(nodeId, mine);
  try {
    return await mine;
  } finally {
    if (last.get(nodeId) === mine) last.delete(nodeId);
  }
}

/** Sets fields of a node that are chosen; a change that would give somebody access asks before. */
export function useNodeUpdate(node: Node) {
  const guarded = useGuarded(
    (what: Chosen, confirmed) => writeOnto(node.id, what, chosenOf(node, what), confirmed),
    node.id,
  );
  /** Puts back what was there before `made`. @throws Refusal, Unreachable, ChosenMeanwhile */
  const undo = async (back: Chosen, made: Chosen) => {
    await writeOnto(node.id, back, made, true);
    await refreshNode(node.id);
  };
  /** What stands in the place of what is to be set. */
  const formerOf = (what: Chosen): Chosen =>
    chosenOf(node, what.health === undefined ? what : { ...what, health_note: null });
  return { ...guarded, undo, formerOf };
}

/** Replaces what was `seen`, nothing that somebody else has chosen since; other fields that changed stay as they are. */
function writeOnto(nodeId: string, what: Chosen, seen: Chosen, confirmed: boolean) {
  return putOnto(nodeId, async (current) => {
    if (JSON.stringify(chosenOf(current, seen)) !== JSON.stringify(seen)) throw new ChosenMeanwhile(what, current);
    return await change(updateNode, { node_id: nodeId, ...what, expected_version: current.version, confirmed });
  });
}

/** The same fields as they stand in a node, in the same order. */
export function chosenOf({ lifecycle, health, health_report, owner }: Node, fields: Chosen): Chosen {
  const values = { lifecycle, health, health_note: health_report?.note ?? null, owner_id: owner?.id ?? null };
  return Object.fromEntries(Object.keys(fields).map((name) => [name, values[name as keyof Chosen]]));
}

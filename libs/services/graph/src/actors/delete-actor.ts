import {
  deleteActor,
  type OutputOf,
  type ParsedInputOf,
  ServiceError,
  validationFailed,
} from '@workspace-graph/contracts';
import { changeAccess, lockAccess, type Transaction } from '@workspace-graph/database';
import { emitGraphChanged } from '../shared/graph-changed.js';
import { type ActorRow, actorNotFound } from './actor.repository.js';
import {
  ACTOR_USES,
  ACTORS_FOR_REMOVAL,
  DELETE_ACTOR,
  REASSIGN_NODES,
  REASSIGN_RESPONSIBILITIES,
  TOUCH_NODES,
} from './actor.statements.js';

type Input = ParsedInputOf<typeof deleteActor>;
type Reply = OutputOf<typeof deleteActor>;

/** Uses named in a refusal. */
const USES_SHOWN = 100;

/** Deletes an actor that nothing uses, or whose uses another one takes over. */
export async function remove(tx: Transaction, input: Input): Promise<Reply> {
  const { actor_id: actorId, reassign_to: heirId } = input;
  if (heirId === actorId) throw validationFailed([{ path: 'reassign_to', message: 'must not be the actor to delete' }]);
  await lockAccess(tx);
  const actor = await lockActors(tx, actorId, heirId);
  const { count, uses } = (await tx.row<{ count: number; uses: unknown[] }>(ACTOR_USES, [actorId, USES_SHOWN])) ?? {
    count: 0,
    uses: [],
  };
  if (count > 0 && heirId === undefined) {
    throw new ServiceError(
      'IN_USE',
      `${actor.name} owns nodes or holds responsibilities; name the actor who takes them over in reassign_to.`,
      { uses, use_count: count },
    );
  }
  if (count === 0 || heirId === undefined) {
    await deleteRow(tx, actor);
    return { applied: true, preview: null, reassigned: 0 };
  }
  const { preview } = await changeAccess(
    tx,
    { confirmed: input.confirmed },
    async () => {
      const regrant = await reassign(tx, actorId, heirId);
      await deleteRow(tx, actor, { reassigned_to: heirId });
      return { result: null, refresh: [], regrant };
    },
    (unconfirmed): Reply => ({ applied: false, preview: unconfirmed, reassigned: count }),
  );
  return { applied: true, preview, reassigned: count };
}

async function lockActors(tx: Transaction, actorId: string, heirId: string | undefined): Promise<ActorRow> {
  const rows = await tx.rows<ActorRow>(ACTORS_FOR_REMOVAL, [actorId, heirId ?? null]);
  const missing = [actorId, heirId].find((id) => id !== undefined && !rows.some((row) => row.id === id));
  const actor = rows.find((row) => row.id === actorId);
  if (missing !== undefined || !actor) throw actorNotFound(missing ?? actorId);
  return actor;
}

/** Hands every use over; answers the nodes whose lists the new owner's user passes from now on. */
async function reassign(tx: Transaction, actorId: string, heirId: string): Promise<string[]> {
  const nodes = await tx.rows<{ id: string; gate: boolean | null }>(REASSIGN_NODES, [actorId, heirId]);
  for (const { id } of nodes) {
    tx.audit({
      action: deleteActor.name,
      targetKind: 'node',
      targetId: id,
      before: { owner_id: actorId },
      after: { owner_id: heirId },
    });
  }
  const duties = await tx.rows<{ id: string; node_id: string }>(REASSIGN_RESPONSIBILITIES, [actorId, heirId]);
  for (const { id, node_id } of duties) {
    tx.audit({
      action: deleteActor.name,
      targetKind: 'responsibility',
      targetId: id,
      concerns: [node_id],
      before: { node_id, assignee_id: actorId },
      after: { node_id, assignee_id: heirId },
    });
  }
  const touched = [...new Set(duties.map((duty) => duty.node_id))];
  await tx.execute(TOUCH_NODES, [touched]);
  emitGraphChanged(tx, [...nodes.map(({ id }) => id), ...touched], deleteActor.name);
  return nodes.filter((node) => node.gate).map((node) => node.id);
}

async function deleteRow(
  tx: Transaction,
  { id, type, name, user_id }: ActorRow,
  after?: Readonly<Record<string, unknown>>,
): Promise<void> {
  await tx.execute(DELETE_ACTOR, [id]);
  tx.audit({
    action: deleteActor.name,
    targetKind: 'actor',
    targetId: id,
    before: { type, name, user_id },
    ...(after ? { after } : {}),
  });
}

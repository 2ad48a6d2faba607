import { createActor, type ParsedInputOf, type RawJson, ServiceError, updateActor } from '@workspace-graph/contracts';
import { changeAccess, lockAccess, type Transaction } from '@workspace-graph/database';
import { newId } from '@workspace-graph/platform';
import { emitGraphChanged } from '../shared/graph-changed.js';
import { rawObject } from '../shared/raw-json.js';
import { type ActorRow, actorNotFound, readActor, refuseUnfitUser, userTaken } from './actor.repository.js';
import { ACTOR_FOR_CHANGE, GATES_OF_ACTOR, INSERT_ACTOR, NODES_OF_ACTOR, UPDATE_ACTOR } from './actor.statements.js';

/** Creates an actor; a new one owns nothing, so nobody's access moves. */
export async function create(
  tx: Transaction,
  { type, name, user_id }: ParsedInputOf<typeof createActor>,
): Promise<RawJson> {
  if (user_id !== null) {
    // A tie made by update_actor at the same moment waits for this one, and the other way round.
    await lockAccess(tx);
    await refuseUnfitUser(tx, type, user_id);
  }
  const id = newId();
  const made = await tx.row(INSERT_ACTOR, [id, type, name, user_id]);
  if (!made) {
    const taken = user_id === null ? null : await userTaken(tx, user_id);
    throw taken ?? new Error('An actor with a new id was not stored');
  }
  tx.audit({ action: createActor.name, targetKind: 'actor', targetId: id, after: { type, name, user_id } });
  return readActor(tx, id);
}

/** Renames an actor or ties it to another user, who then passes the lists of the nodes that the actor owns. */
export async function update(tx: Transaction, input: ParsedInputOf<typeof updateActor>): Promise<RawJson> {
  if (input.user_id !== undefined) await lockAccess(tx);
  const actor = await lockActor(tx, input.actor_id);
  if (input.expected_version !== undefined && input.expected_version !== actor.version) {
    const current: unknown = (await readActor(tx, actor.id)).parse();
    throw new ServiceError('CONFLICT', `The actor now has version ${actor.version}, not ${input.expected_version}.`, {
      current,
    });
  }
  const wanted = {
    name: input.name ?? actor.name,
    user_id: input.user_id === undefined ? actor.user_id : input.user_id,
  };
  if (wanted.user_id === actor.user_id) {
    await store(tx, actor, wanted);
    return rawObject({ applied: true, preview: null, actor: await readActor(tx, actor.id) });
  }
  return tie(tx, actor, wanted, input.confirmed);
}

type Fields = Pick<ActorRow, 'name' | 'user_id'>;

async function tie(tx: Transaction, actor: ActorRow, wanted: Fields, confirmed: boolean): Promise<RawJson> {
  if (wanted.user_id !== null) {
    await refuseUnfitUser(tx, actor.type, wanted.user_id);
    const taken = await userTaken(tx, wanted.user_id);
    if (taken) throw taken;
  }
  const unchanged = await readActor(tx, actor.id);
  const { preview } = await changeAccess(
    tx,
    { confirmed },
    async () => {
      await store(tx, actor, wanted);
      const gates = await tx.rows<{ id: string }>(GATES_OF_ACTOR, [actor.id]);
      return { result: null, refresh: [], regrant: gates.map((gate) => gate.id) };
    },
    (unconfirmed) => rawObject({ applied: false, preview: unconfirmed, actor: unchanged }),
  );
  return rawObject({ applied: true, preview, actor: await readActor(tx, actor.id) });
}

async function store(tx: Transaction, actor: ActorRow, wanted: Fields): Promise<void> {
  const changed = (['name', 'user_id'] as const).filter((field) => wanted[field] !== actor[field]);
  if (changed.length === 0) return;
  await tx.execute(UPDATE_ACTOR, [actor.id, wanted.name, wanted.user_id]);
  const only = (fields: Fields) => Object.fromEntries(changed.map((field) => [field, fields[field]]));
  tx.audit({
    action: updateActor.name,
    targetKind: 'actor',
    targetId: actor.id,
    before: only(actor),
    after: only(wanted),
  });
  if (!changed.includes('name')) return;
  const nodes = await tx.rows<{ id: string }>(NODES_OF_ACTOR, [actor.id]);
  emitGraphChanged(
    tx,
    nodes.map((node) => node.id),
    updateActor.name,
  );
}

async function lockActor(tx: Transaction, actorId: string): Promise<ActorRow> {
  const row = await tx.row<ActorRow>(ACTOR_FOR_CHANGE, [actorId]);
  if (!row) throw actorNotFound(actorId);
  return row;
}

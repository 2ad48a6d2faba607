import { type Actor, type ActorType, type RawJson, ServiceError, validationFailed } from '@workspace-graph/contracts';
import { statement, type Transaction } from '@workspace-graph/database';
import { ACTOR, ACTOR_OF_USER, HOLD_USER } from './actor.statements.js';

/** An actor's own columns while a change holds it locked. */
export interface ActorRow {
  readonly id: string;
  readonly type: ActorType;
  readonly name: string;
  readonly user_id: string | null;
  readonly version: number;
}

/** The refusal of an actor that does not exist. */
export function actorNotFound(actorId: string): ServiceError {
  return new ServiceError('ACTOR_NOT_FOUND', `There is no actor ${actorId}.`, { actor_id: actorId });
}

/** The Actor as get_actor answers it, seen from inside a change. */
export async function readActor(tx: Transaction, actorId: string): Promise<RawJson> {
  const actor = await tx.json(ACTOR, [actorId]);
  if (!actor) throw actorNotFound(actorId);
  return actor;
}

/**
 * Keeps actors from being deleted until the end of the transaction; call it before locking nodes.
 * @throws ServiceError ACTOR_NOT_FOUND for the first one that does not exist
 */
export async function lockActors(tx: Transaction, actorIds: readonly string[]): Promise<void> {
  if (actorIds.length === 0) return;
  const found = new Set((await tx.rows<{ id: string }>(HOLD_ACTORS, [actorIds])).map((row) => row.id));
  const missing = actorIds.find((id) => !found.has(id));
  if (missing !== undefined) throw actorNotFound(missing);
}

/** Refuses to tie a user to anything but a person, and a user who does not exist. */
export async function refuseUnfitUser(tx: Transaction, type: ActorType, userId: string): Promise<void> {
  if (type !== 'person') throw validationFailed([{ path: 'user_id', message: 'only a person can be tied to a user' }]);
  if (!(await tx.row(HOLD_USER, [userId])))
    throw new ServiceError('USER_NOT_FOUND', `There is no user ${userId}.`, { user_id: userId });
}

/** The refusal of a user who is another actor already; null while nobody is. */
export async function userTaken(tx: Transaction, userId: string): Promise<ServiceError | null> {
  const row = await tx.row<{ actor: Actor }>(ACTOR_OF_USER, [userId]);
  return (
    row &&
    new ServiceError('CONFLICT', `user_id: the user is already tied to the actor ${row.actor.name}.`, {
      current: row.actor,
    })
  );
}

const HOLD_ACTORS = statement(
  'actor.hold',
  `SELECT a.id::text AS id FROM graph.actor a WHERE a.id = ANY ($1::uuid[]) ORDER BY a.id FOR KEY SHARE`,
);

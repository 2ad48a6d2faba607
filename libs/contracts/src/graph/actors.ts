import { z } from 'zod';
import { Confirmed, ExpectedVersion, Id, Name, page, paging, Query, Timestamp } from '../common.js';
import { command, query } from '../operation.js';
import { changed } from './access-preview.js';
import { ActorType } from './vocabulary.js';

/** An actor as other records show it. */
export const ActorRef = z.strictObject({ id: Id, type: ActorType, name: z.string() });
export type ActorRef = z.infer<typeof ActorRef>;

export const Actor = z.strictObject({
  id: Id,
  type: ActorType,
  name: z.string(),
  user_id: Id.nullable().describe('The user that this person is; null for a placeholder or an automation.'),
  placeholder: z.boolean().describe('True for a person without a user.'),
  version: z.int(),
  created_at: Timestamp,
  updated_at: Timestamp,
});
export type Actor = z.infer<typeof Actor>;

const tag = 'Actors';

export const createActor = command({
  name: 'create_actor',
  owner: 'graph',
  tier: 'manage',
  reach: {},
  doc: 'Create a person or an automation that can own nodes and hold responsibilities.',
  input: z.strictObject({
    type: ActorType,
    name: Name,
    user_id: Id.nullable().default(null).describe('Ties a person to a user.'),
  }),
  output: Actor,
  errors: ['USER_NOT_FOUND', 'CONFLICT'],
  rest: { method: 'POST', path: '/actors', status: 201, tag },
  mcp: { tool: 'svc_create_actor', title: 'Create actor', additive: true },
});

export const getActor = query({
  name: 'get_actor',
  owner: 'graph',
  tier: 'read',
  reach: {},
  doc: 'Read one actor.',
  input: z.strictObject({ actor_id: Id }),
  output: Actor,
  errors: ['ACTOR_NOT_FOUND'],
  rest: { method: 'GET', path: '/actors/{actor_id}', tag },
  mcp: { tool: 'svc_get_actor', title: 'Read actor' },
});

export const listActors = query({
  name: 'list_actors',
  owner: 'graph',
  tier: 'read',
  reach: {},
  doc: 'List actors by name.',
  input: z.strictObject({
    type: ActorType.optional(),
    query: Query.optional().describe('Part of the name; ignores diacritics.'),
    ...paging,
  }),
  output: page(Actor),
  rest: { method: 'GET', path: '/actors', tag },
  mcp: { tool: 'svc_list_actors', title: 'List actors' },
});

export const updateActor = command({
  name: 'update_actor',
  owner: 'graph',
  tier: 'manage',
  reach: { actor_id: 'write' },
  idempotent: true,
  doc: 'Rename an actor or tie it to a user. Tying can change who sees nodes; a change that widens access needs confirmation.',
  input: z.strictObject({
    actor_id: Id,
    name: Name.optional(),
    user_id: Id.nullable().optional(),
    expected_version: ExpectedVersion,
    confirmed: Confirmed,
  }),
  output: changed('actor', Actor),
  errors: ['ACTOR_NOT_FOUND', 'USER_NOT_FOUND', 'CONFLICT'],
  // Whose nodes an actor owns decides who sees each of them.
  timeoutMs: 30_000,
  rest: { method: 'PATCH', path: '/actors/{actor_id}', tag },
  mcp: { tool: 'svc_update_actor', title: 'Update actor' },
});

export const deleteActor = command({
  name: 'delete_actor',
  owner: 'graph',
  tier: 'manage',
  reach: { actor_id: 'write' },
  idempotent: true,
  doc: 'Delete an actor. An actor in use is refused with its uses, unless reassign_to names the actor that takes them over; a reassignment that widens access returns a preview and needs confirmed: true.',
  input: z.strictObject({
    actor_id: Id,
    reassign_to: Id.optional(),
    confirmed: Confirmed.describe('Needed when the reassignment widens access.'),
  }),
  output: changed(
    'reassigned',
    z.int().describe('Number of owned nodes and assigned responsibilities that go to the other actor.'),
  ),
  errors: ['ACTOR_NOT_FOUND', 'IN_USE', 'CONFLICT'],
  timeoutMs: 30_000,
  rest: { method: 'DELETE', path: '/actors/{actor_id}', tag },
  mcp: { tool: 'svc_delete_actor', title: 'Delete actor' },
});

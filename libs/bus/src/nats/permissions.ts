import type { BusEventType, Owner } from '@workspace-graph/contracts';
import { isToken, SUBJECTS } from './subjects.js';

/** What one NATS user does on the bus. */
export interface NatsRole {
  /** Name of the NATS user; also `NatsBusOptions.name`, which its inbox follows. */
  readonly user: string;
  /** Owners whose operations it serves. Default: none. */
  readonly serves?: readonly Owner[];
  /** Owners whose operations it calls. Default: none. */
  readonly calls?: readonly Owner[];
  /** Events that it publishes. Default: none. */
  readonly publishes?: readonly BusEventType[];
  /** Events that it receives. Default: none. */
  readonly listens?: readonly BusEventType[];
}

/** In the shape of the `permissions` block of a NATS server's configuration. What is not listed is forbidden. */
export interface NatsPermissions {
  /** Subjects to which the user may send; may contain wildcards. */
  readonly publish: { readonly allow: readonly string[] };
  /** Subjects that the user may receive, for a queue group as `subject group`. */
  readonly subscribe: { readonly allow: readonly string[] };
}

/** The narrowest permissions with which a role works. */
export function natsPermissions(role: NatsRole): NatsPermissions {
  if (!isToken(role.user))
    throw new Error(`the name of a NATS user consists of letters, digits, _ and -: ${role.user}`);
  const { serves = [], calls = [], publishes = [], listens = [] } = role;
  return {
    publish: { allow: [...calls.flatMap(callSubjects), ...answerSubjects(serves), ...publishes.map(SUBJECTS.event)] },
    subscribe: {
      allow: [`${SUBJECTS.inbox(role.user)}.>`, ...serves.flatMap(serveSubjects), ...listens.map(SUBJECTS.event)],
    },
  };
}

function callSubjects(owner: Owner): string[] {
  return [SUBJECTS.operation({ owner, name: '*' }), ...sharedSubjects(owner)];
}

/** Answers go to inboxes whose names are random; whoever was not asked cannot guess one. */
function answerSubjects(serves: readonly Owner[]): string[] {
  return serves.length > 0 ? [`${SUBJECTS.inbox('*')}.*.*`] : [];
}

/** `subject queue`: calls may be taken as a member of the owner's group only. */
function serveSubjects(owner: Owner): string[] {
  return [`${SUBJECTS.operation({ owner, name: '*' })} ${owner}`, ...sharedSubjects(owner)];
}

/** Published by callers and heard by instances. */
function sharedSubjects(owner: Owner): string[] {
  const any = { owner, id: '*' };
  return [SUBJECTS.cancel(owner), SUBJECTS.find(owner), SUBJECTS.direct(any, '*'), SUBJECTS.flow(any, '*')];
}

/** The same as text for a NATS server's configuration file. */
export function natsPermissionsConfig(role: NatsRole): string {
  const { publish, subscribe } = natsPermissions(role);
  return `{ publish: { allow: ${JSON.stringify(publish.allow)} }, subscribe: { allow: ${JSON.stringify(subscribe.allow)} } }`;
}

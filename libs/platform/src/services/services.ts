import type { BusEventType, Owner } from '@workspace-graph/contracts';

/**
 * What a process is made of; each part brings the environment variables of its own. `edge`: listens for people and
 * programs. `operations`: health checks and metrics on a port of their own. `bus`: NATS. `database`: PostgreSQL. `remotes`:
 * storages of the organisation, and what they are opened with.
 */
export type ProcessPart = 'edge' | 'operations' | 'bus' | 'database' | 'remotes';

/** A process of a central workspace. Its name is that of its folder in apps/, of its image and of its user at the broker. */
export interface Service {
  /** What the process is made of; decides its environment variables. */
  readonly parts: readonly ProcessPart[];
  /** Owners whose operations it carries out. */
  readonly serves: readonly Owner[];
  /** Owners whose operations it calls. */
  readonly calls: readonly Owner[];
  /** Events that it may publish. */
  readonly publishes: readonly BusEventType[];
  /** Events that it must listen to. */
  readonly listens: readonly BusEventType[];
}

/** Every process of a central workspace. */
export const SERVICES = {
  gateway: {
    parts: ['edge', 'bus'],
    serves: [],
    calls: ['identity', 'graph', 'session', 'file', 'device'],
    publishes: [],
    listens: [
      'graph.changed',
      'access.changed',
      'file.changed',
      'credential.ended',
      'session.appended',
      'session.changed',
      'session.delta',
    ],
  },
  'graph-svc': {
    parts: ['operations', 'bus', 'database'],
    serves: ['identity', 'graph'],
    calls: [],
    publishes: ['graph.changed', 'access.changed', 'file.changed', 'credential.ended'],
    listens: [],
  },
  'session-svc': {
    parts: ['operations', 'bus', 'database'],
    serves: ['session'],
    calls: [],
    publishes: ['session.appended', 'session.changed', 'session.delta'],
    listens: [],
  },
  'file-svc': {
    parts: ['operations', 'bus', 'database', 'remotes'],
    serves: ['file', 'device'],
    calls: [],
    publishes: ['file.changed'],
    listens: [],
  },
} as const satisfies Record<string, Service>;

export type ServiceName = keyof typeof SERVICES;
export const SERVICE_NAMES = Object.keys(SERVICES) as readonly ServiceName[];

/** Whether a service has a part. */
export function hasPart(name: ServiceName, part: ProcessPart): boolean {
  const { parts }: Service = SERVICES[name];
  return parts.includes(part);
}

/** The services that have a part. */
export function servicesWith(part: ProcessPart): readonly ServiceName[] {
  return SERVICE_NAMES.filter((name) => hasPart(name, part));
}

/** The variable that holds the port on which a service answers its health checks. */
export function portVariableOf(name: ServiceName): 'SVC_PORT' | 'SVC_OPS_PORT' {
  return hasPart(name, 'edge') ? 'SVC_PORT' : 'SVC_OPS_PORT';
}

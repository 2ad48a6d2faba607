import { parse } from 'yaml';

export type Variables = Readonly<Record<string, string>>;

/** A service of the compose file, as far as running it without containers needs it. */
export interface ComposeService {
  readonly name: string;
  readonly image: string;
  readonly command: readonly string[];
  readonly environment: Variables;
  /** Names of the services that must be healthy before. */
  readonly dependsOn: readonly string[];
  readonly healthcheck: readonly string[];
  readonly secrets: readonly string[];
  readonly networks: readonly string[];
  /** Names of the volumes, by the folders in which the service has them. */
  readonly volumes: Variables;
  /** How many instances run. */
  readonly replicas: number;
  /** Whether an instance that ended by itself is started again. */
  readonly restarts: boolean;
  /** Time to end after the stop signal, in milliseconds. */
  readonly stopGraceMs: number;
}

interface RawService {
  readonly image?: string;
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, unknown>>;
  readonly depends_on?: Readonly<Record<string, unknown>>;
  readonly healthcheck?: { readonly test?: readonly string[] };
  readonly secrets?: readonly string[];
  readonly networks?: readonly string[];
  readonly volumes?: readonly string[];
  readonly restart?: string;
  readonly stop_grace_period?: string;
  readonly deploy?: { readonly replicas?: number };
}

const DEFAULT_STOP_GRACE = '10s';

/**
 * Reads the services with `${NAME}`, `${NAME:-default}` and `${NAME:?message}` filled in.
 * @throws Error for a required variable that is missing
 */
export function readComposeServices(text: string, variables: Variables): ReadonlyMap<string, ComposeService> {
  const raw = parse(text, { merge: true }) as { services: Record<string, RawService> };
  return new Map(Object.entries(raw.services).map(([name, service]) => [name, toService(name, service, variables)]));
}

/** Reads `NAME=value` lines, as `.env` holds them. */
export function readVariables(text: string): Variables {
  const pairs = text.split('\n').flatMap((line) => {
    const [, name, value] = /^(\w+)=(.*)$/.exec(line.trim()) ?? [];
    return name === undefined || value === undefined ? [] : [[name, value] as const];
  });
  return Object.fromEntries(pairs);
}

function toService(name: string, raw: RawService, variables: Variables): ComposeService {
  const fill = (value: unknown): string => interpolate(String(value), variables);
  return {
    name,
    image: fill(raw.image ?? ''),
    command: (raw.command ?? []).map(fill),
    environment: Object.fromEntries(Object.entries(raw.environment ?? {}).map(([key, value]) => [key, fill(value)])),
    dependsOn: Object.keys(raw.depends_on ?? {}),
    healthcheck: raw.healthcheck?.test ?? [],
    secrets: raw.secrets ?? [],
    networks: raw.networks ?? ['default'],
    volumes: volumesOf(raw.volumes ?? []),
    replicas: raw.deploy?.replicas ?? 1,
    restarts: raw.restart !== undefined && raw.restart !== 'no',
    stopGraceMs: 1_000 * Number.parseInt(raw.stop_grace_period ?? DEFAULT_STOP_GRACE, 10),
  };
}

/** `name:/folder`; files that are mounted from beside the compose file are left out. */
function volumesOf(mounts: readonly string[]): Variables {
  const pairs = mounts.filter((mount) => !mount.startsWith('.')).map((mount) => mount.split(':'));
  return Object.fromEntries(pairs.map(([name = '', folder = '']) => [folder, name]));
}

function interpolate(text: string, variables: Variables): string {
  return text.replace(
    /\$\{(\w+)(?::([-?])([^}]*))?\}/g,
    (_match, name: string, kind: string | undefined, rest: string | undefined) => {
      const value = variables[name];
      if (value) return value;
      if (kind === '?') throw new Error(`docker-compose.yml needs ${name}: ${rest}`);
      return rest ?? '';
    },
  );
}

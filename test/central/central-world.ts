import { join } from 'node:path';
import { createToken, createUser, type Scope } from '@workspace-graph/contracts';
import { type Central, type CentralOptions, startCentral } from '@workspace-graph/testing';
import { RestClient } from './rest-client.js';

export const ROOT = join(import.meta.dirname, '../..');
export const BOOTSTRAP = ['node', 'apps/graph-svc/dist/bundle/bootstrap.js', '--name', 'Ada', '--json'] as const;

export interface LogLine {
  readonly service: string;
  readonly text: string;
}

/** A central workspace of two gateways and two graph services, with its first administrator and everything it logged. */
export interface CentralWorld extends AsyncDisposable {
  readonly central: Central;
  readonly log: readonly LogLine[];
  /** Every token that was made. */
  readonly tokens: readonly string[];
  /** The first administrator, at the first gateway. */
  readonly ada: RestClient;
  /** Addresses of the two gateways. */
  readonly urls: readonly [string, string];
  /** A new user with a token of theirs, at the first gateway. */
  newcomer(name: string, scope: Scope): Promise<RestClient & { readonly userId: string; readonly tokenId: string }>;
}

export type WorldOptions = Partial<Pick<CentralOptions, 'variables' | 'replicas' | 'durable' | 'emulated'>>;

export async function startWorld(options: WorldOptions = {}): Promise<CentralWorld> {
  const log: LogLine[] = [];
  const central = await startCentral({
    root: ROOT,
    onLine: (service, text) => void log.push({ service, text }),
    ...options,
    replicas: { gateway: 2, 'graph-svc': 2, 'file-svc': 1, ...options.replicas },
  });
  try {
    return await withAdministrator(central, log);
  } catch (error) {
    await central.stop();
    throw error;
  }
}

async function withAdministrator(central: Central, log: readonly LogLine[]): Promise<CentralWorld> {
  const { secret } = JSON.parse(await central.exec('graph-svc', BOOTSTRAP)) as { secret: string };
  const [first = '', second = ''] = central.urls;
  const ada = new RestClient(first, secret);
  const tokens = [secret];
  return {
    central,
    log,
    tokens,
    ada,
    urls: [first, second],
    newcomer: async (name, scope) => {
      const user = await ada.call(createUser, { name, max_scope: scope });
      const made = await ada.call(createToken, { label: name, scope, user_id: user.id });
      tokens.push(made.secret);
      return Object.assign(new RestClient(first, made.secret), { userId: user.id, tokenId: made.token.id });
    },
    [Symbol.asyncDispose]: async () => void (await central.stop()),
  };
}

/** Waits for a condition. @throws Error after `withinMs` */
export async function until(
  what: string,
  condition: () => boolean | Promise<boolean>,
  withinMs = 60_000,
): Promise<void> {
  const deadlineMs = Date.now() + withinMs;
  while (!(await condition())) {
    if (Date.now() > deadlineMs) throw new Error(`Not within ${withinMs} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

/** Status of a route that needs no credential; 0 while nobody answers. */
export function statusOf(url: string, path: string): Promise<number> {
  return fetch(new URL(path, url), { signal: AbortSignal.timeout(5_000) }).then(
    async (response) => {
      await response.text();
      return response.status;
    },
    () => 0,
  );
}

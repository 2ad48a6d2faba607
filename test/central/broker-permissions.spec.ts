import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { connect, type NatsConnection, PermissionViolationError } from '@nats-io/transport-node';
import { NatsBus, whenReady } from '@workspace-graph/bus';
import { authenticate, listNodes } from '@workspace-graph/contracts';
import { createLogger, SERVICE_NAMES } from '@workspace-graph/platform';
import { type NatsServer, startNats } from '@workspace-graph/testing';
import { ROOT, until } from './central-world.js';

/** One that a broker could take for a number, were it not quoted. */
const PASSWORDS: Readonly<Record<string, string>> = { gateway: '1234567890', 'graph-svc': '12e45k' };
const caller = {
  user_id: '01890000-0000-7000-8000-000000000001',
  scope: 'manage',
  credential_id: null,
  via: 'rest',
} as const;
const EVENT = {
  type: 'credential.ended',
  id: 'e1',
  payload: { user_id: caller.user_id, credential_id: null },
} as const;

let broker: NatsServer;
const connections: NatsConnection[] = [];
const buses: NatsBus[] = [];

beforeAll(async () => {
  const config = readFileSync(join(ROOT, 'deploy/nats.conf'), 'utf8').replace(/^(port|http): .*$/gm, '');
  // What `deploy/prepare.mjs` makes of the secrets, which compose-file.spec.ts looks at.
  const passwords = SERVICE_NAMES.map(
    (name) => `NATS_${name.toUpperCase().replaceAll('-', '_')}_PASSWORD: "${PASSWORDS[name] ?? 'other'}"\n`,
  ).join('');
  broker = await startNats({ own: true, config, files: { '/run/secrets/nats_passwords': passwords } });
});
afterEach(async () => {
  await Promise.all(connections.splice(0).map((connection) => connection.close()));
  await Promise.all(buses.splice(0).map((bus) => bus.close()));
});
afterAll(() => broker.stop());

async function enter(user: string): Promise<NatsConnection> {
  const connection = await connect({ servers: broker.url, user, pass: PASSWORDS[user] ?? '', reconnect: false });
  connections.push(connection);
  return connection;
}

async function joined(user: string): Promise<NatsBus> {
  const bus = NatsBus.connect({
    servers: broker.url,
    name: user,
    user,
    password: PASSWORDS[user] ?? '',
    logger: createLogger({ process: user, level: 'fatal' }),
  });
  buses.push(bus);
  await whenReady(bus, AbortSignal.timeout(15_000));
  return bus;
}

/** What the broker says against a subject; undefined when it takes it. */
async function refusalOf(user: string, attempt: (connection: NatsConnection) => void): Promise<string | undefined> {
  const connection = await enter(user);
  let refusal: string | undefined;
  void (async () => {
    for await (const status of connection.status()) {
      if (status.type === 'error' && status.error instanceof PermissionViolationError) refusal = status.error.operation;
    }
  })();
  attempt(connection);
  await connection.flush();
  await new Promise((resolve) => setTimeout(resolve, 30));
  return refusal;
}

describe('the accounts of the services on the broker', () => {
  it('let each do its part: calls, answers, events [identity.service-accounts]', async () => {
    const [service, gateway] = await Promise.all([joined('graph-svc'), joined('gateway')]);
    await service.serve('graph', [listNodes], async () => ({ items: [], next_cursor: null }));
    await service.serve('identity', [authenticate], async () => ({ ok: true }));
    const envelope = { callId: 'c1', requestId: 'r1', caller };
    expect(await gateway.call(listNodes, {}, envelope)).toEqual({ items: [], next_cursor: null });
    const credential = { kind: 'token', sha256: 'a'.repeat(64) } as const;
    expect(await gateway.call(authenticate, { credential }, { ...envelope, callId: 'c2' })).toEqual({ ok: true });
    const heard: string[] = [];
    await gateway.subscribe(['credential.ended', 'access.changed', 'graph.changed'], ({ id }) => void heard.push(id));
    await service.publish(EVENT);
    await until('the gateway hears of it', () => heard.length === 1);
  });

  it.each([
    ['gateway', 'serve an operation of the graph', 'svc.op.graph.list_nodes', 'graph'],
    ['gateway', 'serve as a member of no group', 'svc.op.graph.list_nodes', undefined],
    ['gateway', 'serve authentication', 'svc.op.identity.authenticate', 'identity'],
    ['gateway', 'read the answers for others', 'svc.inbox.graph-svc.>', undefined],
    ['gateway', 'hear everything', '>', undefined],
    ['gateway', 'hear who gives up', 'svc.cancel.graph', undefined],
    ['gateway', 'watch the broker', '$SYS.>', undefined],
    ['graph-svc', 'read the answers for the gateway', 'svc.inbox.gateway.>', undefined],
    ['graph-svc', 'read all answers', 'svc.inbox.>', undefined],
    ['graph-svc', 'listen to calls beside its group', 'svc.op.graph.list_nodes', undefined],
    ['graph-svc', 'listen to events', 'svc.event.credential.ended', undefined],
    ['graph-svc', 'hear everything', '>', undefined],
  ])(
    'do not let %s %s [identity.service-accounts, bus.forbidden-publish-noticed]',
    async (user, _what, subject, queue) => {
      expect(
        await refusalOf(
          user,
          (connection) => void connection.subscribe(subject, { ...(queue && { queue }), callback: () => undefined }),
        ),
      ).toBe('subscription');
    },
  );

  it.each([
    ['gateway', 'publish an event', 'svc.event.credential.ended'],
    ['gateway', 'answer a call', 'svc.inbox.gateway.bus.attempt'],
    ['gateway', 'publish what nobody has thought of', 'svc.anything'],
    ['graph-svc', 'call an operation', 'svc.op.graph.purge_node'],
    ['graph-svc', 'ask who somebody is', 'svc.op.identity.authenticate'],
    ['graph-svc', 'give up a call of others', 'svc.cancel.graph'],
  ])('do not let %s %s [identity.service-accounts, identity.envelope.gateway-only]', async (user, _what, subject) => {
    expect(await refusalOf(user, (connection) => connection.publish(subject, '{}'))).toBe('publish');
  });

  it('let nobody in without a password or with that of another [identity.service-accounts]', async () => {
    const attempts = [
      {},
      { user: 'gateway' },
      { user: 'gateway', pass: PASSWORDS['graph-svc'] },
      { user: 'admin', pass: 'admin' },
    ];
    for (const credentials of attempts) {
      await expect(
        connect({ servers: broker.url, reconnect: false, ...credentials }).then((connection) =>
          connections.push(connection),
        ),
      ).rejects.toThrow(/authorization/i);
    }
  });
});

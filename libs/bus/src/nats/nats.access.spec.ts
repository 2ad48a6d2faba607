import { connect, nkeys } from '@nats-io/transport-node';
import { RawJson } from '@workspace-graph/contracts';
import { startNats } from '@workspace-graph/testing';
import { AT_ONCE_MS, envelope, eventually, failureOf, gate, PROBE, WAIT_MS } from '../conformance/probes.js';
import { whenReady } from '../status.js';
import { NatsBus } from './nats.bus.js';
import type { NatsBusOptions } from './options.js';
import { type NatsRole, natsPermissions, natsPermissionsConfig } from './permissions.js';

const ROLES: readonly NatsRole[] = [
  { user: 'gateway', calls: ['graph', 'identity'], listens: ['graph.changed'] },
  { user: 'graph', serves: ['graph'], publishes: ['graph.changed'] },
  { user: 'identity', serves: ['identity'] },
];
const USERS = ROLES.map(
  (role) => `{ user: ${role.user}, password: "p@ss/word", permissions: ${natsPermissionsConfig(role)} }`,
);

interface LogLine {
  readonly level: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly message: string;
}

describe('access control on NATS', () => {
  let broker: Awaited<ReturnType<typeof startNats>>;
  let log: LogLine[] = [];
  const buses: NatsBus[] = [];

  beforeAll(async () => {
    broker = await startNats({ own: true, config: `authorization { users: [${USERS.join(', ')}] }` });
  });
  afterEach(async () => {
    await Promise.all(buses.splice(0).map((bus) => bus.close()));
    log = [];
  });
  afterAll(() => broker.stop());

  function enter(options: Partial<NatsBusOptions> & { name: string }): NatsBus {
    const at = (level: string) => (fields: LogLine['fields'], message: string) =>
      void log.push({ level, fields, message });
    const logger = { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
    const bus = NatsBus.connect({ servers: broker.url, user: options.name, password: 'p@ss/word', logger, ...options });
    buses.push(bus);
    return bus;
  }

  async function join(name: string, options: Partial<NatsBusOptions> = {}): Promise<NatsBus> {
    const bus = enter({ name, ...options });
    await whenReady(bus, AbortSignal.timeout(15_000));
    return bus;
  }

  it('lets each role do its part: calls, large replies, cancelling, events', async () => {
    const graph = await join('graph');
    const gateway = await join('gateway');
    const cancelled = gate();
    await graph.serve('graph', [PROBE], async (_operation, input, context) => {
      if ((input as { large: boolean }).large) return new RawJson(JSON.stringify('x'.repeat(3_000_000)));
      await new Promise<void>((resolve) => context.signal.addEventListener('abort', () => resolve()));
      cancelled.open();
      return 'unheard';
    });
    expect(((await gateway.call(PROBE, { large: true }, envelope())) as RawJson).text).toHaveLength(3_000_002);
    expect(
      await failureOf(gateway.call(PROBE, { large: false }, envelope(), { signal: AbortSignal.timeout(100) })),
    ).toMatchObject({ code: 'REQUEST_CANCELLED' });
    await cancelled.promise;
    const heard = gate<string>();
    await gateway.subscribe(['graph.changed'], (event) => heard.open(event.id));
    await graph.publish({ type: 'graph.changed', id: 'e1', payload: { node_ids: [], action: 'a' } });
    expect(await heard.promise).toBe('e1');
    expect(log.filter((line) => line.level === 'error')).toEqual([]);
  });

  it('refuses a forbidden call at once and tells the subject to the log only [bus.forbidden-publish-noticed]', async () => {
    const identity = await join('identity', { settings: { graceMs: WAIT_MS } });
    const startMs = performance.now();
    const error = await failureOf(identity.call(PROBE, {}, envelope(), { timeoutMs: WAIT_MS }));
    expect(performance.now() - startMs).toBeLessThan(AT_ONCE_MS);
    expect(error).toMatchObject({ code: 'SERVICE_UNAVAILABLE', message: expect.not.stringContaining('svc.') });
    expect(log.find((line) => line.level === 'error')?.fields).toEqual({
      subject: 'svc.op.graph.probe',
      operation: 'publish',
    });
  });

  it('refuses a call at once when its answer could not be heard', async () => {
    const gateway = await join('gateway', { name: 'misnamed', user: 'gateway', settings: { graceMs: WAIT_MS } });
    await eventually('the refusal is known', () => log.some((line) => line.level === 'error'));
    const startMs = performance.now();
    const call = gateway.call(PROBE, {}, envelope(), { timeoutMs: WAIT_MS });
    expect(await failureOf(call)).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(performance.now() - startMs).toBeLessThan(AT_ONCE_MS);
  });

  it('tells the start of a service that it may not serve or listen [bus.forbidden-publish-noticed]', async () => {
    const identity = await join('identity');
    await expect(identity.serve('graph', [PROBE], async () => 'never')).rejects.toThrow(
      'NATS forbids this user to subscribe to svc.',
    );
    await expect(identity.subscribe(['graph.changed'], () => undefined)).rejects.toThrow('svc.event.graph.changed');
  });

  it('refuses a forbidden event [bus.forbidden-publish-noticed]', async () => {
    const identity = await join('identity');
    expect(
      await failureOf(identity.publish({ type: 'graph.changed', id: 'e', payload: { node_ids: [], action: 'a' } })),
    ).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  });

  it.each([
    ['identity', 'svc.op.graph.probe', 'graph'],
    ['identity', 'svc.inbox.gateway.>', undefined],
    ['identity', 'svc.cancel.graph', undefined],
    ['graph', 'svc.op.graph.probe', undefined],
    ['graph', '>', undefined],
    ['gateway', 'svc.op.graph.*', 'graph'],
  ])('keeps %s from listening to %s (group %s) [identity.service-accounts]', async (user, subject, queue) => {
    const connection = await connect({ servers: broker.url, user, pass: 'p@ss/word' });
    let refusal: Error | null = null;
    connection.subscribe(subject, {
      queue,
      callback: (error) => {
        refusal = error;
      },
    });
    await eventually('the broker refuses', () => refusal !== null);
    expect(refusal).toMatchObject({ name: 'PermissionViolationError' });
    await connection.close();
  });

  it('takes credentials from the URL', async () => {
    await join('gateway', {
      servers: `nats://gateway:p%40ss%2Fword@127.0.0.1:${broker.port}`,
      user: undefined,
      password: undefined,
    });
  });

  it('goes on trying with credentials that are refused, and never logs them', async () => {
    const bus = enter({
      name: 'gateway',
      servers: `nats://gateway:wr0ng@127.0.0.1:${broker.port}`,
      user: undefined,
      password: undefined,
    });
    await eventually('it has tried more than once', () => log.filter((line) => line.level === 'error').length > 1);
    expect(bus.status).toBe('connecting');
    expect(log[0]?.message).toContain('rejects the credentials');
    expect(JSON.stringify(log.map(({ fields, message }) => [fields, message, String(fields['err'])]))).not.toContain(
      'wr0ng',
    );
  });
});

describe('credentials on NATS', () => {
  it.each(['token', 'nkey'])('connects by %s', async (form) => {
    const pair = nkeys.createUser();
    const config =
      form === 'token'
        ? 'authorization { token: t0ken }'
        : `authorization { users: [{ nkey: ${pair.getPublicKey()} }] }`;
    const broker = await startNats({ own: true, config });
    const silent = (): void => undefined;
    const credentials = form === 'token' ? { token: 't0ken' } : { nkeySeed: new TextDecoder().decode(pair.getSeed()) };
    const bus = NatsBus.connect({
      servers: broker.url,
      name: 'any',
      logger: { debug: silent, info: silent, warn: silent, error: silent },
      ...credentials,
    });
    await whenReady(bus, AbortSignal.timeout(15_000));
    await bus.close();
    await broker.stop();
  });
});

describe('permissions as data', () => {
  it('gives a service its own subjects and the way back to its callers', () => {
    expect(
      natsPermissions({ user: 'graph', serves: ['graph'], calls: ['identity'], publishes: ['access.changed'] }),
    ).toEqual({
      publish: {
        allow: [
          'svc.op.identity.*',
          'svc.cancel.identity',
          'svc.find.identity',
          'svc.to.identity.*.*',
          'svc.flow.identity.*.*',
          'svc.inbox.*.*.*',
          'svc.event.access.changed',
        ],
      },
      subscribe: {
        allow: [
          'svc.inbox.graph.>',
          'svc.op.graph.* graph',
          'svc.cancel.graph',
          'svc.find.graph',
          'svc.to.graph.*.*',
          'svc.flow.graph.*.*',
        ],
      },
    });
  });

  it('gives a caller no way into the inboxes of others', () => {
    expect(natsPermissions({ user: 'gateway', calls: ['graph'], listens: ['graph.changed'] })).toEqual({
      publish: {
        allow: ['svc.op.graph.*', 'svc.cancel.graph', 'svc.find.graph', 'svc.to.graph.*.*', 'svc.flow.graph.*.*'],
      },
      subscribe: { allow: ['svc.inbox.gateway.>', 'svc.event.graph.changed'] },
    });
  });

  it('refuses a user name that would widen a subject', () => {
    for (const user of ['*', '>', 'a.b', '']) expect(() => natsPermissions({ user })).toThrow('user');
  });
});

import { connect, headers, type Msg, type NatsConnection } from '@nats-io/transport-node';
import { type Caller, RawJson } from '@workspace-graph/contracts';
import { startNats } from '@workspace-graph/testing';
import type { BusMedium } from '../conformance/bus-conformance.js';
import { AT_ONCE_MS, envelope, eventually, failureOf, gate, PROBE, pause, WAIT_MS } from '../conformance/probes.js';
import { Stage } from '../conformance/stage.js';
import { envelopeFields } from './headers.js';
import { NatsBus } from './nats.bus.js';

const SUBJECT = 'svc.op.graph.probe';

function headersOf(record: Record<string, string>): ReturnType<typeof headers> {
  const made = headers();
  for (const [name, value] of Object.entries(record)) made.set(name, value);
  return made;
}

/** Headers of a call by somebody. */
const CALLED = envelopeFields(envelope({ callId: 'c', requestId: 'r' }));

/** Against peers that speak the protocol badly, or stop speaking. */
describe('the protocol on NATS', () => {
  let broker: Awaited<ReturnType<typeof startNats>>;
  let stage: Stage;
  let raw: NatsConnection;

  beforeAll(async () => {
    broker = await startNats({ own: true });
  });
  beforeEach(async () => {
    const medium: BusMedium = {
      open: (options) => NatsBus.connect({ ...options, servers: broker.url, name: 'party' }),
      close: async () => undefined,
    };
    stage = new Stage(medium);
    raw = await connect({ servers: broker.url });
  });
  afterEach(async () => {
    await raw.close();
    await stage.leave();
  });
  afterAll(() => broker.stop());

  /** A peer that takes calls as an instance would. */
  async function impostor(onRequest: (message: Msg) => void): Promise<void> {
    raw.subscribe(SUBJECT, { queue: 'graph', callback: (_error, message) => onRequest(message) });
    await raw.flush();
  }

  it('repeats a call under the same id when its instance shows no sign of life', async () => {
    const ids: string[] = [];
    await impostor((message) => {
      ids.push(message.headers?.get('svc-call') ?? '');
      if (ids.length > 1) message.respond('"at last"');
    });
    const call = envelope();
    const bus = await stage.join();
    const startMs = performance.now();
    expect(await bus.call(PROBE, {}, call, { timeoutMs: WAIT_MS })).toBe('at last');
    const tookMs = performance.now() - startMs;
    expect(tookMs).toBeGreaterThan(950);
    expect(tookMs).toBeLessThan(AT_ONCE_MS);
    expect(ids).toEqual([call.callId, call.callId]);
  });

  it('brings a call to another instance while the one that works on it pauses [bus.unwell-instance.left]', async () => {
    const begun = gate();
    const { serving } = await stage.server(
      (_input, { signal }) => {
        begun.open();
        return new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
      },
      { drainMs: 50 },
    );
    const bus = await stage.join();
    const call = bus.call(PROBE, {}, envelope());
    await begun.promise;
    await serving.pause();
    await stage.server(() => 'elsewhere');
    expect(await call).toBe('elsewhere');
  });

  it('goes around an instance that is silent, once one call has noticed [bus.unwell-instance.left]', async () => {
    let lost = 0;
    await impostor(() => {
      lost += 1;
    });
    for (const name of ['first', 'second']) await stage.server(() => name);
    const bus = await stage.join();
    while (lost === 0) await bus.call(PROBE, {}, envelope());
    const answers = [];
    for (let number = 0; number < 40; number += 1) answers.push(await bus.call(PROBE, {}, envelope()));
    expect(lost).toBe(1);
    expect(new Set(answers)).toEqual(new Set(['first', 'second']));
  });

  it('declines what reaches an instance that pauses, and hides it from who asks for one [bus.refusal.tried-elsewhere]', async () => {
    const { serving } = await stage.server(() => 'taken');
    const find = (operation: string): Promise<Msg | undefined> =>
      raw.request('svc.find.graph', operation, { timeout: 500 }).catch(() => undefined);
    const address = (await find('probe'))?.headers?.get('svc-from');
    const fields = headersOf({ ...CALLED, 'svc-timeout-ms': '900' });
    const call = async (operation: string): Promise<unknown[]> => {
      const reply = await raw.request(`svc.to.${address}.${operation}`, '{}', { timeout: 5_000, headers: fields });
      return [reply.headers?.get('svc-kind'), reply.headers?.get('svc-from'), reply.json()];
    };
    const declined = ['declined', address, { code: 'SERVICE_UNAVAILABLE', request_id: 'r' }];
    expect(await find('newer')).toBeUndefined();
    expect(await call('newer')).toMatchObject(declined);
    await serving.pause();
    expect(await find('probe')).toBeUndefined();
    expect(await call('probe')).toMatchObject(declined);
    await serving.resume();
    expect(await call('probe')).toEqual([undefined, undefined, 'taken']);
  });

  it('tells whoever has a repeated call too to stop when one has answered', async () => {
    const stopped: string[] = [];
    raw.subscribe('svc.cancel.graph', { callback: (_error, message) => void stopped.push(message.string()) });
    let attempts = 0;
    await impostor((message) => {
      attempts += 1;
      if (attempts > 1) message.respond('"at last"');
    });
    const [bus, first, second] = [await stage.join(), envelope(), envelope()];
    expect(await bus.call(PROBE, {}, first)).toBe('at last');
    expect(await bus.call(PROBE, {}, second)).toBe('at last');
    await eventually('others are told', () => stopped.length > 0);
    expect(stopped).toEqual([first.callId]);
  });

  it('takes the first answer, also when it comes late to an attempt given up for lost', async () => {
    const messages: Msg[] = [];
    await impostor((message) => {
      messages.push(message);
      if (messages.length === 2) messages[0]?.respond('"late"');
    });
    expect(await stage.ask({})).toBe('late');
  });

  it('drops an answer that comes after the time is over [bus.timeout]', async () => {
    await impostor((message) => setTimeout(() => message.respond('"too late"'), 200));
    const bus = await stage.join();
    expect(await failureOf(bus.call(PROBE, {}, envelope(), { timeoutMs: 100 }))).toMatchObject({ code: 'TIMEOUT' });
    await pause(200);
    expect(stage.log.filter((entry) => entry.level !== 'info')).toEqual([]);
  });

  it('sends a call no faster than its answers fail to come', async () => {
    let attempts = 0;
    await impostor(() => {
      attempts += 1;
    });
    expect(await failureOf(stage.ask({}, { timeoutMs: 4_000 }))).toMatchObject({ code: 'TIMEOUT' });
    expect(attempts).toBe(3);
  });

  it('starts over when a part of a reply is missing, and stops the transfer', async () => {
    const told: string[] = [];
    raw.subscribe('svc.flow.graph.impostor.*', { callback: (_error, message) => void told.push(message.string()) });
    let attempts = 0;
    await impostor((message) => {
      attempts += 1;
      if (attempts > 1) return void message.respond('"whole"');
      for (const part of ['0/4', '2/4', '3/4']) {
        message.respond('"', {
          headers: headersOf({ 'svc-kind': 'json', 'svc-part': part, 'svc-from': 'graph.impostor' }),
        });
      }
    });
    expect(await stage.ask({})).toBe('whole');
    await eventually('the transfer is stopped', () => told.includes('stop'));
    expect(told[0]).toBe('1');
  });

  it('publishes nothing to a subject that a peer makes up', async () => {
    const heard: string[] = [];
    raw.subscribe('svc.>', { callback: (_error, message) => void heard.push(message.subject) });
    await impostor((message) => {
      message.respond('"', {
        headers: headersOf({
          'svc-kind': 'json',
          'svc-part': '0/4',
          'svc-from': 'graph.x.svc.op.identity.create_token',
        }),
      });
      message.respond('"', { headers: headersOf({ 'svc-kind': 'json', 'svc-part': '0/4', 'svc-from': '>.x' }) });
    });
    expect(await failureOf(stage.ask({}, { timeoutMs: 300 }))).toMatchObject({ code: 'TIMEOUT' });
    expect(heard.filter((subject) => !subject.startsWith('svc.inbox.') && subject !== SUBJECT)).toEqual([]);
    expect(stage.errors().length).toBe(2);
  });

  it.each([
    [
      'an error code of a newer version',
      { 'svc-kind': 'error' },
      '{"code":"NOT_YET_KNOWN","message":"m","request_id":"r"}',
    ],
    ['an error that is not JSON', { 'svc-kind': 'error' }, '<html>'],
    ['an answer that is not JSON', undefined, '{'],
  ])('makes INTERNAL of %s', async (_what, fields, body) => {
    await impostor((message) => void message.respond(body, { headers: fields && headersOf(fields) }));
    expect(await failureOf(stage.ask({}))).toMatchObject({ code: 'INTERNAL' });
  });

  it('answers a request without its headers with INTERNAL and does not run it', async () => {
    let runs = 0;
    await stage.server(() => (runs += 1));
    const broken = [
      undefined,
      headersOf({ 'svc-call': 'c', 'svc-request': 'r' }),
      headersOf({ 'svc-call': 'c', 'svc-request': 'r', 'svc-timeout-ms': '900', 'svc-caller': 'e30' }),
    ];
    for (const fields of broken) {
      const reply = await raw.request(SUBJECT, '{}', { timeout: 1_000, headers: fields });
      expect([reply.headers?.get('svc-kind'), reply.json<{ code: string }>().code]).toEqual(['error', 'INTERNAL']);
    }
    raw.publish(SUBJECT, '{}');
    await pause(50);
    expect(runs).toBe(0);
    expect(stage.errors()).toHaveLength(3);
  });

  it('answers a body that is not JSON with VALIDATION_FAILED', async () => {
    await stage.server(() => 'never');
    const fields = headersOf({ ...CALLED, 'svc-timeout-ms': '900' });
    const reply = await raw.request(SUBJECT, '{', { timeout: 1_000, headers: fields });
    expect(reply.json()).toMatchObject({ code: 'VALIDATION_FAILED', request_id: 'r' });
  });

  it('drops what it does not know of a caller, and refuses a caller of less than it knows', async () => {
    await stage.server((_input, context) => context.envelope.caller);
    const bus = await stage.join();
    const newer = { ...envelope().caller, tenant: 't1' } as Caller;
    expect(await bus.call(PROBE, {}, envelope({ caller: newer }))).toEqual(envelope().caller);
    const less = { user_id: 'u1' } as Caller;
    expect(await failureOf(bus.call(PROBE, {}, envelope({ caller: less })))).toMatchObject({ code: 'INTERNAL' });
  });

  it('frees an instance of a large reply that nobody wants any more', async () => {
    const begun = gate();
    const large = new RawJson(JSON.stringify('x'.repeat(100_000_000)));
    const { serving } = await stage.server(
      () => {
        begun.open();
        return large;
      },
      { drainMs: WAIT_MS },
    );
    const giveUp = new AbortController();
    const call = failureOf(stage.ask({}, { signal: giveUp.signal, timeoutMs: WAIT_MS }));
    await begun.promise;
    await pause(20);
    giveUp.abort();
    expect(await call).toMatchObject({ code: 'REQUEST_CANCELLED' });
    const startMs = performance.now();
    await serving.stop();
    // Well before the time of the call is over.
    expect(performance.now() - startMs).toBeLessThan(AT_ONCE_MS);
  });
});

describe('a broker that takes less than the product sends', () => {
  it('lowers the limit of requests and cuts replies smaller', async () => {
    const broker = await startNats({ own: true, config: 'max_payload: 60000' });
    const stage = new Stage({
      open: (options) => NatsBus.connect({ ...options, servers: broker.url, name: 'party' }),
      close: async () => undefined,
    });
    await stage.server((input) => 'x'.repeat((input as { size: number }).size));
    expect(await stage.ask({ size: 1_000_000 })).toHaveLength(1_000_000);
    const error = await failureOf(stage.ask({ text: 'x'.repeat(60_000) }));
    expect(error).toMatchObject({ code: 'PAYLOAD_TOO_LARGE', details: { limit_bytes: 60_000 - 16 * 1_024 } });
    await stage.leave();
    await broker.stop();
  });
});

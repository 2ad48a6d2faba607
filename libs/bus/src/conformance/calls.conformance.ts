import { type Caller, RawJson, serviceCaller } from '@workspace-graph/contracts';
import type { CallContext } from '../bus.js';
import { envelope, failureOf, IDENTITY_PROBE, PROBE } from './probes.js';
import type { Stage } from './stage.js';

export function callScenarios(stage: () => Stage): void {
  it('answers a call with what the handler returns [bus.request-reply, bus.transports-alike]', async () => {
    await stage().server((input) => ({ heard: input }));
    expect(await stage().ask({ name: 'Žluťoučký kůň 🐎', list: [1, null, { deep: true }] })).toEqual({
      heard: { name: 'Žluťoučký kůň 🐎', list: [1, null, { deep: true }] },
    });
  });

  it('gives each of many calls at once its own answer [bus.request-reply]', async () => {
    await stage().server((input) => input);
    const bus = await stage().join();
    const asked = Array.from({ length: 300 }, (_, number) => ({ number }));
    expect(await Promise.all(asked.map((input) => bus.call(PROBE, input, envelope())))).toEqual(asked);
  });

  it('makes of values what JSON makes of them, in both directions', async () => {
    let heard: unknown;
    await stage().server((input) => {
      heard = input;
      return { at: new Date(0), gone: undefined, list: [undefined], odd: Number.NaN };
    });
    const answer = await stage().ask({ at: new Date(0), gone: undefined, list: [undefined] });
    expect(heard).toStrictEqual({ at: '1970-01-01T00:00:00.000Z', list: [null] });
    expect(answer).toStrictEqual({ at: '1970-01-01T00:00:00.000Z', list: [null], odd: null });
  });

  it('carries the absence of an answer', async () => {
    await stage().server(() => undefined);
    expect(await stage().ask({})).toBeUndefined();
  });

  it('refuses what JSON cannot hold as a fault, on either side, without telling which', async () => {
    await stage().server(() => ({ big: 1n }));
    const sent = await failureOf(stage().ask({ big: 1n }));
    const returned = await failureOf(stage().ask({}));
    expect([sent, returned]).toEqual([
      expect.objectContaining({ code: 'INTERNAL' }),
      expect.objectContaining({ code: 'INTERNAL' }),
    ]);
    expect((returned as Error).message).not.toContain('BigInt');
  });

  it('hands RawJson on as the text it is', async () => {
    const text = '{ "spaced" : [1,  2],\n"big": 12345678901234567890, "ř": "\\u0159" }';
    await stage().server(() => new RawJson(text));
    const answer = await stage().ask({});
    expect(answer).toBeInstanceOf(RawJson);
    expect((answer as RawJson).text).toBe(text);
  });

  it.each([
    ['of a few bytes', 1],
    ['of megabytes', 3_000_000],
  ])('hands on what is told beside RawJson %s', async (_what, length) => {
    const facts = { version: 7, applied: true, token: 'ř "\r\n"', unchanged: false };
    await stage().server((input) => new RawJson('"x"'.padEnd(length), (input as { bare: boolean }).bare ? {} : facts));
    expect(((await stage().ask({ bare: false })) as RawJson).facts).toEqual(facts);
    expect(((await stage().ask({ bare: true })) as RawJson).facts).toEqual({});
  });

  it('gives the handler the envelope of the call', async () => {
    const seen: CallContext[] = [];
    await stage().server((_input, context) => void seen.push(context));
    const bus = await stage().join();
    const full = envelope({
      traceparent: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
      caller: { user_id: 'ř', scope: 'manage', credential_id: null, via: 'mcp', home_node_id: 'n1' },
    });
    const ofDevice = envelope({
      caller: { user_id: 'u1', scope: 'read', credential_id: null, via: 'sync', device_id: 'd1' },
    });
    const ofService = envelope({ caller: serviceCaller('edge') });
    for (const each of [full, ofDevice, ofService]) await bus.call(PROBE, {}, each);
    expect(seen.map((context) => context.envelope)).toEqual([full, ofDevice, ofService]);
  });

  it('hands a call of nobody, or in the name of the system, over inside one process alone [bus.caller.named]', async () => {
    const seen: (Caller | null)[] = [];
    await stage().server((_input, context) => void seen.push(context.envelope.caller));
    const bus = await stage().join();
    const service = serviceCaller('edge');
    const forged: readonly (Caller | null)[] = [
      null,
      { ...service, scope: 'manage', service: undefined },
      { user_id: 'u1', scope: 'manage', credential_id: null, via: 'system' },
      { ...service, scope: 'manage' },
      { ...service, user_id: 'u1' },
      { ...service, device_id: 'd1' },
    ];
    for (const caller of forged) {
      const call = bus.call(PROBE, {}, envelope({ caller }));
      if (stage().medium.isOneProcess) await call;
      else expect(await failureOf(call)).toMatchObject({ code: 'UNAUTHENTICATED' });
    }
    expect(seen).toHaveLength(stage().medium.isOneProcess ? forged.length : 0);
  });

  it('refuses ids that a header could not carry', async () => {
    await stage().server(() => 'never');
    const bus = await stage().join();
    for (const requestId of ['', 'two words', 'line\r\nbreak', 'á', 'x'.repeat(201)]) {
      expect(await failureOf(bus.call(PROBE, {}, envelope({ requestId })))).toMatchObject({ code: 'INTERNAL' });
    }
  });

  it('shares nothing mutable between the caller and the handler', async () => {
    const kept = { list: [1] };
    await stage().server((input) => {
      (input as typeof kept).list.push(2);
      return kept;
    });
    const bus = await stage().join();
    const input = { list: [1] };
    const answer = (await bus.call(PROBE, input, envelope())) as typeof kept;
    answer.list.push(3);
    expect([input, kept]).toEqual([{ list: [1] }, { list: [1] }]);
  });

  it('keeps a handler from changing who calls', async () => {
    await stage().server((_input, context) => {
      Object.assign(context.envelope.caller ?? {}, { scope: 'manage' });
    });
    const call = envelope();
    expect(await failureOf((await stage().join()).call(PROBE, {}, call))).toMatchObject({ code: 'INTERNAL' });
    expect(call.caller?.scope).toBe('write');
  });

  it('lets a handler call another owner within the time it has left', async () => {
    const { bus: graph } = await stage().server(async (_input, context) =>
      graph.call(IDENTITY_PROBE, {}, context.envelope, { signal: context.signal, timeoutMs: context.remainingMs() }),
    );
    const identity = await stage().join();
    await identity.serve('identity', [IDENTITY_PROBE], async (_operation, _input, context) => ({
      user: context.envelope.caller?.user_id,
      leftMs: context.remainingMs(),
    }));
    const answer = (await stage().ask({}, { timeoutMs: 3_000 })) as { user: string; leftMs: number };
    expect(answer.user).toBe('u1');
    expect(answer.leftMs).toBeGreaterThan(500);
    expect(answer.leftMs).toBeLessThanOrEqual(3_000);
  });
}

import { ServiceError } from '@workspace-graph/contracts';
import type { CallContext } from '../bus.js';
import { DEFAULT_SETTINGS } from '../settings.js';
import { envelope, eventually, failureOf, gate, PROBE, pause, SIDE_PROBE, WAIT_MS } from './probes.js';
import type { Stage } from './stage.js';

export function failureScenarios(stage: () => Stage): void {
  it('carries a refusal with its code, message and details [bus.errors.typed]', async () => {
    await stage().server(() => {
      throw new ServiceError(
        'CONFLICT',
        'Uzel má novější verzi.',
        { current: { version: 3 } },
        { cause: new Error('hidden') },
      );
    });
    const error = await failureOf(stage().ask({}));
    expect(error).toBeInstanceOf(ServiceError);
    expect(error).toMatchObject({
      code: 'CONFLICT',
      message: 'Uzel má novější verzi.',
      details: { current: { version: 3 } },
    });
    expect((error as Error).cause).toBeUndefined();
    expect(stage().errors()).toEqual([]);
  });

  it('tells nothing of an unexpected failure but its code, and logs it where it happened [bus.errors.unexpected-hidden]', async () => {
    const failure = new Error('password is hunter2');
    await stage().server(() => {
      throw failure;
    });
    const call = envelope();
    const error = await failureOf((await stage().join()).call(PROBE, {}, call));
    expect(error).toMatchObject({ code: 'INTERNAL' });
    expect(JSON.stringify((error as ServiceError).toBody('r'))).not.toContain('hunter2');
    expect(
      stage()
        .errors()
        .map((entry) => entry.fields),
    ).toEqual([{ err: failure, operation: 'probe', request_id: call.requestId }]);
  });

  it('logs why something below a service failed, which its refusal does not tell', async () => {
    const reason = new Error('the disk of the database is full');
    await stage().server(() => {
      throw new ServiceError('SERVICE_UNAVAILABLE', 'Busy.', undefined, { cause: reason });
    });
    const call = envelope();
    const error = await failureOf((await stage().join()).call(PROBE, {}, call));
    expect(error).toMatchObject({ code: 'SERVICE_UNAVAILABLE', message: 'Busy.' });
    expect(
      stage()
        .warnings()
        .map((entry) => entry.fields),
    ).toContainEqual({ err: reason, code: 'SERVICE_UNAVAILABLE', operation: 'probe', request_id: call.requestId });
  });

  it('ends a call with TIMEOUT when its time is over, and tells the handler [bus.timeout]', async () => {
    const seen = gate<CallContext>();
    await stage().server(
      (_input, context) => {
        seen.open(context);
        return new Promise(() => undefined);
      },
      { drainMs: 50 },
    );
    const startMs = performance.now();
    expect(await failureOf(stage().ask({}, { timeoutMs: 200 }))).toMatchObject({ code: 'TIMEOUT' });
    expect(performance.now() - startMs).toBeLessThan(PROBE.timeoutMs / 2);
    const context = await seen.promise;
    await eventually('the signal is aborted', () => context.signal.aborted);
    expect(context.signal.reason).toMatchObject({ code: 'TIMEOUT' });
    expect(context.remainingMs()).toBe(0);
  });

  it('gives a call the time of its operation unless told otherwise', async () => {
    await stage().server((_input, context) => context.remainingMs());
    expect(await stage().ask({})).toBeGreaterThan(PROBE.timeoutMs - 1_000);
    expect(await stage().ask({}, { timeoutMs: 60_000 })).toBeGreaterThan(50_000);
  });

  it('ends a call at once when the caller gives it up, and tells the handler [bus.cancellation]', async () => {
    const seen = gate<CallContext>();
    await stage().server((_input, context) => {
      seen.open(context);
      return new Promise((_resolve, reject) =>
        context.signal.addEventListener('abort', () => reject(new Error('stopped'))),
      );
    });
    const giveUp = new AbortController();
    const call = failureOf(stage().ask({}, { signal: giveUp.signal }));
    const context = await seen.promise;
    giveUp.abort();
    expect(await call).toMatchObject({ code: 'REQUEST_CANCELLED' });
    await eventually('the signal is aborted', () => context.signal.aborted);
    expect(context.signal.reason).toMatchObject({ code: 'REQUEST_CANCELLED' });
    await pause(20);
    expect(stage().errors()).toEqual([]);
  });

  it('does not begin a call that is given up already', async () => {
    let calls = 0;
    await stage().server(() => (calls += 1));
    expect(await failureOf(stage().ask({}, { signal: AbortSignal.abort() }))).toMatchObject({
      code: 'REQUEST_CANCELLED',
    });
    await pause(50);
    expect(calls).toBe(0);
  });

  it('gives up only the call that its caller gave up', async () => {
    const release = gate();
    await stage().server(async (_input, context) => {
      await release.promise;
      return context.signal.aborted;
    });
    const bus = await stage().join();
    const giveUp = new AbortController();
    const given = failureOf(bus.call(PROBE, {}, envelope(), { signal: giveUp.signal }));
    const kept = bus.call(PROBE, {}, envelope());
    await pause(50);
    giveUp.abort();
    await given;
    await pause(50);
    release.open();
    expect(await kept).toBe(false);
  });

  it('refuses a call as SERVICE_UNAVAILABLE when nobody serves it for the grace', async () => {
    const bus = await stage().join({ graceMs: 300 });
    const startMs = performance.now();
    const call = bus.call(PROBE, {}, envelope(), { timeoutMs: WAIT_MS });
    expect(await failureOf(call)).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    const tookMs = performance.now() - startMs;
    expect(tookMs).toBeGreaterThanOrEqual(250);
    expect(tookMs).toBeLessThan(DEFAULT_SETTINGS.graceMs);
  });

  it('does not ask an instance for an operation that it does not serve', async () => {
    await stage().server(() => 'probe');
    const bus = await stage().join({ graceMs: 100 });
    expect(await failureOf(bus.call(SIDE_PROBE, {}, envelope()))).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  });

  it('waits for an instance that comes within the grace', async () => {
    const bus = await stage().join({ graceMs: 2_000 });
    const call = bus.call(PROBE, {}, envelope());
    await pause(200);
    await stage().server(() => 'late');
    expect(await call).toBe('late');
  });

  it('ends the wait for an instance when the caller gives up', async () => {
    const bus = await stage().join({ graceMs: WAIT_MS });
    const startMs = performance.now();
    const given = { signal: AbortSignal.timeout(100), timeoutMs: WAIT_MS };
    expect(await failureOf(bus.call(PROBE, {}, envelope(), given))).toMatchObject({ code: 'REQUEST_CANCELLED' });
    expect(await failureOf(bus.call(PROBE, {}, envelope(), { timeoutMs: 100 }))).toMatchObject({ code: 'TIMEOUT' });
    expect(performance.now() - startMs).toBeLessThan(PROBE.timeoutMs / 2);
  });
}

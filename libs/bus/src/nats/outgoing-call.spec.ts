import { command, type Operation } from '@workspace-graph/contracts';
import { z } from 'zod';
import { AT_ONCE_MS, envelope, failureOf, PROBE, pause, WAIT_MS } from '../conformance/probes.js';
import { type CallHost, OutgoingCall } from './outgoing-call.js';

const CHANGE = command({
  name: 'change',
  owner: 'graph',
  tier: 'internal',
  reach: 'internal',
  doc: 'An operation of the tests.',
  input: z.strictObject({}),
  output: z.unknown(),
});

const GRACE_MS = 300;

interface LostCall {
  readonly outcome: Promise<unknown>;
  /** One for each attempt. */
  readonly sent: readonly string[];
  readonly comeBack: () => void;
  readonly lose: () => void;
}

/** A call that was sent over a connection which is lost right after it, without an answer. */
function lostCall(operation: Operation, timeoutMs: number): LostCall {
  const sent: string[] = [];
  let connected = true;
  const nothing = (): void => undefined;
  const host: CallHost = {
    get connected() {
      return connected;
    },
    graceMs: GRACE_MS,
    send: ({ token }) => void sent.push(token),
    publish: nothing,
    choose: () => undefined,
    bypassFor: nothing,
    avoid: nothing,
    forget: nothing,
    note: nothing,
  };
  const call = new OutgoingCall({ operation, body: '{}', envelope: envelope(), timeoutMs }, host);
  const lose = (): void => {
    connected = false;
    call.suspend();
  };
  const comeBack = (): void => {
    connected = true;
    call.send();
  };
  call.send();
  lose();
  return { outcome: call.outcome, sent, comeBack, lose };
}

describe('a call that was under way when the connection was lost', () => {
  it('is refused after the grace when it only reads: what became of it matters to nobody [errors.service-unavailable]', async () => {
    const startedMs = performance.now();
    expect(await failureOf(lostCall(PROBE, WAIT_MS).outcome)).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(performance.now() - startedMs).toBeLessThan(AT_ONCE_MS);
  });

  it('waits for its answer as long as its time allows when it may have changed something', async () => {
    expect(await failureOf(lostCall(CHANGE, 2 * GRACE_MS).outcome)).toMatchObject({ code: 'TIMEOUT' });
  });

  it('is sent again once the connection is back, and gets the whole grace when that is lost too', async () => {
    const { outcome, sent, comeBack, lose } = lostCall(PROBE, WAIT_MS);
    const failure = failureOf(outcome);
    await pause(GRACE_MS / 2);
    comeBack();
    expect(sent).toHaveLength(2);
    lose();
    const lostMs = performance.now();
    expect(await failure).toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
    expect(performance.now() - lostMs).toBeGreaterThanOrEqual(GRACE_MS - 1);
  });
});

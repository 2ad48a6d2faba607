import { jest } from '@jest/globals';
import { type EdgeHarness, startEdge } from '../../test/edge/edge-harness.js';
import { EdgeAuthenticator, type EndedCredential, FRESH_MS } from './authenticator.js';

const PATH = '/no/such/route';
const later = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

describe('credentials', () => {
  let edge: EdgeHarness;
  beforeEach(async () => {
    edge = await startEdge();
  });
  afterEach(async () => {
    jest.restoreAllMocks();
    await edge.close();
  });

  it('are asked about once for many requests, and again after half a second', async () => {
    const { read } = edge.tokens;
    const now = performance.now();
    const clock = jest.spyOn(performance, 'now').mockReturnValue(now);
    await Promise.all(Array.from({ length: 20 }, () => edge.fetch(PATH, { token: read })));
    const atOnce = edge.identity.asked.length;
    clock.mockReturnValue(now + FRESH_MS);
    await edge.fetch(PATH, { token: read });

    expect([atOnce, edge.identity.asked.length]).toEqual([1, 2]);
  });

  it('travel as a hash only [identity.token.hash-only]', async () => {
    await edge.fetch(PATH, { token: edge.tokens.read });

    expect(JSON.stringify(edge.identity.asked)).toMatch(/"sha256":"[0-9a-f]{64}"/);
    expect(JSON.stringify(edge.identity.asked)).not.toContain(edge.tokens.read.text);
  });

  it('end at once with their event, and open streams are told [identity.token.revoked-refused]', async () => {
    const { read } = edge.tokens;
    const ended: EndedCredential[] = [];
    edge.app.get(EdgeAuthenticator).onEnded((credential) => void ended.push(credential));
    const before = await edge.fetch(PATH, { token: read });
    await edge.identity.revoke(read, edge.bus);
    await later(10);
    const after = await edge.fetch(PATH, { token: read });

    expect([before.status, after.status]).toEqual([404, 401]);
    expect(ended).toEqual([{ user_id: read.caller.user_id, credential_id: read.caller.credential_id }]);
  });

  it('end within a second even if their event is lost [identity.token.revoked-refused]', async () => {
    await edge.fetch(PATH, { token: edge.tokens.read });
    edge.identity.forget(edge.tokens.read);
    await later(600);

    expect((await edge.fetch(PATH, { token: edge.tokens.read })).status).toBe(401);
  });

  it('that end while they are being verified are not let in', async () => {
    const { read } = edge.tokens;
    edge.identity.delayMs = 100;
    const asking = edge.fetch(PATH, { token: read });
    await later(30);
    await edge.identity.revoke(read, edge.bus);

    expect((await asking).status).toBe(401);
  });

  it('that expire are refused, also within the half second [identity.token.expired-refused]', async () => {
    const short = edge.identity.createToken('read', 60_000);
    // No time passes since it was verified, but that of the day.
    jest.spyOn(performance, 'now').mockReturnValue(performance.now());
    const before = await edge.fetch(PATH, { token: short });
    const day = Date.now() + 60_000;
    jest.spyOn(Date, 'now').mockReturnValue(day);

    expect([before.status, (await edge.fetch(PATH, { token: short })).status]).toEqual([404, 401]);
  });

  it('cannot be judged while the identity service is away: 503, with Retry-After [errors.service-unavailable]', async () => {
    edge.identity.isDown = true;
    const response = await edge.fetch(PATH, { token: edge.tokens.read });

    expect(response.status).toBe(503);
    expect(response.headers.get('retry-after')).toBe('1');
  });
});

describe('credentials when events may have been missed', () => {
  it('are verified again, and those that ended meanwhile are told to open streams', async () => {
    const edge = await startEdge();
    const { read, write } = edge.tokens;
    const onStatus: ((status: 'ready') => void)[] = [];
    const { createLogger, Metrics } = await import('@workspace-graph/platform');
    const authenticator = new EdgeAuthenticator({
      bus: {
        call: (...parameters) => edge.bus.call(...parameters),
        subscribe: (...parameters) => edge.bus.subscribe(...parameters),
        onStatus: (listener) => {
          onStatus.push(listener);
          return () => undefined;
        },
      },
      jwts: undefined,
      metrics: new Metrics({ process: false }),
      logger: createLogger({ process: 'test', level: 'fatal' }),
    });
    const ended: EndedCredential[] = [];
    await authenticator.start();
    authenticator.onEnded((credential) => void ended.push(credential));
    for (const { text } of [read, write]) await authenticator.authenticate(`Bearer ${text}`, { requestId: 'r' });
    edge.identity.forget(read);

    for (const tell of onStatus) tell('ready');
    await later(50);
    await authenticator.stop();
    await edge.close();

    expect(ended).toEqual([{ user_id: read.caller.user_id, credential_id: read.caller.credential_id }]);
  });
});

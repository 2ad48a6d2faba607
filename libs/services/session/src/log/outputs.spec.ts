import { randomUUID } from 'node:crypto';
import { getSessionOutput, LIMITS } from '@workspace-graph/contracts';
import { SessionWorld } from '../testing/session.fixture.js';
import type { Connected, Reported } from '../testing/session-calls.js';

let world: SessionWorld;
beforeAll(async () => {
  world = await SessionWorld.start();
});
afterAll(() => world[Symbol.asyncDispose]());

const ran = (output: string, id: string = randomUUID()): Reported & { readonly id: string } => ({
  id,
  kind: 'tool_call',
  payload: {
    call_id: id,
    phase: 'completed',
    title: 'Ran',
    output_excerpt: [...output].slice(0, 3).join(''),
    output_bytes: 7,
  },
  output,
});
const output = ({ session }: Connected, event_id: string, caller = world.owner) =>
  world.harness.call(getSessionOutput, { session_id: session.id, event_id }, caller);
/** Leaves so many bytes of the quota of a session. */
const leave = ({ session }: Connected, bytes: number) =>
  world.sql('UPDATE session.session SET output_bytes = $2 WHERE id = $1', [
    session.id,
    LIMITS.sessionOutputBytes - bytes,
  ]);
const used = async ({ session }: Connected): Promise<number> =>
  Number(
    (await world.sql('SELECT output_bytes FROM session.session WHERE id = $1', [session.id]))[0]?.['output_bytes'],
  );

describe('the whole output of a tool call', () => {
  it('is kept beside the log, and the event tells its size in bytes', async () => {
    const connected = await world.connect();
    const [event, text] = [randomUUID(), `žluťoučký 🦊\n${'x'.repeat(500_000)}`];
    await world.report(connected, [ran(text, event)]);
    expect(await output(connected, event)).toEqual({ text, is_complete: true });
    expect((await world.log(connected.session.id)).at(-1)?.payload).toMatchObject({
      output_excerpt: 'žlu',
      output_bytes: Buffer.byteLength(text),
    });
    expect(await used(connected)).toBe(Buffer.byteLength(text));
  });

  it('is said to be there by the service alone', async () => {
    const connected = await world.connect();
    const { output: _none, ...event } = ran('x');
    await world.report(connected, [event]);
    expect((await world.log(connected.session.id)).at(-1)?.payload).not.toHaveProperty('output_bytes');
  });

  it('is read by whoever sees the session, and is not there for others [sessions.access.invisible-anchor]', async () => {
    const node = await world.node('Outputs', [world.owner, world.reader]);
    const connected = await world.connect({ node_id: node });
    const event = ran('for some');
    await world.report(connected, [event]);
    for (const caller of [world.owner, world.reader, world.manager])
      expect((await output(connected, event.id, caller)).text).toBe('for some');
    await world.share(node, [world.owner]);
    const input = { session_id: connected.session.id, event_id: event.id };
    await world.harness.refusal(getSessionOutput, input, world.reader, 'SESSION_NOT_FOUND');
  });

  it('is not found under another event, nor in another session', async () => {
    const [connected, other] = [await world.connect(), await world.connect()];
    const event = ran('x');
    await world.report(connected, [event]);
    const [started] = await world.log(connected.session.id);
    for (const [{ session }, event_id] of [
      [connected, started?.id],
      [connected, randomUUID()],
      [other, event.id],
    ] as const)
      await world.harness.refusal(
        getSessionOutput,
        { session_id: session.id, event_id },
        world.owner,
        'EVENT_NOT_FOUND',
      );
  });

  it('is cut where the quota of the session ends, between two characters, and says so', async () => {
    for (const [text, room, kept] of [
      ['abcdef', 6, 'abcdef'],
      ['abcdef', 4, 'abcd'],
      ['žžžž', 5, 'žž'],
      ['€€€', 5, '€'],
      ['🦊🦊', 7, '🦊'],
      ['🦊', 3, ''],
      ['x', 0, ''],
    ] as const) {
      const connected = await world.connect();
      await leave(connected, room);
      const event = ran(text);
      await world.report(connected, [event]);
      expect([text, room, await output(connected, event.id)]).toEqual([
        text,
        room,
        { text: kept, is_complete: kept === text },
      ]);
      expect(await used(connected)).toBe(LIMITS.sessionOutputBytes - room + Buffer.byteLength(kept));
    }
  });

  it('takes the room that those before it in the report have left', async () => {
    const connected = await world.connect();
    await leave(connected, 10);
    const events = [ran('123456'), ran('abcdef'), ran('next')];
    await world.report(connected, events);
    expect(await Promise.all(events.map(({ id }) => output(connected, id)))).toEqual([
      { text: '123456', is_complete: true },
      { text: 'abcd', is_complete: false },
      { text: '', is_complete: false },
    ]);
  });

  it('is counted once when its event is reported again, and takes no room of new ones', async () => {
    const connected = await world.connect();
    await leave(connected, 10);
    const [first, second] = [ran('123456'), ran('abcd')];
    await world.report(connected, [first]);
    await world.report(connected, [first, second]);
    expect(await output(connected, first.id)).toEqual({ text: '123456', is_complete: true });
    expect(await output(connected, second.id)).toEqual({ text: 'abcd', is_complete: true });
    expect(await used(connected)).toBe(LIMITS.sessionOutputBytes);
  });
});

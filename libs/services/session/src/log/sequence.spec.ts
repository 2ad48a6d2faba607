import { randomUUID } from 'node:crypto';
import { appendSessionEvents, LIMITS, suspendSession } from '@workspace-graph/contracts';
import { SessionWorld } from '../testing/session.fixture.js';
import { type Reported, reportOf } from '../testing/session-calls.js';

let world: SessionWorld;
beforeAll(async () => {
  world = await SessionWorld.start();
});
afterAll(() => world[Symbol.asyncDispose]());

const said = (text: string, id: string = randomUUID()): Reported & { readonly id: string } => ({
  id,
  kind: 'assistant_message',
  payload: { text },
});
const WRITERS = 16;
const REPORTS = 12;

describe('seq', () => {
  it('has no gap and no double under sixteen writers, and keeps the order of each [sessions.log.dense-seq]', async () => {
    const connected = await world.connect();
    const answers = await Promise.all(
      Array.from({ length: WRITERS }, async (_, writer) => {
        const seqs: number[] = [];
        for (let report = 0; report < REPORTS; report += 1) {
          const events = Array.from({ length: 1 + ((writer + report) % 3) }, (_, at) =>
            said(`${writer} ${report} ${at}`),
          );
          const answer = await world.report(connected, events);
          expect(answer.last_seq).toBe(answer.seqs.at(-1));
          seqs.push(...answer.seqs);
        }
        return seqs;
      }),
    );
    const log = await world.log(connected.session.id);
    expect(log.map(({ seq }) => seq)).toEqual(log.map((_, index) => index + 1));
    expect(answers.flat().toSorted((a, b) => a - b)).toEqual(log.slice(1).map(({ seq }) => seq));
    for (const seqs of answers) expect(seqs).toEqual(seqs.toSorted((a, b) => a - b));
    const texts = log.slice(1).map(({ payload }) => (payload as { text: string }).text);
    for (let writer = 0; writer < WRITERS; writer += 1) {
      const own = texts.filter((text) => text.startsWith(`${writer} `));
      expect(own).toEqual(own.toSorted((a, b) => order(a) - order(b)));
    }
    expect((await world.get(connected.session.id)).last_seq).toBe(log.length);
  });

  it('counts each session by itself', async () => {
    const [one, other] = [await world.connect(), await world.connect()];
    const id = randomUUID();
    expect(await world.report(one, [said('a', id)])).toEqual({ seqs: [2], last_seq: 2 });
    expect(await world.report(other, [said('b', id)])).toEqual({ seqs: [2], last_seq: 2 });
  });

  it('takes as many events at once as a report may have, in their order', async () => {
    const connected = await world.connect();
    const events = Array.from({ length: LIMITS.sessionEventsPerCall }, (_, index) => said(`${index}`));
    const { seqs } = await world.report(connected, events);
    expect(seqs).toEqual(events.map((_, index) => index + 2));
    const log = await world.log(connected.session.id);
    expect(log.slice(1).map(({ id }) => id)).toEqual(events.map(({ id }) => id));
    const input = reportOf(connected, [...events, said('one too many')]);
    await world.harness.refusal(appendSessionEvents, input, world.owner, 'VALIDATION_FAILED');
  });
});

describe('an event that is there already', () => {
  it('is stored once and answered with its first seq, alone and among new ones [sessions.log.idempotent-append]', async () => {
    const connected = await world.connect();
    const [first, second, third] = [said('first'), said('second'), said('third')];
    expect((await world.report(connected, [first, second])).seqs).toEqual([2, 3]);
    expect((await world.report(connected, [second])).seqs).toEqual([3]);
    const told = await world.told(connected.session.id);
    expect((await world.report(connected, [first])).last_seq).toBe(2);
    expect(await world.told(connected.session.id)).toEqual(told);
    expect(await world.report(connected, [third, first, said('fourth'), second])).toEqual({
      seqs: [4, 2, 5, 3],
      last_seq: 5,
    });
    // Under its id with another text: what is stored stays.
    expect((await world.report(connected, [said('other words', first.id)])).seqs).toEqual([2]);
    const log = await world.log(connected.session.id);
    expect(log.slice(1).map(({ payload }) => payload)).toEqual(
      ['first', 'second', 'third', 'fourth'].map((text) => ({ text })),
    );
  });

  it('is stored once when its report comes again after a lost reply, under the same call and under another', async () => {
    const connected = await world.connect();
    const [events, callId] = [[said('x'), said('y')], randomUUID()];
    for (const call of [callId, callId, randomUUID()])
      expect(await world.report(connected, events, world.owner, call)).toEqual({ seqs: [2, 3], last_seq: 3 });
    expect((await world.get(connected.session.id)).last_seq).toBe(3);
  });

  it('is answered with its seq also when its run has ended meanwhile; nothing new is taken then', async () => {
    const connected = await world.connect();
    const [events, late] = [[said('x'), said('y')], said('late')];
    const told = await world.report(connected, events);
    await world.harness.call(suspendSession, { session_id: connected.session.id }, world.owner);
    expect(await world.report(connected, events)).toEqual(told);
    const before = await world.log(connected.session.id);
    const input = reportOf(connected, [...events, late]);
    await world.harness.refusal(appendSessionEvents, input, world.owner, 'NO_LIVE_RUN');
    expect(await world.log(connected.session.id)).toEqual(before);
  });

  it('is stored once when it comes eight times at the same moment, alone or among others that come once', async () => {
    const mixed = await world.connect();
    const common = said('common');
    const reports = Array.from({ length: 8 }, (_, index) => [said(`before ${index}`), common, said(`after ${index}`)]);
    const places = await Promise.all(reports.map((report) => world.report(mixed, report)));
    expect(new Set(places.map(({ seqs }) => seqs[1])).size).toBe(1);
    const log = await world.log(mixed.session.id);
    expect(log.map(({ seq }) => seq)).toEqual(Array.from({ length: 1 + 8 * 2 + 1 }, (_, index) => index + 1));
  });

  it('is stored once when its whole report comes eight times at the same moment', async () => {
    const connected = await world.connect();
    const events = [said('a'), said('b'), said('c')];
    const answers = await Promise.all(Array.from({ length: 8 }, () => world.report(connected, events)));
    expect(new Set(answers.map((answer) => JSON.stringify(answer)))).toEqual(
      new Set([JSON.stringify({ seqs: [2, 3, 4], last_seq: 4 })]),
    );
    expect(await world.log(connected.session.id)).toHaveLength(4);
  });

  it('is refused when it stands twice in one report', async () => {
    const connected = await world.connect();
    const event = said('x');
    const input = reportOf(connected, [event, said('y'), event]);
    const error = await world.harness.refusal(appendSessionEvents, input, world.owner, 'VALIDATION_FAILED');
    expect(error.details).toMatchObject({ issues: [{ path: 'events.2.id' }] });
    expect(await world.log(connected.session.id)).toHaveLength(1);
  });

  it('asks no question again and hands over no second time', async () => {
    const connected = await world.connect();
    const events: Reported[] = [
      { id: randomUUID(), kind: 'question', payload: { request_id: 'r', type: 'input', title: 'Which?' } },
      { id: randomUUID(), kind: 'handoff', payload: { title: 'One', text: 'x', written_by: 'agent' } },
    ];
    await world.report(connected, events);
    await world.report(connected, [{ kind: 'handoff', payload: { title: 'Two', text: 'y', written_by: 'agent' } }]);
    const before = await world.get(connected.session.id);
    await world.report(connected, events);
    expect(await world.get(connected.session.id)).toEqual(before);
    expect(before).toMatchObject({ handoff: { title: 'Two' }, open_questions: [{ request_id: 'r' }] });
  });
});

describe('the log', () => {
  it('is never changed: the database refuses it itself [sessions.log.append-only]', async () => {
    const connected = await world.connect();
    await world.report(connected, [said('true')]);
    const before = await world.log(connected.session.id);
    for (const change of [`payload = '{"text":"false"}'`, 'seq = seq + 10', `kind = 'reasoning'`, 'at = now()'])
      await expect(
        world.sql(`UPDATE session.event SET ${change} WHERE session_id = $1`, [connected.session.id]),
      ).rejects.toThrow('An event of a session is never changed');
    expect(await world.log(connected.session.id)).toEqual(before);
  });

  it('holds the event of a change in the transaction of the change, and tells of both after it [sessions.log.same-transaction]', async () => {
    const connected = await world.connect();
    const { id } = connected.session;
    await world.report(connected, [said('x'), said('y')]);
    await world.harness.call(suspendSession, { session_id: id }, world.owner);
    const [row] = await world.sql(
      `SELECT count(DISTINCT x)::int AS transactions FROM (
         SELECT xmin::text AS x FROM session.event WHERE session_id = $1 AND seq > 3 UNION ALL
         SELECT xmin::text FROM session.session WHERE id = $1 UNION ALL
         SELECT xmin::text FROM session.run WHERE session_id = $1 UNION ALL
         SELECT o.xmin::text FROM outbox.event o WHERE o.payload ->> 'session_id' = $1::text AND o.payload ->> 'last_seq' = '6') t`,
      [id],
    );
    expect(row).toEqual({ transactions: 1 });
    const changed = { session_id: id, node_id: world.nodeId, owner_id: world.owner.user_id };
    expect(await world.told(id)).toEqual([
      { type: 'session.appended', payload: { session_id: id, last_seq: 1 } },
      { type: 'session.changed', payload: changed },
      { type: 'session.appended', payload: { session_id: id, last_seq: 3 } },
      { type: 'session.appended', payload: { session_id: id, last_seq: 6 } },
      { type: 'session.changed', payload: changed },
    ]);
  });

  it('keeps nothing of a change that fails: no event, no state, nothing told', async () => {
    const connected = await world.connect();
    const { id } = connected.session;
    const [before, told] = [await world.get(id), await world.told(id)];
    await world.sql(
      `CREATE OR REPLACE FUNCTION session.fail() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'disk'; END $$`,
    );
    await world.sql(
      `CREATE TRIGGER fails BEFORE INSERT ON session.output FOR EACH ROW EXECUTE FUNCTION session.fail()`,
    );
    const call: Reported = {
      kind: 'tool_call',
      payload: { call_id: 'c', phase: 'completed', title: 't' },
      output: 'o',
    };
    const question: Reported = { kind: 'question', payload: { request_id: 'r', type: 'input', title: 'Which?' } };
    await expect(world.report(connected, [said('x'), question, call])).rejects.toThrow('disk');
    await world.sql('DROP TRIGGER fails ON session.output; DROP FUNCTION session.fail()');
    expect(await world.get(id)).toEqual(before);
    expect(await world.told(id)).toEqual(told);
    expect(await world.log(id)).toHaveLength(1);
  });
});

function order(text: string): number {
  const [, report = '0', at = '0'] = text.split(' ');
  return Number(report) * 10 + Number(at);
}

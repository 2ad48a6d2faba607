import {
  type Caller,
  getSession,
  type InputOf,
  listNodeSessions,
  listSessions,
  type Operation,
  type OutputOf,
  ServiceError,
  SessionState,
} from '@workspace-graph/contracts';
import { SessionSweeps } from '../../sweeps/session-sweeps.js';
import type { ScriptedRuns } from '../scripted-runs.js';
import { SessionWorld } from '../session.fixture.js';
import type { ActWorld } from './acts.js';
import { isOpen, type Model, type ModelSession, PEOPLE, type Person, type Place, type Told, waits } from './model.js';
import { expectStored } from './stored.js';

/** The real sessions, called as the people of the model. */
export class RandomWorld implements ActWorld, AsyncDisposable {
  readonly before = new Map<ModelSession, string>();

  private constructor(
    private readonly world: SessionWorld,
    private readonly callers: Readonly<Record<Person, Caller>>,
    readonly nodes: Readonly<Record<Place, string | null>>,
  ) {}

  static async start(): Promise<RandomWorld> {
    const world = await SessionWorld.start();
    const otto = await world.harness.user('Otto', 'write');
    const callers = { olga: world.owner, otto, mara: world.manager, rita: world.reader };
    const shared = await world.node('Shared', [world.owner]);
    world.runs.handoff = { title: 'By the agent', text: 'x' };
    return new RandomWorld(world, callers, { open: world.nodeId, shared, none: null });
  }

  get runs(): ScriptedRuns {
    return this.world.runs;
  }

  runOf(sessionId: string): string {
    return this.runs.orders.findLast(({ session_id }) => session_id === sessionId)?.run_id ?? '';
  }

  sql(text: string, values: readonly unknown[]): Promise<unknown> {
    return this.world.sql(text, values);
  }

  sweep(): Promise<number> {
    return this.sweeps.sweep({ archiveAfterDays: 30 });
  }

  /** The only process starts anew. */
  async restart(): Promise<void> {
    await this.sweeps.suspendRunsOfOthers([]);
    this.runs.live.clear();
  }

  share(readers: readonly Person[]): Promise<void> {
    return this.world.share(
      this.nodes.shared ?? '',
      readers.map((person) => this.callers[person]),
    );
  }

  async told<Op extends Operation>(
    operation: Op,
    input: InputOf<Op>,
    who: Person,
    then: (answer: OutputOf<Op>) => unknown = () => undefined,
  ): Promise<Told> {
    try {
      then(await this.world.harness.call(operation, input, this.callers[who]));
      return 'ok';
    } catch (error) {
      if (error instanceof ServiceError) return error.code;
      throw error;
    }
  }

  expectLike(session: ModelSession): Promise<void> {
    return expectStored((text, values) => this.world.sql(text, values), session);
  }

  /** What everybody is shown of every session, by itself and in lists. */
  async expectShown(model: Model): Promise<void> {
    for (const person of PEOPLE) {
      const caller = this.callers[person];
      for (const session of model.sessions) {
        const told = await this.told(getSession, { session_id: session.id }, person, (shown) =>
          expectLikeModel(shown, session, person),
        );
        expect([person, told]).toEqual([person, model.seesSession(person, session) ? 'ok' : 'SESSION_NOT_FOUND']);
      }
      const seen = model.sessions.filter((session) => model.seesSession(person, session));
      const every = { state: SessionState.options, limit: 500 };
      const all = async (input: InputOf<typeof listSessions>): Promise<string[]> => {
        const { items } = await this.world.harness.call(listSessions, input, caller);
        return items.map(({ id }) => id).filter((id) => model.sessions.some((session) => session.id === id));
      };
      expect((await all(every)).toSorted()).toEqual(idsOf(seen));
      expect((await all({ limit: 500 })).toSorted()).toEqual(idsOf(seen.filter(({ state }) => state !== 'archived')));
      expect((await all({ ...every, waiting: true })).toSorted()).toEqual(idsOf(seen.filter(waits)));
      expect((await all({ ...every, own: true })).toSorted()).toEqual(
        idsOf(seen.filter(({ owner }) => owner === person)),
      );
      if (!model.sees(person, 'shared')) continue;
      const input = { node_id: this.nodes.shared ?? '', ...every };
      const { items } = await this.world.harness.call(listNodeSessions, input, caller);
      const ofNode = items.map(({ id }) => id).filter((id) => model.sessions.some((session) => session.id === id));
      expect(ofNode.toSorted()).toEqual(idsOf(seen.filter(({ place }) => place === 'shared')));
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.world[Symbol.asyncDispose]();
  }

  private get sweeps(): SessionSweeps {
    return this.world.harness.module.get(SessionSweeps);
  }
}

function expectLikeModel(shown: OutputOf<typeof getSession>, session: ModelSession, person: Person): void {
  const open = [...session.questions].filter(([, state]) => state === 'open').map(([request]) => request);
  expect({
    state: shown.state,
    origin: shown.origin,
    is_live: shown.is_live,
    is_own: shown.is_own,
    open: shown.open_questions.map(({ request_id }) => request_id).toSorted(),
    last_seq: shown.last_seq,
    knowsOwner: shown.owner !== null,
    isSuspended: shown.suspended !== null,
    isClosed: shown.closed_at !== null,
  }).toEqual({
    state: session.state,
    origin: session.origin,
    is_live: session.run !== null,
    is_own: person === session.owner,
    open: open.toSorted(),
    last_seq: session.log.length,
    knowsOwner: person === session.owner || person === 'mara',
    isSuspended: session.state === 'suspended',
    isClosed: !isOpen(session),
  });
  if (session.givenName !== null) expect(shown.name).toBe(session.givenName);
  else if (session.title !== null) expect(shown.name.endsWith(` · ${session.title}`)).toBe(true);
  else expect(shown.name).toMatch(/ · \d{4}-\d{2}-\d{2} \d{2}:\d{2}$/);
}

const idsOf = (sessions: readonly ModelSession[]): string[] => sessions.map(({ id }) => id).toSorted();

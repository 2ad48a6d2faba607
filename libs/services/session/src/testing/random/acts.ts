import { randomUUID } from 'node:crypto';
import {
  answerQuestion,
  appendSessionEvents,
  closeSession,
  connectSession,
  endRun,
  type InputOf,
  interruptSession,
  type Operation,
  type OutputOf,
  renameSession,
  resumeSession,
  sendMessage,
  startSession,
  suspendSession,
} from '@workspace-graph/contracts';
import type { ScriptedRuns } from '../scripted-runs.js';
import {
  begun,
  closed,
  isDriven,
  isOpen,
  type Model,
  type ModelSession,
  type Person,
  type Place,
  suspended,
  type Told,
} from './model.js';

/** What acts need of the workspace that they happen in. */
export interface ActWorld {
  readonly nodes: Readonly<Record<Place, string | null>>;
  /** The programs of runs. */
  readonly runs: Pick<ScriptedRuns, 'live'>;
  /** Which run a report is of. */
  readonly before: Map<ModelSession, string>;
  /** The run that was ordered last for a session. */
  runOf(sessionId: string): string;
  /** Calls an operation; answers its refusal. */
  told<Op extends Operation>(
    operation: Op,
    input: InputOf<Op>,
    who: Person,
    then?: (answer: OutputOf<Op>) => unknown,
  ): Promise<Told>;
  sql(text: string, values: readonly unknown[]): Promise<unknown>;
  /** Makes the round that ends and archives what is due. */
  sweep(): Promise<unknown>;
  /** Looks whether the database has what the model says. */
  expectLike(session: ModelSession): Promise<void>;
}

/** One random call: its numbers choose among what there is. */
export interface Draw {
  readonly who: Person;
  readonly place: Place;
  readonly number: number;
  readonly flag: boolean;
}

/** What should be told and become of the session, and what is told. `model` carries out what it expects. */
export interface Act {
  expect(model: Model, session: ModelSession, draw: Draw): Told;
  perform(world: ActWorld, session: ModelSession, draw: Draw): Promise<Told>;
}

const CLIENT = { name: 'agent', title: null, version: '1' };
const QUESTION_NAMES = ['first', 'second'];
const requestOf = ({ number }: Draw): string => QUESTION_NAMES[(number >> 3) % QUESTION_NAMES.length] ?? '';
const isUnfit = ({ number }: Draw): boolean => number % 5 === 0;
/** The live run, or one of those before it. */
const runOf = ({ run, pastRuns }: ModelSession, { number }: Draw): string =>
  (number % 4 > 0 ? run : null) ?? pastRuns[number % Math.max(pastRuns.length, 1)] ?? run ?? randomUUID();

/** Acts on a session that there is. */
export const ACTS: Readonly<Record<string, Act>> = {
  reconnect: {
    expect: (model, session, { who }) => {
      const told = model.tier(who, session, 'internal');
      if (told !== 'ok' || isDriven(session)) return told;
      if (session.origin === 'task' || session.state !== 'suspended') return 'CONFLICT';
      begun(session, '');
      return 'ok';
    },
    perform: async (world, session, { who }) => {
      const run_id = randomUUID();
      const input = { run_id, holder: 'edge', session_id: session.id, client: CLIENT };
      return world.told(connectSession, input, who, () => {
        if (session.origin === 'connection') session.run = run_id;
      });
    },
  },
  say: reporting(() => ({ kind: 'assistant_message', payload: { text: 'x' } })),
  ask: {
    expect: (model, session, draw) => {
      const told = mayReport(model, session, draw);
      if (told !== 'ok') return told;
      if (session.questions.has(requestOf(draw))) return 'VALIDATION_FAILED';
      session.questions.set(requestOf(draw), 'open');
      session.log.push('question');
      return 'ok';
    },
    perform: (world, session, draw) =>
      report(world, session, draw, {
        kind: 'question',
        payload: { request_id: requestOf(draw), type: 'input', title: 'Which?' },
      }),
  },
  handOver: {
    expect: (model, session, draw) => {
      const told = mayReport(model, session, draw);
      if (told !== 'ok') return told;
      session.log.push('handoff');
      Object.assign(session, { hasHandedOver: true, title: `Title ${draw.number}` });
      return 'ok';
    },
    perform: (world, session, draw) =>
      report(world, session, draw, {
        kind: 'handoff',
        payload: { title: `Title ${draw.number}`, text: 'x', written_by: 'agent' },
      }),
  },
  answer: {
    expect: (model, session, draw) => {
      const told = model.tier(draw.who, session, 'own');
      if (told !== 'ok') return told;
      const question = session.questions.get(requestOf(draw));
      if (!question) return 'NO_PENDING_QUESTION';
      if (question === 'answered') return 'CONFLICT';
      if (isUnfit(draw)) return 'VALIDATION_FAILED';
      session.questions.set(requestOf(draw), 'answered');
      session.log.push('answer');
      if (isDriven(session) && session.isDead) suspended(session);
      return 'ok';
    },
    perform: (world, { id }, draw) => {
      const decision = isUnfit(draw) ? { option_id: 'x' } : { text: 'x' };
      return world.told(answerQuestion, { session_id: id, request_id: requestOf(draw), decision }, draw.who);
    },
  },
  message: {
    expect: (model, session, { who }) => {
      const told = model.tier(who, session, 'own');
      if (told !== 'ok') return told;
      if (!isDriven(session)) return 'NO_LIVE_RUN';
      session.log.push('user_message');
      if (session.isDead) suspended(session);
      return 'ok';
    },
    perform: (world, { id }, { who }) => world.told(sendMessage, { session_id: id, text: 'x' }, who),
  },
  interrupt: {
    expect: (model, session, { who }) => {
      const told = model.tier(who, session, 'stop');
      if (told !== 'ok') return told;
      if (isDriven(session) && session.isDead) suspended(session);
      if (!isDriven(session)) return 'NO_LIVE_RUN';
      session.log.push('state_changed');
      return 'ok';
    },
    perform: (world, { id }, { who }) => world.told(interruptSession, { session_id: id }, who),
  },
  suspend: {
    expect: (model, session, { who }) => {
      const told = model.tier(who, session, 'stop');
      if (told !== 'ok') return told;
      if (session.state !== 'running') return 'CONFLICT';
      if (isDriven(session)) session.title = 'By the agent';
      suspended(session, { byAgent: isDriven(session) });
      return 'ok';
    },
    perform: (world, { id }, { who }) => world.told(suspendSession, { session_id: id }, who),
  },
  resume: {
    expect: (model, session, { who, flag }) => {
      const told = model.tier(who, session, 'own');
      if (told !== 'ok') return told;
      if (session.state !== 'suspended' || (flag && !session.canContinue)) return 'CONFLICT';
      if (session.origin === 'connection') return 'NO_LIVE_RUN';
      begun(session, '');
      return 'ok';
    },
    perform: (world, session, { who, flag }) => {
      const input = { session_id: session.id, mode: flag ? 'conversation' : 'handoff' } as const;
      return world.told(resumeSession, input, who, () => {
        session.run = world.runOf(session.id);
      });
    },
  },
  close: {
    expect: (model, session, { who }) => {
      const told = model.tier(who, session, 'stop');
      if (told !== 'ok') return told;
      if (!isOpen(session)) return 'CONFLICT';
      closed(session);
      return 'ok';
    },
    perform: (world, { id }, { who }) => world.told(closeSession, { session_id: id }, who),
  },
  end: {
    expect: (_model, session, draw) => {
      const isTheirs = draw.who === session.owner && session.run !== null && runOf(session, draw) === session.run;
      if (isTheirs) suspended(session, { canContinue: draw.number % 2 === 0 });
      return 'ok';
    },
    perform: (world, session, draw) => {
      const can_continue = draw.number % 2 === 0;
      const input = { session_id: session.id, run_id: world.before.get(session) ?? '', can_continue };
      return world.told(endRun, { ...input, outcome: 'suspended', reason: 'idle' }, draw.who);
    },
  },
  rename: {
    expect: (model, session, { who, number }) => {
      const told = model.tier(who, session, 'own');
      if (told === 'ok') session.givenName = `Given ${number}`;
      return told;
    },
    perform: (world, { id }, { who, number }) =>
      world.told(renameSession, { session_id: id, name: `Given ${number}` }, who),
  },
  /** The program of the run dies; nobody is told. */
  die: {
    expect: (_model, session) => {
      session.isDead = isDriven(session);
      return 'ok';
    },
    perform: async (world, { run }) => {
      world.runs.live.delete(run ?? '');
      return 'ok';
    },
  },
  /** Its holder does not renew its lease, and a sweep comes by. */
  expire: {
    expect: (_model, session) => {
      if (session.run !== null) suspended(session);
      return 'ok';
    },
    perform: async (world, { id }) => {
      await world.sql(`UPDATE session.run SET lease_until = now() - interval '1 second' WHERE session_id = $1`, [id]);
      await world.sweep();
      return 'ok';
    },
  },
  /** It is left alone for more than thirty days, and a sweep comes by. */
  age: {
    expect: (_model, session) => {
      if (session.state !== 'closed') return 'ok';
      session.state = 'archived';
      session.log.push('state_changed');
      return 'ok';
    },
    perform: async (world, { id }) => {
      await world.sql(`UPDATE session.session SET last_activity_at = now() - interval '31 days' WHERE id = $1`, [id]);
      await world.sweep();
      return 'ok';
    },
  },
};

/** A new session of the person, or its refusal. */
export function born(model: Model, origin: ModelSession['origin'], { who, place }: Draw): ModelSession | Told {
  if (origin === 'task' && who === 'rita') return 'FORBIDDEN';
  if (place !== 'none' && !model.sees(who, place)) return 'NODE_NOT_FOUND';
  return {
    owner: who,
    place,
    origin,
    id: '',
    state: 'running',
    run: '',
    pastRuns: [],
    isDead: false,
    hasHandedOver: false,
    canContinue: false,
    givenName: null,
    title: null,
    questions: new Map(),
    log: origin === 'task' ? ['user_message', 'run_started'] : ['run_started'],
  };
}

/** Starts it, and tells its ids to `session`. */
export function begin(world: ActWorld, session: Partial<ModelSession>, { who, place }: Draw): Promise<Told> {
  const node = world.nodes[place];
  if (session.origin === 'task') {
    const input = { node_id: node ?? '', brief: 'x', runner: 'scripted' };
    return world.told(startSession, input, who, ({ id }) => Object.assign(session, { id, run: world.runOf(id) }));
  }
  const run_id = randomUUID();
  const input = { run_id, holder: 'edge', client: CLIENT, ...(node ? { node_id: node } : {}) };
  return world.told(connectSession, input, who, (answer) =>
    Object.assign(session, { id: answer.session.id, run: run_id }),
  );
}

function mayReport(model: Model, session: ModelSession, draw: Draw): Told {
  const told = model.tier(draw.who, session, 'internal');
  if (told !== 'ok') return told;
  return session.run !== null && runOf(session, draw) === session.run ? 'ok' : 'NO_LIVE_RUN';
}

function reporting(event: () => { kind: string; payload: object }): Act {
  return {
    expect: (model, session, draw) => {
      const told = mayReport(model, session, draw);
      if (told === 'ok') session.log.push(event().kind);
      return told;
    },
    perform: (world, session, draw) => report(world, session, draw, event()),
  };
}

function report(world: ActWorld, session: ModelSession, { who }: Draw, event: object): Promise<Told> {
  const events = [{ id: randomUUID(), ...event }] as never;
  const input = { session_id: session.id, run_id: world.before.get(session) ?? '', events };
  return world.told(appendSessionEvents, input, who);
}

/** The run that a report or an end is of, chosen before the model goes on. */
export function chooseRun(world: ActWorld, session: ModelSession, draw: Draw): void {
  world.before.set(session, runOf(session, draw));
}

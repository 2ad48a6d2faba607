import { Model, PEOPLE, type Person, SESSION_COMMANDS, suspended } from '@workspace-graph/service-session/testing';
import fc from 'fast-check';
import { RandomSockets } from './random/random-sockets.js';

/** Runs of random commands; more in `npm run soak`. */
const RUNS = Number(process.env['SVC_LIVE_RUNS'] ?? 6);
const SEED = Number(process.env['SVC_TEST_SEED'] ?? 20_261_123);
const RUN_MS = 60_000;
const COMMANDS = 120;
/** Events of one call: some bursts are longer than a page. */
const MANY = 100;

let world: RandomSockets;
beforeAll(async () => {
  world = await RandomSockets.start();
});
afterAll(() => world[Symbol.asyncDispose]());

type Command = fc.AsyncCommand<Model, RandomSockets>;

/** After each command every client has what it must have, and nothing else. */
class Settled implements Command {
  constructor(private readonly inner: Command) {}

  check(model: Readonly<Model>): boolean {
    return this.inner.check(model);
  }

  async run(model: Model, real: RandomSockets): Promise<void> {
    await this.inner.run(model, real);
    await real.settle(model);
  }

  toString(): string {
    return `${this.inner}`;
  }
}

interface Draw {
  readonly who: Person;
  readonly number: number;
  readonly readers: readonly Person[];
}

/** Something that happens to connections, or to all sessions. */
class OnChannel implements Command {
  constructor(
    private readonly name: string,
    private readonly draw: Draw,
    private readonly act: (model: Model, real: RandomSockets, draw: Draw) => Promise<void>,
  ) {}

  check(): boolean {
    return true;
  }

  async run(model: Model, real: RandomSockets): Promise<void> {
    await this.act(model, real, this.draw);
  }

  toString(): string {
    const { who, number, readers } = this.draw;
    return `${who} ${this.name} ${number} [${readers.join()}]`;
  }
}

const open: OnChannel['act'] = async (model, real, { who }) => {
  await real.expectGreeting(model, await real.open(who));
};

const drop: OnChannel['act'] = async (_model, real, { who, number }) => {
  const socket = real.socketOf(who, number);
  if (socket) await real.drop(socket);
};

/** After nothing, after something in the middle, or after more than there is. */
const subscribe: OnChannel['act'] = async (model, real, { who, number }) => {
  const socket = real.socketOf(who, number) ?? (await real.open(who));
  const session = model.sessions.at(-1 - (number % 4));
  if (!session) return;
  const { length } = session.log;
  const told = await socket.subscribe(session.id, number % 3 === 0 ? 0 : number % (length + 2));
  expect([who, told]).toEqual([who, model.seesSession(who, session) ? length : 'SESSION_NOT_FOUND']);
};

/** An agent writes at a time, while people begin to follow it. */
const burst: OnChannel['act'] = async (model, real, { number, readers }) => {
  const session = model.sessions.findLast((one) => one.run !== null && model.seesSession(one.owner, one));
  if (!session) return;
  const { length } = session.log;
  const calls = 1 + (number % 7);
  const events = number % 11 === 0 ? MANY : 1 + (number % 5);
  const follow = async (person: Person): Promise<void> => {
    const socket = real.socketOf(person, number) ?? (await real.open(person));
    const told = await socket.subscribe(session.id, number % (length + 2));
    if (!model.seesSession(person, session)) return expect([person, told]).toEqual([person, 'SESSION_NOT_FOUND']);
    expect(told).toBeGreaterThanOrEqual(length);
  };
  await Promise.all([...Array.from({ length: calls }, () => real.say(session, events)), ...readers.map(follow)]);
  session.log.push(...Array.from({ length: calls * events }, () => 'assistant_message'));
};

const unsubscribe: OnChannel['act'] = async (model, real, { who, number }) => {
  const session = model.sessions.at(-1 - (number % 4));
  const socket = real.socketOf(who, number);
  if (session && socket) expect(await socket.unsubscribe(session.id)).toBe('ok');
};

const watch: OnChannel['act'] = async (_model, real, { who, number }) => {
  expect(await (real.socketOf(who, number) ?? (await real.open(who))).watch()).toBe('ok');
};

const touch: OnChannel['act'] = (model, real, { number }) => real.touch(model, number % 2 === 0 ? 'open' : 'shared');

const share: OnChannel['act'] = async (model, real, { readers }) => {
  model.readers = readers;
  await real.share(readers);
};

const revoke: OnChannel['act'] = (_model, real, { who }) => real.revoke(who);

const restart: OnChannel['act'] = async (model, real) => {
  for (const session of model.sessions) if (session.run !== null) suspended(session);
  await real.restart();
  for (const session of model.sessions) await real.expectLike(session);
};

/** The more often it stands here, the more often it happens. */
const OFTEN = { burst, follow: subscribe, join: subscribe, share, hide: share };
const ACTS = { open, drop, subscribe, unsubscribe, watch, touch, revoke, ...OFTEN };
const draws = fc.record({
  who: fc.constantFrom(...PEOPLE),
  number: fc.nat(997),
  readers: fc.subarray([...PEOPLE]),
});
const onChannel = [...Object.entries(ACTS), ...Object.entries(OFTEN)].map(([name, act]) =>
  draws.map((draw): Command => new OnChannel(name, draw, act)),
);
const rarely = fc
  .tuple(draws, fc.nat(2))
  .map(([draw, luck]): Command => new OnChannel('restart', draw, luck === 0 ? restart : touch));
const commands = [...SESSION_COMMANDS, ...onChannel, ...onChannel, rarely].map((one) =>
  one.map((command) => new Settled(command)),
);

it(
  'whatever people do to sessions and connections, each is sent every event, state and change that it sees, once and in order, and nothing else [ws.subscribe.no-gap-no-duplicate] [ws.session-state.visible-only]',
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.commands(commands, { maxCommands: COMMANDS, size: 'max' }), async (calls) => {
        await world.clear();
        const model = new Model();
        await world.share(model.readers);
        await fc.asyncModelRun(() => ({ model, real: world }), calls);
      }),
      // What does not come is awaited for long: to try shorter ones would take for ever.
      { numRuns: RUNS, seed: SEED, endOnFailure: true },
    );
  },
  RUNS * RUN_MS,
);

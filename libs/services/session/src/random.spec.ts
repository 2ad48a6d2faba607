import * as fc from 'fast-check';
import { ACTS, begin, born, chooseRun, type Draw } from './testing/random/acts.js';
import { Model, PEOPLE, PLACES, suspended } from './testing/random/model.js';
import { RandomWorld } from './testing/random/random-world.js';

/** Runs of random calls; more in `npm run soak`. */
const RUNS = Number(process.env['SVC_SESSION_RUNS'] ?? 10);
const RUN_MS = 30_000;
const CALLS = 150;

let world: RandomWorld;
beforeAll(async () => {
  world = await RandomWorld.start();
});
afterAll(() => world[Symbol.asyncDispose]());

type Command = fc.AsyncCommand<Model, RandomWorld>;

/** Does something to one of the sessions that there are, and looks whether it is what the model says. */
class OnSession implements Command {
  constructor(
    private readonly name: string,
    private readonly drawn: Draw & { readonly isOwner: boolean },
  ) {}

  check({ sessions }: Readonly<Model>): boolean {
    return sessions.length > 0;
  }

  async run(model: Model, real: RandomWorld): Promise<void> {
    const act = ACTS[this.name];
    // Those made last are met most.
    const session = model.sessions.at(-1 - (this.drawn.number % Math.min(model.sessions.length, 3)));
    if (!act || !session) throw new Error(`There is no ${this.name}`);
    const draw = { ...this.drawn, who: this.drawn.isOwner ? session.owner : this.drawn.who };
    chooseRun(real, session, draw);
    const expected = act.expect(model, session, draw);
    const told = await act.perform(real, session, draw);
    expect([`${this}`, told]).toEqual([`${this}`, expected]);
    await real.expectLike(session);
  }

  toString(): string {
    const { who, number, flag, isOwner } = this.drawn;
    return `${isOwner ? 'its owner' : who} ${this.name} ${number}${flag ? '!' : ''}`;
  }
}

class Begin implements Command {
  constructor(
    private readonly origin: 'connection' | 'task',
    private readonly draw: Draw,
  ) {}

  check(): boolean {
    return this.origin === 'connection' || this.draw.place !== 'none';
  }

  async run(model: Model, real: RandomWorld): Promise<void> {
    const expected = born(model, this.origin, this.draw);
    const session = typeof expected === 'string' ? { origin: this.origin } : expected;
    const told = await begin(real, session, this.draw);
    expect([`${this}`, told]).toEqual([`${this}`, typeof expected === 'string' ? expected : 'ok']);
    if (typeof expected === 'string') return;
    model.sessions.push(expected);
    await real.expectLike(expected);
  }

  toString(): string {
    return `${this.draw.who} begins a ${this.origin} on ${this.draw.place}`;
  }
}

/** Shares the node anew, or starts the only process anew. */
class OnAll implements Command {
  constructor(
    private readonly what: 'share' | 'restart' | 'look',
    private readonly readers: readonly (typeof PEOPLE)[number][],
  ) {}

  check(): boolean {
    return true;
  }

  async run(model: Model, real: RandomWorld): Promise<void> {
    if (this.what === 'look') return real.expectShown(model);
    if (this.what === 'share') {
      model.readers = this.readers;
      return real.share(this.readers);
    }
    for (const session of model.sessions) if (session.run !== null) suspended(session);
    await real.restart();
    for (const session of model.sessions) await real.expectLike(session);
  }

  toString(): string {
    return this.what === 'share' ? `share with ${this.readers.join()}` : this.what;
  }
}

const draws = fc.record({
  who: fc.constantFrom(...PEOPLE),
  place: fc.constantFrom(...PLACES),
  number: fc.nat(997),
  flag: fc.boolean(),
});
/** Most calls are those of the owner: what others are told is mostly a refusal. */
const acting = fc.tuple(draws, fc.nat(3)).map(([draw, luck]) => ({ ...draw, isOwner: luck > 0 }));
const readers = fc.subarray([...PEOPLE]);
/** What needs something else to have happened before. */
const OFTEN = ['ask', 'ask', 'answer', 'answer', 'answer', 'message', 'message', 'reconnect', 'resume', 'resume'];
const commands: fc.Arbitrary<Command>[] = [
  ...[...Object.keys(ACTS), ...OFTEN].map((name) => acting.map((draw): Command => new OnSession(name, draw))),
  draws.map((draw) => new Begin('connection', draw)),
  draws.map((draw) => new Begin('task', draw)),
  draws.map((draw) => new Begin('task', draw)),
  readers.map((people) => new OnAll('share', people)),
  readers.map((people) => new OnAll('look', people)),
  fc.tuple(readers, fc.nat(9)).map(([people, luck]) => new OnAll(luck === 0 ? 'restart' : 'share', people)),
];

it(
  'whatever happens to sessions, by whomever and in whatever order, comes out as plain rules say [sessions.states, sessions.never-dropped, sessions.transition.illegal-refused, sessions.waiting-since, sessions.log.dense-seq, sessions.access.invisible-anchor]',
  async () => {
    await fc.assert(
      fc.asyncProperty(fc.commands(commands, { maxCommands: CALLS, size: 'max' }), async (calls) => {
        await world.share(['olga']);
        const model = new Model();
        await fc.asyncModelRun(() => ({ model, real: world }), calls);
        await world.expectShown(model);
      }),
      { numRuns: RUNS },
    );
  },
  RUNS * RUN_MS,
);

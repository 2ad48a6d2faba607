import * as fc from 'fast-check';
import { SESSION_COMMANDS } from './testing/random/commands.js';
import { Model, PEOPLE, suspended } from './testing/random/model.js';
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

const readers = fc.subarray([...PEOPLE]);
const commands: fc.Arbitrary<Command>[] = [
  ...SESSION_COMMANDS,
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

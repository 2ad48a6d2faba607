import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Disagreement, replay, runWorld } from './run.js';
import { shrink } from './shrink.js';
import type { Step } from './step.js';

/**
 * Random workspaces, changed at random through the real operations, against the plain rules of the domain.
 *
 * SVC_PROPERTY_STEPS   steps in all; without it as many as fit into a minute
 * SVC_PROPERTY_SEED    seed of the first world, or `new` for one that nobody has tried; printed on every run
 * SVC_PROPERTY_REPLAY  file with a log of steps, as a failure leaves one, to do again
 */
const STEPS = process.env['SVC_PROPERTY_STEPS'];
const GIVEN_SEED = process.env['SVC_PROPERTY_SEED'] ?? '914766014';
const SEED = GIVEN_SEED === 'new' ? Math.floor(Math.random() * 1_000_000_000) : Number(GIVEN_SEED);
const REPLAY = process.env['SVC_PROPERTY_REPLAY'];

const WORLD_STEPS = 400;
/** Worlds under way at once, so that the services and the database both have work. */
const LANES = 3;
const DEFAULT_MS = 60_000;
const SHRINK_MS = 60_000;

const TIMEOUT_MS = 6 * 3_600_000;

describe('a random workspace', () => {
  it(
    'answers lists, counts, searches, edges, previews and refusals as the rules say after every change [access.materialised.equals-model] [access.filter.same-sql] [access.edges.both-ends-visible]',
    async () => {
      if (REPLAY !== undefined)
        return void expect(await replay(JSON.parse(readFileSync(REPLAY, 'utf8')) as Step[])).toBeNull();
      const end = STEPS === undefined ? Date.now() + DEFAULT_MS : Number.POSITIVE_INFINITY;
      const wanted = STEPS === undefined ? Number.POSITIVE_INFINITY : Number(STEPS);
      const run = { claimed: 0, done: 0, worlds: 0, failed: false };
      const lane = async (): Promise<void> => {
        while (run.claimed < wanted && Date.now() < end && !run.failed) {
          const seed = SEED + run.worlds;
          run.worlds += 1;
          const count = Math.min(WORLD_STEPS, wanted - run.claimed);
          run.claimed += count;
          const done = await runWorld({ seed, count, mayGoOn: () => Date.now() < end && !run.failed });
          run.done += done;
        }
      };
      try {
        await Promise.all(Array.from({ length: LANES }, lane));
      } catch (error) {
        run.failed = true;
        if (!(error instanceof Disagreement)) throw error;
        throw new Error(await report(error), { cause: error });
      }
      console.info(`seed ${SEED}: ${run.done} steps in ${run.worlds} worlds`);
      expect(run.done).toBeGreaterThan(0);
    },
    TIMEOUT_MS,
  );
});

/** Tells a failure by the fewest steps that still fail, and keeps them in a file. */
async function report(failure: Disagreement): Promise<string> {
  const fails = async (steps: readonly Step[]): Promise<boolean> => (await replay(steps)) !== null;
  const steps = (await fails(failure.steps)) ? await shrink(failure.steps, fails, SHRINK_MS) : failure.steps;
  const file = join(mkdtempSync(join(tmpdir(), 'wg-access-')), 'steps.json');
  writeFileSync(file, JSON.stringify(steps, null, 1));
  const cause = (await replay(steps)) ?? failure.cause;
  const log = steps.map((step) => JSON.stringify(step)).join('\n');
  return `${failure.message}\n\nSVC_PROPERTY_SEED=${failure.seed}, fewest steps (SVC_PROPERTY_REPLAY=${file}):\n${log}\n\n${cause instanceof Error ? cause.stack : String(cause)}`;
}

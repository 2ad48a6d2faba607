import { generateLargeGraph } from '@workspace-graph/testing';
import pg from 'pg';
import { memoryFacts, sessionFacts, startFacts } from './facts.js';
import { LoadProcess } from './load/load-process.js';
import { compareAnswers } from './measurements/compare.js';
import type { Measurement, Surroundings } from './measurements/measurement.js';
import { MEASUREMENTS } from './measurements/measurements.js';
import { measureRounds } from './measurements/rounds.js';
import type { FactName, Options } from './options.js';
import { startCentralPlace } from './places/central-place.js';
import { startLocalPlace } from './places/local-place.js';
import type { Aim, Place, PlaceName } from './places/place.js';
import { startServicePlace } from './places/service-place.js';
import { untilOutboxIsEmpty } from './quiet.js';
import { judge } from './report/judge.js';
import type { Fact, JudgedLine, MeasurementReport, PlaceReport } from './report/report.js';
import { SCALES } from './scales.js';
import { readWorld, type World } from './world.js';

/** Of each process of the product, after all that load. */
const MOST_MB = 300;

export interface BenchContext {
  readonly options: Options;
  /** The repository. */
  readonly root: string;
  readonly progress: (line: string) => void;
}

/** What was generated there, with the report of the place. */
export interface BenchedPlace {
  readonly report: PlaceReport;
  readonly restrictedNodes: number;
}

/** Starts a place, fills it, measures there and stops it. */
export async function benchPlace(name: PlaceName, context: BenchContext): Promise<BenchedPlace> {
  const { options, progress } = context;
  progress(`${name}: starting …`);
  const place = await startPlace(name, context.root);
  await using _stopping = place;
  const wants = (fact: FactName): boolean => options.what.has(fact);
  const idle = wants('memory') ? memoryFacts(place, 'idle and empty') : [];
  progress(`${name}: generating the graph …`);
  await generateLargeGraph(place.databaseUrl, SCALES[options.scale].graph);
  const world = await readWorld(place.databaseUrl, SCALES[options.scale]);
  const aim = await place.admit(world);
  await using load = new LoadProcess();
  const measurements = await measureAll({ ...context, place, world, aim, load });
  const after = wants('memory') ? memoryFacts(place, 'after the load', MOST_MB) : [];
  const edge = wants('start') || wants('sessions') ? await factsOfFreshEdge(place, { aim, load, context }) : [];
  return {
    report: { name, title: place.title, measurements, facts: [...idle, ...after, ...edge] },
    restrictedNodes: world.graph.restrictedNodes,
  };
}

function startPlace(name: PlaceName, root: string): Promise<Place> {
  switch (name) {
    case 'service':
      return startServicePlace();
    case 'local':
      return startLocalPlace(root);
    case 'central':
      return startCentralPlace(root);
  }
}

/** Starts, and MCP sessions in what was started. */
async function factsOfFreshEdge(
  place: Place,
  { aim, load, context }: { readonly aim: Aim; readonly load: LoadProcess; readonly context: BenchContext },
): Promise<Fact[]> {
  const { what, scale } = context.options;
  const edge = await place.freshEdge?.();
  if (!edge || aim.token === undefined) return [];
  const starts = what.has('start') ? startFacts({ ...place.firstStartMs, ...edge.startedMs }) : [];
  if (!what.has('sessions')) return starts;
  context.progress(`${place.name}: MCP sessions …`);
  return [...starts, ...(await sessionFacts(edge, { load, token: aim.token, count: SCALES[scale].sessions }))];
}

interface MeasureContext extends BenchContext {
  readonly place: Place;
  readonly world: World;
  readonly aim: Aim;
  readonly load: LoadProcess;
}

async function measureAll(context: MeasureContext): Promise<MeasurementReport[]> {
  const pool = new pg.Pool({ connectionString: context.place.databaseUrl, max: 1 });
  try {
    const reports: MeasurementReport[] = [];
    for (const measurement of MEASUREMENTS.filter(({ name }) => context.options.what.has(name))) {
      reports.push(await measure(measurement, pool, context));
    }
    return reports;
  } finally {
    await pool.end();
  }
}

async function measure(measurement: Measurement, pool: pg.Pool, context: MeasureContext): Promise<MeasurementReport> {
  const { place, options, progress, load, aim } = context;
  const { name, title, target } = measurement;
  const surroundings = surroundingsOf(pool, context);
  const plan = await measurement.plan(surroundings);
  const product = await load.arm(aim.shots(plan.calls, plan.before));
  const { databaseUrl: url, poolSize } = place;
  const bare = await load.arm({ via: 'sql', url, poolSize, name: `bare.${name}`, ...plan.baseline });
  const compared = await compareAnswers(
    plan,
    { product, bare },
    { ...surroundings, count: SCALES[options.scale].compared },
  );
  const lines: JudgedLine[] = [];
  for (const connections of options.connections) {
    const settle = (): Promise<void> => (place.url === undefined ? Promise.resolve() : untilOutboxIsEmpty(pool));
    const line = await measureRounds({ product, bare }, { connections, seconds: options.seconds, settle });
    lines.push(judge(line, target, place.name));
    const [mine, theirs] = [line.product.p50Ms, line.bare.p50Ms].map((ms) => ms.toFixed(2));
    progress(
      `${place.name}: ${title}, ${connections} at once: ${mine} ms, bare ${theirs} ms, ${line.ratio.toFixed(2)}×`,
    );
  }
  await product.close();
  await bare.close();
  return { name, title, compared, lines };
}

function surroundingsOf(pool: pg.Pool, { world, aim, load }: MeasureContext): Surroundings {
  return {
    world,
    ask: async (call) => {
      const gun = await load.arm(aim.shots([call]));
      const answer = await gun.ask(0);
      await gun.close();
      return answer;
    },
    sql: async (text, values = []) => (await pool.query<Record<string, unknown>>(text, [...values])).rows,
  };
}

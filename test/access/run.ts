import {
  authenticateDevice,
  type Caller,
  type Envelope,
  type ErrorBody,
  type Operation,
  RawJson,
  ServiceError,
} from '@workspace-graph/contracts';
import { newId, OperationRegistry } from '@workspace-graph/platform';
import { FileModule } from '@workspace-graph/service-file';
import { GraphModule } from '@workspace-graph/service-graph';
import { IdentityModule } from '@workspace-graph/service-identity';
import { type ServiceHarness, startServices } from '@workspace-graph/testing';
import { compareAll, compareSome } from './compare.js';
import { perform } from './perform.js';
import { planStep } from './plan.js';
import { Random } from './random.js';
import type { Call, Session } from './session.js';
import { isPossible, type Step } from './step.js';
import { type AccessTable, accessTable, emptyWorld, type Name } from './world.js';

/** Steps between two comparisons of everything. */
const FULL_EVERY = 100;

/** A step at which product and rules disagree, with all that led there. */
export class Disagreement extends Error {
  readonly seed: number;

  constructor(
    readonly steps: readonly Step[],
    { seed, cause }: { readonly seed: number; readonly cause: unknown },
  ) {
    super(`step ${steps.length} of seed ${seed}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    this.seed = seed;
  }
}

export interface WorldRun {
  readonly seed: number;
  /** Most random steps. */
  readonly count: number;
  readonly mayGoOn?: () => boolean;
  /** Called with the product before the first step. */
  readonly prepare?: (harness: ServiceHarness) => Promise<void>;
}

/** Random steps over a fresh world, compared after each; answers how many, or throws a Disagreement. */
export async function runWorld({ prepare, ...steps }: WorldRun): Promise<number> {
  return inFreshWorld(async (session, harness) => {
    await prepare?.(harness);
    return runSteps(session, steps);
  });
}

export interface StepsRun extends Omit<WorldRun, 'prepare'> {
  /** False for a step that is left out. Default: none is. */
  readonly isOf?: (step: Step) => boolean;
}

/** The same over a world that is there, with users and nothing else. */
export async function runSteps(
  session: Session,
  { seed, count, mayGoOn = () => true, isOf = () => true }: StepsRun,
): Promise<number> {
  const random = new Random(seed);
  const done: Step[] = [];
  try {
    for (const step of firstSteps()) await doStep(session, step, random, done);
    for (let index = 0; index < count && mayGoOn(); index += 1) {
      const step = planStep(random, session.world);
      if (isOf(step)) await doStep(session, step, random, done);
    }
    await compareAll(session, random);
    return done.length;
  } catch (error) {
    throw new Disagreement(done, { seed, cause: error });
  }
}

/** Does the given steps over a fresh world and compares everything at the end; answers what went wrong, or null. */
export async function replay(steps: readonly Step[]): Promise<unknown> {
  return inFreshWorld(async (session) => {
    try {
      for (const step of steps) if (isPossible(session.world, step)) await perform(session, step);
      await compareAll(session, new Random(1));
      return null;
    } catch (error) {
      return error;
    }
  });
}

async function doStep(session: Session, step: Step, random: Random, done: Step[]): Promise<void> {
  const before = session.table;
  done.push(step);
  await perform(session, step);
  const moved = movedUsers(before, session.table);
  const looked = new Set([
    ...(moved.length > 0 ? random.some(moved, 2) : []),
    random.pick([...session.world.users.keys()]),
  ]);
  for (const user of looked) await compareSome(session, user, random, 1);
  if (done.length % FULL_EVERY === 0) await compareAll(session, random);
}

function movedUsers(before: AccessTable, after: AccessTable): Name[] {
  return [...after.levels]
    .filter(([user, levels]) => {
      const former = before.levels.get(user);
      return [...levels].some(([node, level]) => former?.get(node) !== level);
    })
    .map(([user]) => user);
}

/** The principal that a device of a user is. */
async function deviceOf(user: Caller, harness: ServiceHarness): Promise<Caller> {
  const device_id = newId();
  await harness.database.prisma.device.create({ data: { id: device_id, userId: user.user_id, name: 'desk' } });
  return (await harness.call(authenticateDevice, { device_id }, user)).caller;
}

/** One of each pair calls by a device. */
export const SCOPES = ['manage', 'manage', 'write', 'write', 'read', 'read'] as const;

async function inFreshWorld<R>(work: (session: Session, harness: ServiceHarness) => Promise<R>): Promise<R> {
  const harness = await startServices([GraphModule, IdentityModule, FileModule]);
  // Schemas of replies are checked by the services' own specs.
  harness.module.get(OperationRegistry).validateReplies = false;
  try {
    const world = emptyWorld();
    for (const [index, scope] of SCOPES.entries()) {
      const user = await harness.user(`u${index}`, scope);
      world.users.set(`u${index}`, index % 2 === 0 ? user : await deviceOf(user, harness));
    }
    return await work({ world, table: accessTable(world), call: callOf(harness) }, harness);
  } finally {
    await harness.close();
  }
}

/** Calls as the bus makes them. */
function callOf(harness: ServiceHarness): Call {
  const { dispatch } = harness.module.get(OperationRegistry);
  return callBy((operation, input, envelope) =>
    dispatch(operation, input, { envelope, signal: new AbortController().signal }),
  );
}

type Carry = (operation: Operation, input: Record<string, unknown>, envelope: Envelope) => Promise<unknown>;

/** Calls whose refusals are answers, whatever carries them. */
export function callBy(carry: Carry): Call {
  const call = async (
    operation: Operation,
    input: Record<string, unknown>,
    caller: Parameters<Call>[2],
  ): Promise<unknown> => {
    const callId = newId();
    try {
      const reply = await carry(operation, input, { callId, requestId: 'same', caller });
      return { ok: true, value: reply instanceof RawJson ? reply.parse() : reply };
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      const { code, message, details }: ErrorBody = error.toBody('same');
      return { ok: false, error: { code, message, ...(details ? { details } : {}) } };
    }
  };
  return call as Call;
}

/** What every world begins with: some groups, and actors of whom some are users. */
function firstSteps(): Step[] {
  const by = { by: 'u0', ask: false };
  return [
    ...['g0', 'g00', 'g000'].map((group): Step => ({ ...by, change: { do: 'create_group', group } })),
    ...['a0', 'a00', 'a000', 'a0000'].map(
      (actor, index): Step => ({
        ...by,
        change: { do: 'create_actor', actor, user: index < 3 ? `u${index + 1}` : null },
      }),
    ),
  ];
}

import { deepStrictEqual } from 'node:assert/strict';
import type { Armed } from '../load/load-process.js';
import { onlyJson, type Pair, type Plan, type Row, type Surroundings } from './measurement.js';

/** The product and the hand-written query answered differently: the figures would compare unlike things. */
export class AnswersDiffer extends Error {}

export interface Sides {
  readonly product: Armed;
  readonly bare: Armed;
}

/** Compares the two answers of the first calls. @throws AnswersDiffer with what differs */
export async function compareAnswers(
  plan: Plan,
  { product, bare }: Sides,
  { sql, count }: Pick<Surroundings, 'sql'> & { readonly count: number },
): Promise<number> {
  const compared = Math.min(count, plan.calls.length);
  for (let index = 0; index < compared; index++) {
    const answer = await product.ask(index);
    const rows = (await bare.ask(index)) as Row[];
    const describe = (): string => JSON.stringify(plan.calls[index]?.input);
    mustEqual(plan.pair(answer, rows), describe);
    if (!plan.left) continue;
    const [byProduct, byHand] = [plan.left(answer), plan.left(onlyJson(rows))];
    const left = { product: await sql(byProduct.text, byProduct.values), bare: await sql(byHand.text, byHand.values) };
    mustEqual(left, describe);
  }
  return compared;
}

function mustEqual({ product, bare }: Pair, describe: () => string): void {
  try {
    deepStrictEqual(product, bare);
  } catch (cause) {
    const message = cause instanceof Error ? cause.message.slice(0, 4_000) : String(cause);
    throw new AnswersDiffer(`The product (+) and the bare query (-) differ for ${describe()}\n${message}`, { cause });
  }
}

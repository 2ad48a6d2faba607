import type { QueryKey } from '@tanstack/react-query';
import { queries } from './client';

/** When the oldest part of an answer was asked for, in milliseconds of `performance.now`. */
const asked = new WeakMap<object, number>();

/** Notes from now on when answers are asked for. */
export function noteQuestions(): void {
  queries.getQueryCache().subscribe((event) => {
    if (event.type !== 'updated' || event.action.type !== 'fetch') return;
    // A further page leaves those before it as old as they are.
    if (!event.action.meta?.fetchMore) asked.set(event.query, performance.now());
  });
}

/** Puts an answer that came with another one. */
export function putAnswer<T>(queryKey: QueryKey, answer: T, askedMs: number): void {
  queries.setQueryData(queryKey, answer);
  const query = queries.getQueryCache().find({ queryKey });
  if (query) asked.set(query, askedMs);
}

/** Whether an answer may be older than what was told at a moment. */
export function mayPrecede(query: object, toldMs: number): boolean {
  return (asked.get(query) ?? Number.NEGATIVE_INFINITY) <= toldMs;
}

import { type BeforeApplicationShutdown, Injectable, type OnModuleInit } from '@nestjs/common';
import { ServiceError } from '@workspace-graph/contracts';
import { MovedObjects } from '../changes/moved-objects.js';
import { CentreIntents } from './centre-intents.js';
import { InterruptedChanges } from './interrupted-changes.js';
import { ObjectFollows } from './object-follows.js';
import type { CentreIntent } from './remote-file.statements.js';

const EVERY_MS = 60_000;

/** Finishes or takes back what a process that ended, or a remote that was away, has left half done. */
@Injectable()
export class Repairs implements OnModuleInit, BeforeApplicationShutdown {
  private timer: NodeJS.Timeout | undefined;
  private readonly ended = new AbortController();
  private running: Promise<unknown> | null = null;
  private stopHearing: () => void = () => undefined;
  /** Something was noted while the others were looked at. */
  private isDue = false;

  constructor(
    private readonly intents: CentreIntents,
    private readonly changes: InterruptedChanges,
    private readonly follows: ObjectFollows,
    private readonly moved: MovedObjects,
  ) {}

  onModuleInit(): void {
    this.stopHearing = this.moved.onNoted(() => this.soon());
    this.again(0);
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stopHearing();
    clearTimeout(this.timer);
    this.ended.abort();
    await this.running;
  }

  /** Looks at everything that is noted, and again while what was in the way of others goes. @returns how many are settled */
  async run(): Promise<number> {
    let settled = 0;
    for (;;) {
      const pass = await this.pass();
      settled += pass.settled;
      if (pass.occupied.length === 0 || this.ended.signal.aborted) return settled;
      if (pass.settled === 0 && !(await this.unwind(pass.occupied))) return settled;
    }
  }

  private async pass(): Promise<{ readonly settled: number; readonly occupied: readonly CentreIntent[] }> {
    let settled = 0;
    const occupied: CentreIntent[] = [];
    for (let after: string | null = null; ; ) {
      const intents = await this.intents.after(after);
      for (const intent of intents) {
        if (this.ended.signal.aborted) return { settled, occupied };
        const outcome = await this.settle(intent);
        if (outcome === 'settled') settled += 1;
        if (outcome === 'occupied') occupied.push(intent);
      }
      after = intents.at(-1)?.id ?? null;
      if (after === null) return { settled, occupied };
    }
  }

  /** What fails here is tried again with the others. */
  private unwind(occupied: readonly CentreIntent[]): Promise<boolean> {
    return this.follows.unwind(occupied.filter(isFollow), this.ended.signal).catch(() => false);
  }

  private soon(): void {
    this.isDue = true;
    if (this.running === null) this.again(0);
  }

  private again(afterMs: number): void {
    clearTimeout(this.timer);
    if (this.ended.signal.aborted) return;
    this.timer = setTimeout(() => {
      this.isDue = false;
      // What fails now is tried again in a minute.
      this.running = this.run()
        .catch(() => undefined)
        .finally(() => {
          this.running = null;
          this.again(this.isDue ? 0 : EVERY_MS);
        });
    }, afterMs).unref();
  }

  private async settle(noted: CentreIntent): Promise<'settled' | 'occupied' | 'failed'> {
    try {
      const { signal } = this.ended;
      const isSettled = await (isFollow(noted)
        ? this.follows.settle(noted, signal)
        : this.changes.finish(noted, signal));
      return isSettled ? 'settled' : 'failed';
    } catch (error) {
      if (!this.ended.signal.aborted) await this.intents.fail(noted, error).catch(() => undefined);
      return error instanceof ServiceError && error.code === 'DESTINATION_EXISTS' ? 'occupied' : 'failed';
    }
  }
}

/** Whether an object is to go where its record has gone before. */
function isFollow({ kind, to_object }: CentreIntent): boolean {
  return kind === 'move' && to_object === null;
}

import type { Operation, Owner } from '@workspace-graph/contracts';
import type { BusLogger, Dispatch, Serving } from '../bus.js';
import type { Outcome } from '../codec.js';
import { shuttingDown } from '../failures.js';
import type { Run } from '../run.js';
import type { BusSettings } from '../settings.js';
import { Underway } from '../underway.js';
import { Work } from '../work.js';
import type { HubInstance, InProcessHub } from './hub.js';

/** One instance of an owner inside this process. */
export class InProcessServing implements Serving, HubInstance {
  readonly names: readonly string[];
  private readonly work = new Work();
  private readonly runs = new Underway<Run>();
  private stopping: Promise<void> | undefined;

  constructor(
    readonly owner: Owner,
    operations: readonly Operation[],
    private readonly dispatch: Dispatch,
    private readonly host: { readonly hub: InProcessHub; readonly settings: BusSettings; readonly logger: BusLogger },
  ) {
    this.names = operations.map((operation) => operation.name);
  }

  async pause(): Promise<void> {
    this.host.hub.removeInstance(this);
  }

  async resume(): Promise<void> {
    if (this.stopping !== undefined) return;
    this.host.hub.removeInstance(this);
    this.host.hub.addInstance(this);
  }

  handle(run: Run, text: string): Promise<Outcome> {
    const outcome = run.perform(this.dispatch, text, this.host.settings.replyBytes, this.host.logger);
    this.work.add(outcome.finally(this.runs.add(run)));
    return outcome;
  }

  stop(): Promise<void> {
    this.stopping ??= this.drain();
    return this.stopping;
  }

  private async drain(): Promise<void> {
    this.host.hub.removeInstance(this);
    if (await this.work.idle(this.host.settings.drainMs)) return;
    this.host.logger.warn(
      { owner: this.owner, calls: this.runs.size },
      'calls that did not end during the drain were aborted',
    );
    for (const run of this.runs) run.abort(shuttingDown());
  }
}

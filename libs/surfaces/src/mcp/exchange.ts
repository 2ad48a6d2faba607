import { Underway } from '@workspace-graph/bus';
import type { Connection } from './connection.js';

/** One HTTP request being served. Its signal ends when the client leaves, its credential ends, or the process stops. */
export class Exchange {
  private readonly controller = new AbortController();
  private readonly finishers: (() => void)[] = [];
  private open = false;
  private cutOff = false;
  private finished = false;

  /** The connection is replaced once it is known where it is at home. */
  constructor(public connection: Connection) {}

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** The answer is a stream: nobody waits for its end. */
  get streaming(): boolean {
    return this.open;
  }

  /** The credential has ended meanwhile. */
  get revoked(): boolean {
    return this.cutOff;
  }

  end(): void {
    if (!this.finished) this.controller.abort();
  }

  revoke(): void {
    this.cutOff = true;
    this.end();
  }

  stream(): void {
    this.open = true;
  }

  whenFinished(work: () => void): void {
    this.finishers.push(work);
  }

  finish(): void {
    this.finished = true;
    for (const work of this.finishers.splice(0)) work();
  }
}

/** What is being served at the moment. */
export class Exchanges {
  private readonly open = new Underway<Exchange>();
  private onQuiet: (() => void) | undefined;

  get calls(): number {
    return [...this.open].filter((exchange) => !exchange.streaming).length;
  }

  get streams(): number {
    return this.open.size - this.calls;
  }

  begin(connection: Connection): Exchange {
    const exchange = new Exchange(connection);
    exchange.whenFinished(this.open.add(exchange));
    return exchange;
  }

  /** The exchange goes on as a stream. */
  stream(exchange: Exchange): void {
    exchange.stream();
    this.noteQuiet();
  }

  finish(exchange: Exchange): void {
    exchange.finish();
    this.noteQuiet();
  }

  /** Ends what belongs to a credential that has ended. */
  revokeWhere(matches: (connection: Connection) => boolean): void {
    for (const exchange of this.open) if (matches(exchange.connection)) exchange.revoke();
  }

  endAll(): void {
    for (const exchange of this.open) exchange.end();
  }

  /** Resolves when no call is under way, or after `timeoutMs`. */
  async quiet(timeoutMs: number): Promise<void> {
    if (this.calls === 0) return;
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.onQuiet = resolve;
      timer = setTimeout(resolve, timeoutMs);
    });
    clearTimeout(timer);
  }

  private noteQuiet(): void {
    if (this.onQuiet && this.calls === 0) this.onQuiet();
  }
}

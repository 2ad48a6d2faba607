import type { Bus, BusLogger } from '../bus.js';
import type { BusSettings } from '../settings.js';

export interface PartyOptions {
  readonly settings?: Partial<BusSettings>;
  readonly logger: BusLogger;
}

/** What the parties of a bus share: a process, a broker. A transport gives one of these to join the suite. */
export interface BusMedium {
  /** Its parties share one process, so that whoever calls is that process itself. */
  readonly isOneProcess?: true;
  /** A further party, as another process would be. */
  open(options: PartyOptions): Bus;
  /** Parts the parties from each other without warning. */
  readonly outage?: { begin(): Promise<void>; end(): Promise<void> };
  /** Starts a process that serves `PROBE` as `probe-server.ts` tells, and answers how to kill it by its process id. */
  readonly startServer?: () => Promise<ServerProcess>;
  close(): Promise<void>;
}

export interface ServerProcess {
  readonly pid: number;
  /** Ends it by SIGKILL, if it still runs. */
  kill(): Promise<void>;
}

/** Scenarios that a transport has no way to play, each with the reason. */
export interface Exemptions {
  readonly outage?: string;
  readonly startServer?: string;
}

import type { Logger } from '../logging/index.js';

/**
 * What happens when a process is told to stop, in this order: `announce` that it leaves while it still takes work,
 * `refuse` new work, let work under way end (`drain`), leave the `bus`, close the `stores`, flush what is `last`.
 */
export const SHUTDOWN_PHASES = ['announce', 'refuse', 'drain', 'bus', 'stores', 'last'] as const;
export type ShutdownPhase = (typeof SHUTDOWN_PHASES)[number];
export type ShutdownStep = () => void | Promise<void>;

/** Options of a shutdown. */
export interface ShutdownOptions {
  /** Milliseconds that `refuse` and `drain` may take together. */
  readonly graceMs: number;
  /** Milliseconds that `announce` is meant to take; none after a crash. Default 0. */
  readonly announceMs?: number;
  /** Receives steps that failed or did not end in time. */
  readonly logger: Logger;
  /** Default: ends the process. */
  readonly exit?: (code: number) => void;
}

/** Milliseconds that closing connections may take beyond the grace, per phase. */
const CLOSE_MS = 3_000;
const CRASH = 'crash';
const REPEATED_SIGNAL_MS = 500;
const SIGNALS = { SIGINT: 2, SIGTERM: 15, SIGHUP: 1 } as const;
type Signal = keyof typeof SIGNALS;

interface Step {
  readonly phase: ShutdownPhase;
  readonly name: string;
  readonly run: ShutdownStep;
}

/** Ends the process in order and in bounded time. A second signal, half a second later or more, ends it at once. */
export class Shutdown {
  private steps: readonly Step[] = [];
  private ending: Promise<boolean> | undefined;
  private hasBegun = false;
  private hasAnnounced = false;
  private begunAtMs = 0;
  private readonly exit: (code: number) => void;

  constructor(private readonly options: ShutdownOptions) {
    this.exit = options.exit ?? ((code) => process.exit(code));
  }

  /** True from the stop signal on: those who look for somebody to work for them should look elsewhere. */
  get leaving(): boolean {
    return this.hasBegun;
  }

  /** True once that was announced: take no new work. */
  get stopping(): boolean {
    return this.hasAnnounced;
  }

  /** Adds a step. Steps of one phase run at the same time. Returns the function that takes it out again. */
  add(phase: ShutdownPhase, name: string, run: ShutdownStep): () => void {
    const step: Step = { phase, name, run };
    this.steps = [...this.steps, step];
    return () => {
      this.steps = this.steps.filter((other) => other !== step);
    };
  }

  /** Begins on SIGTERM, SIGINT and SIGHUP, and after an error that nobody caught. Returns the function that ends listening. */
  listen(): () => void {
    const onSignal = (signal: Signal): void => void this.onSignal(signal);
    const onCrash = (error: unknown): void => void this.onCrash(error);
    for (const signal of Object.keys(SIGNALS)) process.on(signal, onSignal);
    process.on('uncaughtException', onCrash).on('unhandledRejection', onCrash);
    return () => {
      for (const signal of Object.keys(SIGNALS)) process.off(signal, onSignal);
      process.off('uncaughtException', onCrash).off('unhandledRejection', onCrash);
    };
  }

  /** Runs all steps once. Resolves with true when every one ended well and in time; never rejects. */
  begin(reason: string): Promise<boolean> {
    this.ending ??= this.run(reason);
    return this.ending;
  }

  private async onSignal(signal: Signal): Promise<void> {
    if (this.leaving) {
      // One Ctrl-C can arrive twice: from the terminal's process group and passed on by a parent.
      if (performance.now() - this.begunAtMs < REPEATED_SIGNAL_MS) return;
      return this.exit(128 + SIGNALS[signal]);
    }
    this.exit((await this.begin(signal)) ? 0 : 1);
  }

  private async onCrash(error: unknown): Promise<void> {
    this.options.logger.fatal({ err: error }, 'an uncaught error');
    if (this.leaving) return;
    await this.begin(CRASH);
    this.exit(1);
  }

  private async run(reason: string): Promise<boolean> {
    const { logger, graceMs, announceMs = 0 } = this.options;
    this.hasBegun = true;
    this.begunAtMs = performance.now();
    logger.info({ reason }, 'stopping');
    let clean = await this.runPhase('announce', reason === CRASH ? 0 : announceMs + CLOSE_MS);
    this.hasAnnounced = true;
    const graceEndsMs = performance.now() + graceMs;
    for (const phase of SHUTDOWN_PHASES.slice(1)) {
      const isPatient = phase === 'refuse' || phase === 'drain';
      const withinMs = isPatient ? Math.max(0, graceEndsMs - performance.now()) : CLOSE_MS;
      clean = (await this.runPhase(phase, withinMs)) && clean;
      if (phase === 'stores') logger.info({ clean, ms: Math.round(performance.now() - this.begunAtMs) }, 'stopped');
    }
    return clean;
  }

  private async runPhase(phase: ShutdownPhase, withinMs: number): Promise<boolean> {
    const steps = this.steps.filter((step) => step.phase === phase);
    if (steps.length === 0) return true;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<false>((resolve) => {
      timer = setTimeout(() => resolve(false), withinMs);
    });
    const outcomes = await Promise.all(steps.map((step) => this.runStep(step, late)));
    clearTimeout(timer);
    return outcomes.every(Boolean);
  }

  private async runStep({ phase, name, run }: Step, late: Promise<false>): Promise<boolean> {
    try {
      const inTime = await Promise.race([Promise.resolve(run()).then(() => true), late]);
      if (!inTime) this.options.logger.warn({ phase, step: name }, 'a shutdown step did not end in time');
      return inTime;
    } catch (error) {
      this.options.logger.error({ phase, step: name, err: error }, 'a shutdown step failed');
      return false;
    }
  }
}

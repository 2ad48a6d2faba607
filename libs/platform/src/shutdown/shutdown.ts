import type { Logger } from '../logging/index.js';

/**
 * What happens when a process is told to stop, in this order: `refuse` new work, let work under way end (`drain`),
 * leave the `bus`, close the `stores`, flush what is `last`.
 */
export const SHUTDOWN_PHASES = ['refuse', 'drain', 'bus', 'stores', 'last'] as const;
export type ShutdownPhase = (typeof SHUTDOWN_PHASES)[number];
export type ShutdownStep = () => void | Promise<void>;

export interface ShutdownOptions {
  /** Milliseconds that all steps up to `drain` may take together. */
  readonly graceMs: number;
  readonly logger: Logger;
  /** Default: ends the process. */
  readonly exit?: (code: number) => void;
}

/** Milliseconds that closing connections may take beyond the grace, per phase. */
const CLOSE_MS = 3_000;
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
  private begunAtMs = 0;
  private readonly exit: (code: number) => void;

  constructor(private readonly options: ShutdownOptions) {
    this.exit = options.exit ?? ((code) => process.exit(code));
  }

  /** True from the stop signal on: take no new work. */
  get stopping(): boolean {
    return this.hasBegun;
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
    if (this.stopping) {
      // One Ctrl-C can arrive twice: from the terminal's process group and passed on by a parent.
      if (performance.now() - this.begunAtMs < REPEATED_SIGNAL_MS) return;
      return this.exit(128 + SIGNALS[signal]);
    }
    this.exit((await this.begin(signal)) ? 0 : 1);
  }

  private async onCrash(error: unknown): Promise<void> {
    this.options.logger.fatal({ err: error }, 'an error was caught by nobody');
    if (this.stopping) return;
    await this.begin('crash');
    this.exit(1);
  }

  private async run(reason: string): Promise<boolean> {
    const { logger, graceMs } = this.options;
    const startedAtMs = performance.now();
    this.hasBegun = true;
    this.begunAtMs = startedAtMs;
    logger.info({ reason }, 'stopping');
    let clean = true;
    for (const phase of SHUTDOWN_PHASES) {
      const graceLeftMs = Math.max(0, graceMs - (performance.now() - startedAtMs));
      const isPatient = phase === 'refuse' || phase === 'drain';
      clean = (await this.runPhase(phase, isPatient ? graceLeftMs : CLOSE_MS)) && clean;
      if (phase === 'stores') logger.info({ clean, ms: Math.round(performance.now() - startedAtMs) }, 'stopped');
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
      if (!inTime) this.options.logger.warn({ phase, step: name }, 'a step of stopping did not end in time');
      return inTime;
    } catch (error) {
      this.options.logger.error({ phase, step: name, err: error }, 'a step of stopping failed');
      return false;
    }
  }
}

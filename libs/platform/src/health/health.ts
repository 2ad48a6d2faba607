import type { Logger } from '../logging/index.js';

/** Resolves when the dependency can be used, rejects or answers false when it cannot. */
export type ReadinessCheck = () => boolean | Promise<unknown>;

interface Entry {
  readonly name: string;
  readonly check: ReadinessCheck;
  wasReady: boolean;
}

const CHECK_TIMEOUT_MS = 2_000;
/** Anybody may ask, so the dependencies are asked at most this often. */
const MAX_AGE_MS = 250;

/** Knows whether this process can do its work. Which check fails is told to the log, never to who asks. */
export class Health {
  private readonly entries: Entry[] = [];
  private asked: { readonly atMs: number; readonly ready: Promise<boolean> } | undefined;
  private stopping = false;

  constructor(private readonly logger: Logger) {}

  /** Adds a check that `ready` needs. */
  add(name: string, check: ReadinessCheck): void {
    this.entries.push({ name, check, wasReady: true });
  }

  /** From here on the process is not ready, so that nobody sends it new work. */
  stop(): void {
    this.stopping = true;
  }

  /** Never rejects. */
  async ready(): Promise<boolean> {
    if (this.stopping) return false;
    const now = performance.now();
    if (!this.asked || now - this.asked.atMs > MAX_AGE_MS) this.asked = { atMs: now, ready: this.askAll() };
    return (await this.asked.ready) && !this.stopping;
  }

  private async askAll(): Promise<boolean> {
    const answers = await Promise.all(this.entries.map((entry) => this.ask(entry)));
    return answers.every(Boolean);
  }

  private async ask(entry: Entry): Promise<boolean> {
    const { ready, reason } = await outcomeOf(entry.check);
    if (ready !== entry.wasReady) {
      if (ready) this.logger.info({ check: entry.name }, 'a dependency is usable again');
      else this.logger.warn({ check: entry.name, err: reason }, 'a dependency cannot be used');
    }
    entry.wasReady = ready;
    return ready;
  }
}

async function outcomeOf(check: ReadinessCheck): Promise<{ readonly ready: boolean; readonly reason?: unknown }> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    timer = setTimeout(() => resolve(false), CHECK_TIMEOUT_MS);
  });
  try {
    return { ready: (await Promise.race([check(), late])) !== false };
  } catch (reason) {
    return { ready: false, reason };
  } finally {
    clearTimeout(timer);
  }
}

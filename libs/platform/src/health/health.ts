import type { Logger } from '../logging/index.js';

/** Resolves when the dependency can be used, rejects or answers false when it cannot. */
export type ReadinessCheck = () => boolean | Promise<unknown>;

interface Entry {
  readonly name: string;
  readonly check: ReadinessCheck;
  readonly listeners: Set<(usable: boolean) => void>;
  wasReady: boolean;
  /** The last answer, and when it was asked for. */
  asked?: { readonly atMs: number; readonly ready: Promise<boolean> };
  /** The answer that is under way, and the one that is asked for after it. */
  running?: Promise<boolean>;
  next?: Promise<boolean>;
}

const CHECK_TIMEOUT_MS = 2_000;
/** Anybody may ask, so the dependencies are asked at most this often. */
const MAX_AGE_MS = 250;
/** How often a followed dependency is asked, beside those who ask by themselves. */
const FOLLOW_MS = 500;

/** Knows whether this process can do its work. Which check fails is told to the log, never to who asks. */
export class Health {
  private readonly entries: Entry[] = [];
  private stopping = false;

  constructor(private readonly logger: Logger) {}

  /** Adds a check that `ready` needs. */
  add(name: string, check: ReadinessCheck): void {
    this.entries.push({ name, check, listeners: new Set(), wasReady: true });
  }

  /** Asks a dependency anew: what it answered before says nothing about now. Never rejects. */
  isUsable(name: string): Promise<boolean> {
    const entry = this.entry(name);
    if (!entry.running) return this.begin(entry);
    entry.next ??= entry.running.then(() => {
      entry.next = undefined;
      return this.begin(entry);
    });
    return entry.next;
  }

  /** Keeps asking a dependency and tells when its answer changes. Returns the function that ends it. */
  follow(name: string, onChange: (usable: boolean) => void): () => void {
    const { listeners } = this.entry(name);
    listeners.add(onChange);
    let timer: NodeJS.Timeout | undefined;
    const look = async (): Promise<void> => {
      await this.isUsable(name);
      if (listeners.has(onChange)) timer = setTimeout(() => void look(), FOLLOW_MS);
    };
    void look();
    return () => {
      listeners.delete(onChange);
      clearTimeout(timer);
    };
  }

  /** From here on the process is not ready, so that nobody sends it new work. */
  stop(): void {
    this.stopping = true;
  }

  /** Never rejects. */
  async ready(): Promise<boolean> {
    if (this.stopping) return false;
    const answers = await Promise.all(this.entries.map((entry) => this.recent(entry)));
    return answers.every(Boolean) && !this.stopping;
  }

  private entry(name: string): Entry {
    const found = this.entries.find((entry) => entry.name === name);
    if (!found) throw new Error(`There is no check ${name}`);
    return found;
  }

  private recent(entry: Entry): Promise<boolean> {
    if (entry.running !== undefined) return entry.running;
    const { asked } = entry;
    return asked && performance.now() - asked.atMs <= MAX_AGE_MS ? asked.ready : this.begin(entry);
  }

  private begin(entry: Entry): Promise<boolean> {
    const ready = this.ask(entry).finally(() => {
      entry.running = undefined;
    });
    entry.running = ready;
    entry.asked = { atMs: performance.now(), ready };
    return ready;
  }

  private async ask(entry: Entry): Promise<boolean> {
    const { ready, reason } = await outcomeOf(entry.check);
    if (ready === entry.wasReady) return ready;
    entry.wasReady = ready;
    if (ready) this.logger.info({ check: entry.name }, 'a dependency is available again');
    else this.logger.warn({ check: entry.name, err: reason }, 'a dependency is not available');
    for (const listener of entry.listeners) listener(ready);
    return ready;
  }
}

async function outcomeOf(check: ReadinessCheck): Promise<{ readonly ready: boolean; readonly reason?: unknown }> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<false>((resolve) => {
    // Where this process itself was held up, the answer is there and only has to be read.
    timer = setTimeout(() => setImmediate(() => resolve(false)), CHECK_TIMEOUT_MS);
  });
  try {
    return { ready: (await Promise.race([check(), late])) !== false };
  } catch (reason) {
    return { ready: false, reason };
  } finally {
    clearTimeout(timer);
  }
}

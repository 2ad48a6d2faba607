import type { Bus, BusLogger, CallContext, CallOptions, Serving } from '../bus.js';
import type { BusSettings } from '../settings.js';
import { whenReady } from '../status.js';
import type { BusMedium } from './medium.js';
import { envelope, PROBE } from './probes.js';

interface LogEntry {
  readonly level: keyof BusLogger;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly message: string;
}

type Handler = (input: unknown, context: CallContext) => unknown;

/** The parties of one test. All of them leave when the test ends. */
export class Stage {
  readonly log: LogEntry[] = [];
  private readonly buses = new Set<Bus>();

  constructor(readonly medium: BusMedium) {}

  /** A party that may not have found the others yet. */
  enter(settings: Partial<BusSettings> = {}): Bus {
    const bus = this.medium.open({ settings, logger: this.logger() });
    this.buses.add(bus);
    return bus;
  }

  /** A party that is ready. */
  async join(settings: Partial<BusSettings> = {}): Promise<Bus> {
    const bus = this.enter(settings);
    await whenReady(bus, AbortSignal.timeout(10_000));
    return bus;
  }

  /** A party that answers PROBE. */
  async server(handler: Handler, settings: Partial<BusSettings> = {}): Promise<{ bus: Bus; serving: Serving }> {
    const bus = await this.join(settings);
    const serving = await bus.serve('graph', [PROBE], async (_operation, input, context) => handler(input, context));
    return { bus, serving };
  }

  /** Calls PROBE from a party of its own. */
  async ask(input: Record<string, unknown>, options: CallOptions = {}): Promise<unknown> {
    return (await this.join()).call(PROBE, input, envelope(), options);
  }

  errors(): LogEntry[] {
    return this.log.filter((entry) => entry.level === 'error');
  }

  warnings(): LogEntry[] {
    return this.log.filter((entry) => entry.level === 'warn');
  }

  async leave(): Promise<void> {
    await Promise.all([...this.buses].map((bus) => bus.close()));
  }

  private logger(): BusLogger {
    const at = (level: keyof BusLogger) => (fields: Readonly<Record<string, unknown>>, message: string) =>
      void this.log.push({ level, fields, message });
    return { debug: at('debug'), info: at('info'), warn: at('warn'), error: at('error') };
  }
}

/** Gives each test its own stage on a medium that they share. Call it inside `describe`. */
export function stageFor(open: () => Promise<BusMedium>): () => Stage {
  let medium: BusMedium | undefined;
  let stage: Stage | undefined;
  beforeAll(async () => {
    medium = await open();
  });
  beforeEach(() => {
    if (medium) stage = new Stage(medium);
  });
  afterEach(() => stage?.leave());
  afterAll(() => medium?.close());
  return () => {
    if (!stage) throw new Error('the stage is there only while a test runs');
    return stage;
  };
}

import { Refusal } from '@workspace-graph/client';
import { listSessionEvents, type SessionEvent } from '@workspace-graph/contracts';
import { client } from '../api/client';
import { live } from '../api/live';
import { LogPage, type Question, type ToolCall } from './log-page';

/** Events that are asked for, and kept or forgotten, together. */
const PAGE = 200;
/** The first look at a log, from its end. */
const FIRST = 100;
/** What is kept beside what is looked at: pages, and characters of their texts. */
const MOST = { pages: 30, characters: 12_000_000 };
/** What moves within this time is told and asked for together. */
const TOGETHER_MS = 40;

/**
 * The log of a session as far as it is looked at. `seq` counts events without a gap, so every event has its place before it is
 * known: pages are read where somebody looks, and forgotten again. What is new comes over the live channel.
 */
export class SessionLog {
  /** Of the last event; null until the first answer. */
  lastSeq: number | null = null;
  /** The session is not there any more for whoever looks. */
  isGone = false;
  error: unknown = null;
  private version = 0;
  private isStopped = false;
  private readonly pages = new Map<number, LogPage>();
  private readonly loads = new Map<number, AbortController>();
  private wanted = { from: 1, to: 0 };
  private telling: ReturnType<typeof setTimeout> | undefined;
  private asking: ReturnType<typeof setTimeout> | undefined;
  private unfollow: (() => void) | undefined;
  private readonly listeners = new Set<() => void>();

  constructor(readonly sessionId: string) {}

  /** Reads the end of the log and follows it until the answered function is called. */
  start(): () => void {
    this.isStopped = false;
    void this.begin();
    return () => this.stop();
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };
  /** Changes with whatever is known. */
  readonly getVersion = (): number => this.version;

  at(seq: number): SessionEvent | undefined {
    return this.pages.get(pageOf(seq))?.at(seq);
  }

  /** The event with which a call ended, later than this one. */
  endOf(callId: string, seq: number): ToolCall | undefined {
    for (const number of [...this.pages.keys()].filter((page) => page >= pageOf(seq)).sort((a, b) => a - b)) {
      const end = this.pages.get(number)?.endOf(callId);
      if (end && end.seq > seq) return end;
    }
    return undefined;
  }

  /** The event with which a call began. */
  beginningOf(callId: string, seq: number): ToolCall | undefined {
    for (const number of [...this.pages.keys()].filter((page) => page <= pageOf(seq)).sort((a, b) => b - a)) {
      const start = this.pages.get(number)?.startOf(callId);
      if (start && start.seq < seq) return start;
    }
    return undefined;
  }

  /** The beginning of a call whose end is known and shown in its place. */
  isEnded(event: SessionEvent): boolean {
    if (event.kind !== 'tool_call' || event.payload.phase !== 'started') return false;
    return this.endOf(event.payload.call_id, event.seq) !== undefined;
  }

  /** A question of the agent, as far as it is known. */
  question(requestId: string): Question | undefined {
    for (const page of this.pages.values()) {
      const question = page.question(requestId);
      if (question) return question;
    }
    return undefined;
  }

  /** These are looked at: what is missing of them is read. */
  want(from: number, to: number): void {
    if (from === this.wanted.from && to === this.wanted.to) return;
    this.wanted = { from, to };
    this.ask();
  }

  /** Asks again for what could not be read. */
  readonly retry = (): void => {
    this.error = null;
    this.tell();
    if (this.lastSeq === null) void this.begin();
    else this.ask();
  };

  private async begin(): Promise<void> {
    const load = this.loadOf(0);
    try {
      const input = { session_id: this.sessionId, newest: true, limit: FIRST };
      const { items, last_seq } = await client.call(listSessionEvents, input, { signal: load.signal });
      for (const event of items) this.put(event as SessionEvent);
      this.lastSeq = last_seq;
      this.follow();
    } catch (error) {
      this.fail(error, load);
    }
    if (this.loads.get(0) === load) this.loads.delete(0);
    if (!load.signal.aborted) this.tell();
  }

  private follow(): void {
    this.unfollow ??= live.follow(this.sessionId, {
      after: () => this.lastSeq ?? 0,
      onEvent: (event) => {
        this.put(event);
        this.lastSeq = Math.max(this.lastSeq ?? 0, event.seq);
        this.forget();
        this.tell();
      },
      onGone: () => this.end(),
    });
  }

  private ask(): void {
    this.asking ??= setTimeout(() => {
      this.asking = undefined;
      this.load();
    }, TOGETHER_MS);
  }

  private load(): void {
    if (this.lastSeq === null || this.isGone || this.error !== null) return;
    const to = Math.min(this.wanted.to, this.lastSeq);
    const pages = new Set<number>();
    for (let seq = Math.max(1, this.wanted.from); seq <= to; seq++) if (!this.at(seq)) pages.add(pageOf(seq));
    for (const [page, load] of this.loads) if (!pages.has(page)) load.abort();
    for (const page of pages) if (!this.loads.has(page)) void this.loadPage(page);
  }

  private async loadPage(page: number): Promise<void> {
    const load = this.loadOf(page);
    const { first, count } = this.missing(page);
    try {
      const input = { session_id: this.sessionId, after: first - 1, limit: count };
      const { items, last_seq } = await client.call(listSessionEvents, input, { signal: load.signal });
      for (const event of items) this.put(event as SessionEvent);
      this.lastSeq = Math.max(this.lastSeq ?? 0, last_seq);
      this.forget();
    } catch (error) {
      this.fail(error, load);
    }
    if (this.isStopped) return;
    this.loads.delete(page);
    this.tell();
    // A page of long texts comes in parts, and others may be looked at by now.
    this.ask();
  }

  private loadOf(page: number): AbortController {
    const load = new AbortController();
    this.loads.set(page, load);
    return load;
  }

  /** The first events of a page that are not known. */
  private missing(page: number): { readonly first: number; readonly count: number } {
    const end = Math.min((page + 1) * PAGE, this.lastSeq ?? 0);
    let first = page * PAGE + 1;
    while (first < end && this.at(first)) first++;
    let last = first;
    while (last < end && !this.at(last + 1)) last++;
    return { first, count: last - first + 1 };
  }

  private put(event: SessionEvent): void {
    const number = pageOf(event.seq);
    const page = this.pages.get(number) ?? new LogPage();
    this.pages.set(number, page);
    page.put(event);
  }

  /** Lets the pages go that lie farthest from what is looked at, once there are too many. */
  private forget(): void {
    const middle = (pageOf(this.wanted.from) + pageOf(this.wanted.to)) / 2;
    const byDistance = [...this.pages.keys()].sort((a, b) => Math.abs(a - middle) - Math.abs(b - middle));
    let characters = 0;
    for (const [place, number] of byDistance.entries()) {
      characters += this.pages.get(number)?.characters ?? 0;
      const isNear = Math.abs(number - middle) <= 1;
      if (!isNear && (place >= MOST.pages || characters > MOST.characters)) this.pages.delete(number);
    }
  }

  private fail(error: unknown, { signal }: AbortController): void {
    if (signal.aborted) return;
    if (error instanceof Refusal && error.code === 'SESSION_NOT_FOUND') this.end();
    else this.error = error;
  }

  /** What was read of it is not shown any more either. */
  private end(): void {
    this.isGone = true;
    this.pages.clear();
    this.lastSeq = 0;
    this.tell();
  }

  private tell(): void {
    this.telling ??= setTimeout(() => {
      this.telling = undefined;
      this.version++;
      for (const listener of this.listeners) listener();
    }, TOGETHER_MS);
  }

  private stop(): void {
    this.isStopped = true;
    this.unfollow?.();
    this.unfollow = undefined;
    for (const load of this.loads.values()) load.abort();
    this.loads.clear();
    clearTimeout(this.telling);
    clearTimeout(this.asking);
    [this.telling, this.asking] = [undefined, undefined];
  }
}

function pageOf(seq: number): number {
  return Math.floor((seq - 1) / PAGE);
}

import type { Operation, Owner } from '@workspace-graph/contracts';
import type { BusEvent } from '../bus.js';
import type { Outcome } from '../codec.js';
import type { Run } from '../run.js';

/** One of those who serve an owner. */
export interface HubInstance {
  readonly owner: Owner;
  /** Names of the operations that it serves. */
  readonly names: readonly string[];
  /** Never rejects. */
  handle(run: Run, text: string): Promise<Outcome>;
}

export interface HubListener {
  readonly types: ReadonlySet<string>;
  readonly group?: string;
  deliver(event: BusEvent): void;
}

/** What the parties of one process have in common: who serves what and who listens. */
export class InProcessHub {
  private readonly instances = new Map<string, Ring<HubInstance>>();
  private readonly listeners = new Set<HubListener>();
  private readonly arrivals = new Set<() => void>();
  private eventCount = 0;

  addInstance(instance: HubInstance): void {
    for (const name of instance.names)
      getOrAdd(this.instances, `${instance.owner}.${name}`, () => new Ring<HubInstance>()).add(instance);
    for (const wake of [...this.arrivals]) wake();
  }

  removeInstance(instance: HubInstance): void {
    for (const ring of this.instances.values()) ring.delete(instance);
  }

  /** The next instance in turn, or undefined while there is none. */
  next(operation: Operation): HubInstance | undefined {
    return this.instances.get(`${operation.owner}.${operation.name}`)?.next();
  }

  /** As `next`, but waits for an instance to come. */
  async nextWithin(operation: Operation, graceMs: number, signal: AbortSignal): Promise<HubInstance | undefined> {
    const deadlineAtMs = performance.now() + graceMs;
    for (;;) {
      const instance = this.next(operation);
      const leftMs = deadlineAtMs - performance.now();
      if (instance || leftMs <= 0 || signal.aborted) return instance;
      await this.arrival(leftMs, signal);
    }
  }

  addListener(listener: HubListener): void {
    this.listeners.add(listener);
  }

  removeListener(listener: HubListener): void {
    this.listeners.delete(listener);
  }

  /** The listeners that an event goes to: all without a group, and one of each group in turn. */
  audience(type: string): HubListener[] {
    const groups = new Map<string, HubListener[]>();
    const chosen: HubListener[] = [];
    for (const listener of this.listeners) {
      if (!listener.types.has(type)) continue;
      if (listener.group === undefined) chosen.push(listener);
      else getOrAdd(groups, listener.group, () => [] as HubListener[]).push(listener);
    }
    this.eventCount += 1;
    for (const members of groups.values()) chosen.push(...members.slice(this.eventCount % members.length).slice(0, 1));
    return chosen;
  }

  private arrival(withinMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const wake = (): void => {
        clearTimeout(timer);
        this.arrivals.delete(wake);
        signal.removeEventListener('abort', wake);
        resolve();
      };
      const timer = setTimeout(wake, withinMs);
      this.arrivals.add(wake);
      signal.addEventListener('abort', wake, { once: true });
    });
  }
}

/** Hands out its members in turn. */
class Ring<T> {
  private readonly members: T[] = [];
  private turn = 0;

  add(member: T): void {
    this.members.push(member);
  }

  delete(member: T): void {
    const index = this.members.indexOf(member);
    if (index >= 0) this.members.splice(index, 1);
  }

  next(): T | undefined {
    this.turn = (this.turn + 1) % Math.max(1, this.members.length);
    return this.members[this.turn];
  }
}

function getOrAdd<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const found = map.get(key);
  if (found !== undefined) return found;
  const made = make();
  map.set(key, made);
  return made;
}

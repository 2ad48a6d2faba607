import type { Bus, BusLogger, BusStatus } from './bus.js';
import { shuttingDown } from './failures.js';

/** Holds a bus's status and tells its changes. */
export class StatusHolder {
  private readonly listeners = new Set<(status: BusStatus) => void>();

  constructor(
    private value: BusStatus,
    private readonly logger: BusLogger,
  ) {}

  get current(): BusStatus {
    return this.value;
  }

  set(status: BusStatus): void {
    if (status === this.value || this.value === 'closed') return;
    this.value = status;
    for (const listener of [...this.listeners]) this.notify(listener);
  }

  on(listener: (status: BusStatus) => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  private notify(listener: (status: BusStatus) => void): void {
    try {
      listener(this.value);
    } catch (error) {
      this.logger.error({ err: error }, 'a listener of the bus status failed');
    }
  }
}

/** Resolves when the bus is ready. @throws ServiceError SERVICE_UNAVAILABLE when it closes instead; the signal's reason */
export function whenReady(bus: Bus, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const check = (status: BusStatus): void => {
      if (status === 'connecting') return;
      finish();
      if (status === 'ready') resolve();
      else reject(shuttingDown());
    };
    const onAbort = (): void => {
      finish();
      reject(signal?.reason);
    };
    const off = bus.onStatus(check);
    const finish = (): void => {
      off();
      signal?.removeEventListener('abort', onAbort);
    };
    signal?.addEventListener('abort', onAbort, { once: true });
    if (signal?.aborted) onAbort();
    else check(bus.status);
  });
}

import { randomUUID } from 'node:crypto';
import type { BusEvent, Subscription } from '@workspace-graph/bus';
import { type BusEventType, type Caller, ServiceError } from '@workspace-graph/contracts';
import type { Admission } from '../edge/admission.js';
import type { ChangeWatch, Watcher } from '../ws/change-watch.js';

/** What a device hears: that something which its person sees has changed, or a session of theirs, and that it should look at everything again. */
const HEARD = [
  'graph.changed',
  'file.changed',
  'access.changed',
  'session.changed',
] as const satisfies readonly BusEventType[];
type Heard = (typeof HEARD)[number];
type Listener = (event: BusEvent) => void | Promise<void>;
interface Frame {
  readonly type: 'graph_changed' | 'files_changed';
  readonly payload: { readonly node_ids: string[]; readonly everything: boolean };
}

/** Tells one device what has changed of what its person sees, as sockets of pages are told. */
export class DeviceHints implements Watcher {
  isOpen = true;
  /** Hints are small, and what a device misses it finds when it looks. */
  readonly isFull = false;
  private readonly listeners = new Map<Listener, readonly Heard[]>();

  constructor(
    private readonly admission: Admission,
    private readonly changes: ChangeWatch,
  ) {}

  /** Who it is for reading, as last confirmed. */
  get caller(): Caller {
    return { ...this.admission.caller, via: 'sync' };
  }

  /** @throws ServiceError FORBIDDEN for other events, and for those alone that do not tell of everything at once */
  listen(types: readonly BusEventType[], listener: Listener): Subscription {
    const heard = types.map(heardType);
    if (!heard.includes('access.changed'))
      throw new ServiceError(
        'FORBIDDEN',
        'A device that hears of changes hears access.changed as well: it stands for more than can be named.',
      );
    this.listeners.set(listener, heard);
    this.watch();
    const stop = async (): Promise<void> => {
      this.listeners.delete(listener);
      this.watch();
    };
    return { stop };
  }

  sendText(text: string): void {
    const { type, payload } = JSON.parse(text) as Frame;
    const { node_ids, everything } = payload;
    const id = randomUUID();
    if (everything) this.tell({ type: 'access.changed', id, payload: { node_ids: [] } });
    else if (type === 'graph_changed')
      this.tell({ type: 'graph.changed', id, payload: { node_ids, action: 'changed' } });
    else for (const node_id of node_ids) this.tell({ type: 'file.changed', id: randomUUID(), payload: { node_id } });
  }

  /** Of a session of its person. */
  sessionChanged(event: BusEvent): void {
    this.tell(event);
  }

  async roomy(): Promise<void> {
    // It always is.
  }

  end(): void {
    this.isOpen = false;
    this.listeners.clear();
    this.changes.forget(this);
  }

  private tell(event: BusEvent): void {
    for (const [listener, types] of this.listeners) if (types.some((type) => type === event.type)) void listener(event);
  }

  private watch(): void {
    const isHeard = this.listeners.size > 0;
    this.changes.watch(this, { graph: isHeard, files: isHeard, sync: false });
  }
}

function heardType(type: BusEventType): Heard {
  const found = HEARD.find((each) => each === type);
  if (found === undefined) throw new ServiceError('FORBIDDEN', `A device does not hear ${type}.`);
  return found;
}

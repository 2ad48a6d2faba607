import type { Bus } from '@workspace-graph/bus';
import type { Service } from '../services/index.js';

/** What a service's entry declares and nothing has taken up yet: owners to serve, events to listen to. */
export class Wiring {
  private readonly open: Set<string>;

  constructor({ serves, listens }: Pick<Service, 'serves' | 'listens'>) {
    this.open = new Set<string>([...serves, ...listens]);
  }

  /** The bus, which notes what is served and listened to over it. */
  over(bus: Bus): Bus {
    return {
      get status() {
        return bus.status;
      },
      onStatus: (listener) => bus.onStatus(listener),
      call: (operation, input, envelope, options) => bus.call(operation, input, envelope, options),
      serve: (owner, operations, dispatch) => {
        this.open.delete(owner);
        return bus.serve(owner, operations, dispatch);
      },
      publish: (event) => bus.publish(event),
      subscribe: (types, listener, options) => {
        for (const type of types) this.open.delete(type);
        return bus.subscribe(types, listener, options);
      },
      close: () => bus.close(),
    };
  }

  /** @throws Error that names what nothing serves or listens to */
  refuseOpen(): void {
    if (this.open.size > 0) throw new Error(`Declared without a handler: ${[...this.open].join(', ')}`);
  }
}

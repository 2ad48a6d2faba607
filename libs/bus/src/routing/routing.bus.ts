import {
  type Envelope,
  type InputOf,
  type Operation,
  type Owner,
  type ReplyOf,
  ServiceError,
} from '@workspace-graph/contracts';
import type {
  Bus,
  BusEvent,
  BusEventOf,
  BusStatus,
  CallOptions,
  Dispatch,
  Serving,
  SubscribeOptions,
  Subscription,
} from '../bus.js';

export interface RoutingBusOptions {
  /** What this process serves itself, and where it hears. */
  readonly here: Bus;
  /** Everybody else. */
  readonly centre: Bus;
  /** Whether an operation is carried out at the centre instead, once it was refused here without anything done. */
  readonly goesOn?: (operation: Operation, refusal: ServiceError) => boolean;
}

/**
 * The bus of a workstation: what is served here is carried out here, every other call goes to the centre. Its status is that
 * of the way there. What the centre tells is heard here once it was passed on with `follow`.
 */
export class RoutingBus implements Bus {
  private readonly served = new Set<string>();

  constructor(private readonly options: RoutingBusOptions) {}

  get status(): BusStatus {
    return this.options.centre.status;
  }

  onStatus(listener: (status: BusStatus) => void): () => void {
    return this.options.centre.onStatus(listener);
  }

  async call<Op extends Operation>(
    operation: Op,
    input: InputOf<Op>,
    envelope: Envelope,
    options?: CallOptions,
  ): Promise<ReplyOf<Op>> {
    const { here, centre, goesOn } = this.options;
    if (!this.served.has(operation.name)) return centre.call(operation, input, envelope, options);
    try {
      return await here.call(operation, input, envelope, options);
    } catch (error) {
      if (!(error instanceof ServiceError) || !goesOn?.(operation, error)) throw error;
      return centre.call(operation, input, envelope, options);
    }
  }

  /** Here alone. */
  async serve(owner: Owner, operations: readonly Operation[], dispatch: Dispatch): Promise<Serving> {
    for (const { name } of operations) this.served.add(name);
    return this.options.here.serve(owner, operations, dispatch);
  }

  /** Here alone. */
  publish(event: BusEvent): Promise<void> {
    return this.options.here.publish(event);
  }

  subscribe<T extends BusEvent['type']>(
    types: readonly T[],
    listener: (event: BusEventOf<T>) => void | Promise<void>,
    options?: SubscribeOptions,
  ): Promise<Subscription> {
    return this.options.here.subscribe(types, listener, options);
  }

  /** From now on, events of the centre are heard here too. @throws Error where that is forbidden */
  async follow(types: readonly BusEvent['type'][]): Promise<void> {
    await this.options.centre.subscribe(types, (event) => this.options.here.publish(event as BusEvent));
  }

  /** What is served here first: until its calls are answered the centre can be asked. */
  async close(): Promise<void> {
    await this.options.here.close();
    await this.options.centre.close();
  }
}

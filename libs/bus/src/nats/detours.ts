import type { Owner } from '@workspace-graph/contracts';
import { PROTOCOL } from './options.js';
import type { InstanceAddress } from './subjects.js';

interface Detour {
  readonly instances: Map<string, InstanceAddress>;
  untilMs: number;
}

/**
 * Instances that calls go to by name, while another one of their owner is silent: the broker would go on handing calls to
 * it until its pings are unanswered.
 */
export class Detours {
  private readonly byOwner = new Map<Owner, Detour>();

  /** Begins or prolongs the detour of this instance's owner. */
  begin(instance: InstanceAddress): void {
    const untilMs = performance.now() + PROTOCOL.detourMs;
    const detour = this.current(instance.owner);
    if (!detour) this.byOwner.set(instance.owner, { instances: new Map([[instance.id, instance]]), untilMs });
    else detour.untilMs = untilMs;
    this.join(instance);
  }

  /** One more instance that is there. */
  join(instance: InstanceAddress): void {
    this.current(instance.owner)?.instances.set(instance.id, instance);
  }

  /** This instance does not take calls. */
  leave(instance: InstanceAddress): void {
    this.current(instance.owner)?.instances.delete(instance.id);
  }

  /** The next instance in turn; undefined when any will do. */
  next(owner: Owner): InstanceAddress | undefined {
    const detour = this.current(owner);
    const first = detour?.instances.values().next().value;
    if (!detour || !first) return undefined;
    detour.instances.delete(first.id);
    detour.instances.set(first.id, first);
    return first;
  }

  clear(): void {
    this.byOwner.clear();
  }

  private current(owner: Owner): Detour | undefined {
    const detour = this.byOwner.get(owner);
    if (detour && performance.now() < detour.untilMs) return detour;
    this.byOwner.delete(owner);
    return undefined;
  }
}

import type { Bus, BusEvent, LinkBackground, Serving, Subscription } from '@workspace-graph/bus';
import {
  type BusEventType,
  type Caller,
  type Envelope,
  Id,
  type InputOf,
  type Operation,
  type Owner,
  type ReplyOf,
  ServiceError,
  scopeIncludes,
  weakestScope,
} from '@workspace-graph/contracts';
import type { Admission } from '../edge/admission.js';
import type { DeviceHints } from './device-hints.js';
import { OwnSessions } from './own-sessions.js';

export interface DeviceLinkParts {
  readonly bus: Pick<Bus, 'call'>;
  /** What a device may call, by name. */
  readonly operations: ReadonlyMap<string, Operation>;
  readonly admission: Admission;
  readonly hints: DeviceHints;
}

/** What a gateway does for one device: its calls in the name of its person, and hints at what has changed. */
export class DeviceLink implements LinkBackground {
  private readonly sessions: OwnSessions;

  constructor(private readonly parts: DeviceLinkParts) {
    this.sessions = new OwnSessions(parts.bus);
  }

  operation(owner: Owner, name: string): Operation {
    const found = this.parts.operations.get(name);
    if (found?.owner === owner) return found;
    throw new ServiceError('FORBIDDEN', `A device cannot call ${name}.`);
  }

  /**
   * Its person, as verified less than half a second ago. What the device says of itself can take from that, tell through
   * which of its surfaces it was asked, and in which session of its person an agent works; nothing else of it is believed.
   * @throws ServiceError SESSION_NOT_FOUND for a session of somebody else
   */
  async caller(claimed: Caller | null): Promise<Caller> {
    const { user_id, scope, credential_id, device_id } = await this.parts.admission.confirm();
    const device = { user_id, credential_id, ...(device_id === undefined ? {} : { device_id }) };
    if (claimed === null) return { ...device, scope, via: 'sync' };
    const via = claimed.via === 'system' ? 'sync' : claimed.via;
    const caller: Caller = { ...device, scope: weakestScope(scope, claimed.scope), via };
    const { session_id, home_node_id } = claimed;
    // A wish of the agent's, like any other field of its calls.
    if (home_node_id && Id.safeParse(home_node_id).success) caller.home_node_id = home_node_id;
    if (!session_id) return caller;
    await this.sessions.require(session_id, caller);
    return { ...caller, session_id };
  }

  async call<Op extends Operation>(
    operation: Op,
    input: InputOf<Op>,
    envelope: Envelope,
    options?: Parameters<Bus['call']>[3],
  ): Promise<ReplyOf<Op>> {
    requireScope(operation, envelope.caller);
    const given = operation.overLink ? heldBy(input, envelope.caller?.device_id) : input;
    const reply = await this.parts.bus.call(operation, given, envelope, options);
    // Reading can take long, and its answer is for those alone who may have it when it is there.
    if (operation.readOnly) await this.parts.admission.confirm();
    return reply;
  }

  async serve(): Promise<Serving> {
    throw new ServiceError('FORBIDDEN', 'A device serves nothing to others.');
  }

  async publish(): Promise<void> {
    throw new ServiceError('FORBIDDEN', 'A device publishes no events: those who carry out its changes do.');
  }

  async subscribe(
    types: readonly BusEventType[],
    listener: (event: never) => void | Promise<void>,
  ): Promise<Subscription> {
    return this.parts.hints.listen(types, listener as (event: BusEvent) => void);
  }
}

/** Runs are held in the name of the device: none can keep, or take over, those of another. */
function heldBy<T>(input: T, deviceId: string | undefined): T {
  const { holder } = { ...input } as { readonly holder?: unknown };
  return typeof holder === 'string' ? { ...input, holder: `${deviceId} ${holder}` } : input;
}

/** An internal operation has no tier that its owner could check. @throws ServiceError FORBIDDEN */
function requireScope({ overLink }: Operation, caller: Caller | null): void {
  if (overLink === undefined || (caller && scopeIncludes(caller.scope, overLink))) return;
  throw new ServiceError('FORBIDDEN', `This needs the scope ${overLink}.`, { required_scope: overLink });
}

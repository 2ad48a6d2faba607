import { randomUUID } from 'node:crypto';
import type { Bus } from '@workspace-graph/bus';
import { authenticateDevice, type Caller, RawJson, ServiceError } from '@workspace-graph/contracts';

/** A device and the person who joined it. */
export interface DeviceIdentity {
  /** Id under which the device is joined. */
  readonly deviceId: string;
  /** The person for whom it acts. */
  readonly userId: string;
}

/** How long an answer is used: what the person loses, the device loses within a second. */
const FRESH_MS = 500;

/** Who this device is when it asks something by itself: its person, with the scope that the person has now. */
export class DevicePrincipal {
  private known: { readonly caller: Caller; readonly atMs: number } | undefined;
  private asking: Promise<Caller> | undefined;

  constructor(
    private readonly bus: Pick<Bus, 'call'>,
    private readonly identity: () => DeviceIdentity | null,
  ) {}

  /** @throws ServiceError SERVICE_UNAVAILABLE while the device is not joined yet */
  get deviceId(): string {
    const identity = this.identity();
    if (!identity) throw new ServiceError('SERVICE_UNAVAILABLE', 'This device is not joined yet.');
    return identity.deviceId;
  }

  /** Whether a user is the person of this device. */
  isOf(userId: string): boolean {
    return this.identity()?.userId === userId;
  }

  /** @throws ServiceError UNAUTHENTICATED once the device is revoked or its person disabled */
  async caller(): Promise<Caller> {
    if (this.known && performance.now() - this.known.atMs < FRESH_MS) return this.known.caller;
    this.asking ??= this.ask().finally(() => {
      this.asking = undefined;
    });
    return this.asking;
  }

  private async ask(): Promise<Caller> {
    const atMs = performance.now();
    const envelope = { callId: randomUUID(), requestId: randomUUID(), caller: null };
    const reply = await this.bus.call(authenticateDevice, { device_id: this.deviceId }, envelope);
    const { caller } = reply instanceof RawJson ? authenticateDevice.output.parse(reply.parse()) : reply;
    this.known = { caller, atMs };
    return caller;
  }
}

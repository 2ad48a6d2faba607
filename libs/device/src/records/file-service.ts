import { randomUUID } from 'node:crypto';
import type { Bus } from '@workspace-graph/bus';
import {
  type Caller,
  type Envelope,
  findPlaces,
  type InputOf,
  LIMITS,
  type NodePlace,
  type Operation,
  type OutputOf,
  RawJson,
  ServiceError,
} from '@workspace-graph/contracts';
import type { PlaceStore } from '../store/place-store.js';
import type { DevicePrincipal } from './device-principal.js';

/** On whose behalf the device asks: the envelope of the call that it answers, or null for its own person. */
export type Asker = Envelope | null;

/** What the device asks of the file service, over the bus. */
export class FileService {
  constructor(
    private readonly bus: Pick<Bus, 'call'>,
    private readonly principal: Pick<DevicePrincipal, 'caller' | 'deviceId'>,
    /** Where the centre may be out of reach: what its nodes were last seen to be. */
    private readonly memory: Pick<PlaceStore, 'recall' | 'remember'> | null = null,
  ) {}

  /** Calls an operation for `asker`, or as the device itself. @throws ServiceError as the operation tells */
  async call<Op extends Operation>(
    operation: Op,
    input: InputOf<Op>,
    asker: Asker,
    signal?: AbortSignal,
  ): Promise<OutputOf<Op>> {
    const reply = await this.bus.call(operation, input, await this.envelopeFor(asker), signal ? { signal } : {});
    return (reply instanceof RawJson ? reply.parse() : reply) as OutputOf<Op>;
  }

  /** A call of its own on behalf of `asker`, or of the device itself. */
  async envelopeFor(asker: Asker): Promise<Envelope> {
    const callId = randomUUID();
    if (!asker) return { callId, requestId: randomUUID(), caller: await this.principal.caller() };
    return { ...asker, callId, caller: { ...callerOf(asker), device_id: this.principal.deviceId } };
  }

  /**
   * The node as the asker sees it.
   * @throws ServiceError NODE_NOT_FOUND, absent and hidden alike
   */
  async place(nodeId: string, asker: Asker): Promise<NodePlace> {
    const place = (await this.places([nodeId], asker)).get(nodeId);
    if (!place) throw nodeNotFound(nodeId);
    return place;
  }

  /** Those of the nodes that the asker sees, by their ids; with `held`, those of them that its session holds. */
  async places(nodeIds: readonly string[], asker: Asker, held = false): Promise<Map<string, NodePlace>> {
    const found = new Map<string, NodePlace>();
    for (let start = 0; start < nodeIds.length; start += LIMITS.filesPerChange) {
      const node_ids = nodeIds.slice(start, start + LIMITS.filesPerChange);
      for (const place of await this.somePlaces(node_ids, asker, held)) found.set(place.node_id, place);
    }
    return found;
  }

  private async somePlaces(node_ids: string[], asker: Asker, held: boolean): Promise<readonly NodePlace[]> {
    try {
      const { places } = await this.call(findPlaces, { node_ids, held }, asker);
      if (asker === null) this.memory?.remember(node_ids, places);
      return places;
    } catch (error) {
      // What a session holds nobody here can tell, and what somebody else sees neither.
      const isOwn = !held && (asker === null || (asker.caller?.session_id ?? null) === null);
      const known = isOwn && isOutage(error) ? this.memory?.recall(node_ids) : null;
      if (!known) throw error;
      return known;
    }
  }

  /**
   * The same, for a change on the node.
   * @throws ServiceError NODE_NOT_FOUND; FORBIDDEN to a caller who may only read it
   */
  async writablePlace(nodeId: string, asker: Asker): Promise<NodePlace> {
    const place = await this.place(nodeId, asker);
    if (place.level !== 'write')
      throw new ServiceError('FORBIDDEN', `You may read the node ${nodeId}, but not write to it.`, { node_id: nodeId });
    return place;
  }
}

export function nodeNotFound(nodeId: string): ServiceError {
  return new ServiceError('NODE_NOT_FOUND', `There is no node ${nodeId} that you may see.`, { node_id: nodeId });
}

export function noMirror(nodeId: string): ServiceError {
  return new ServiceError('NO_MIRROR', `The node ${nodeId} has no folder on this device.`, { node_id: nodeId });
}

/** The caller of a call that must have one. */
export function callerOf({ caller }: Envelope): Caller {
  if (!caller) throw new ServiceError('UNAUTHENTICATED', 'This operation needs a credential.');
  return caller;
}

/** Whether nobody could be asked. */
export function isOutage(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'SERVICE_UNAVAILABLE';
}

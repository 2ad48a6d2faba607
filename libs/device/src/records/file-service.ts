import { randomUUID } from 'node:crypto';
import type { Bus } from '@workspace-graph/bus';
import {
  type Caller,
  type Envelope,
  findFiles,
  findPlaces,
  type InputOf,
  LIMITS,
  type NodePlace,
  type Operation,
  type OutputOf,
  type PlacedFile,
  queryFiles,
  RawJson,
  type resolveReferences,
  ServiceError,
} from '@workspace-graph/contracts';
import type { DevicePrincipal } from './device-principal.js';
import type { Recollection } from './recollection.js';

/** On whose behalf the device asks: the envelope of the call that it answers, or null for its own person. */
export type Asker = Envelope | null;

/** What the device asks of the file service, over the bus. */
export class FileService {
  constructor(
    private readonly bus: Pick<Bus, 'call'>,
    private readonly principal: Pick<DevicePrincipal, 'caller' | 'deviceId'>,
    /** Where the centre may be out of reach: what was last seen of it. */
    private readonly memory: Recollection | null = null,
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
      if (asker === null) this.memory?.rememberPlaces(node_ids, places);
      return places;
    } catch (error) {
      const known = this.memoryFor(error, asker)?.places(node_ids);
      if (!known) throw error;
      return known;
    }
  }

  /**
   * Files by id, or by node and path, that the asker sees. While the centre is out of reach, as they were last seen.
   * @throws ServiceError of the file service
   */
  async files(asked: InputOf<typeof findFiles>, asker: Asker): Promise<readonly PlacedFile[]> {
    const ids = this.memory?.toldIds(asked.ids ?? []) ?? asked.ids ?? [];
    try {
      const { files } = await this.call(findFiles, { ...asked, ids }, asker);
      if (isOwn(asker))
        this.memory?.remember(
          files.map(({ file }) => file),
          ids,
        );
      return files;
    } catch (error) {
      const known = this.memoryFor(error, asker)?.files({ ...asked, ids });
      if (!known) throw error;
      return known;
    }
  }

  /** A page of files, newest first; `stale` when the centre is out of reach, and these are what was last seen. @throws ServiceError */
  async list(
    input: InputOf<typeof queryFiles>,
    asker: Asker,
  ): Promise<OutputOf<typeof queryFiles> & { readonly stale?: true }> {
    try {
      const page = await this.call(queryFiles, input, asker);
      if (isOwn(asker)) this.memory?.remember(page.items.map(({ file }) => file));
      return page;
    } catch (error) {
      const known = this.memoryFor(error, asker)?.list(input);
      if (!known) throw error;
      return { ...known, stale: true };
    }
  }

  /** The ids of nodes with a folder here by what they are called, when nobody else could be asked; null when they are not known so. */
  namedHere(error: unknown, { references }: InputOf<typeof resolveReferences>, asker: Asker): string[] | null {
    return this.memoryFor(error, asker)?.named(references) ?? null;
  }

  /** What this device remembers, when nobody else could be asked and the asker is its person. */
  memoryFor(error: unknown, asker: Asker): Recollection | null {
    return isOutage(error) && isOwn(asker) ? this.memory : null;
  }

  /** Keeps what records tell, for times without a connection; null where there is nothing to be kept. */
  get recollection(): Pick<Recollection, 'settled' | 'rememberPage'> | null {
    return this.memory;
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

/** Not within a session: what that holds is known elsewhere. */
function isOwn(asker: Asker): boolean {
  return (asker?.caller?.session_id ?? null) === null;
}

/** Whether nobody could be asked. */
export function isOutage(error: unknown): boolean {
  return error instanceof ServiceError && error.code === 'SERVICE_UNAVAILABLE';
}

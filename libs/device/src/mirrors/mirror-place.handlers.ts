import { Controller, Inject } from '@nestjs/common';
import {
  listMirrors,
  type Mirror,
  moveMirror,
  type OutputOf,
  type ParsedInputOf,
  validationFailed,
} from '@workspace-graph/contracts';
import { Handles, type OperationContext } from '@workspace-graph/platform';
import { DEVICE_PARTS, type DeviceParts } from '../device-parts.js';
import type { ShownFolders } from '../node-paths/local-paths.js';
import { chosenPath } from './folder-rules.js';
import { comparePlaces, Mirrors, type PlacedMirror, type PlaceOrder } from './mirrors.js';
import { MoveMirror } from './move-mirror.js';

/** Where the folders of nodes are on this device. */
@Controller()
export class MirrorPlaceHandlers {
  constructor(
    @Inject(DEVICE_PARTS) private readonly parts: DeviceParts,
    @Inject(Mirrors) private readonly mirrors: Mirrors,
    @Inject(MoveMirror) private readonly mover: MoveMirror,
  ) {}

  @Handles(listMirrors)
  async list(
    { limit, cursor }: ParsedInputOf<typeof listMirrors>,
    { envelope }: OperationContext,
  ): Promise<OutputOf<typeof listMirrors>> {
    const after = cursor === undefined ? null : readCursor(cursor);
    const placed = await this.mirrors.placed(envelope);
    const found = placed.filter(({ place }) => after === null || comparePlaces(place, after) > 0);
    const shown = found.slice(0, limit);
    const last = shown.at(-1);
    const places = shown.map(({ place }) => place);
    const folders = await this.parts.localPaths.foldersOf(places, envelope);
    return {
      items: await Promise.all(shown.map((mirror) => this.told(mirror, folders))),
      next_cursor: last && found.length > limit ? cursorAfter(last.place) : null,
    };
  }

  @Handles(moveMirror)
  async move(
    { node_id: nodeId, path }: ParsedInputOf<typeof moveMirror>,
    { envelope, signal }: OperationContext,
  ): Promise<OutputOf<typeof moveMirror>> {
    const place = await this.parts.service.writablePlace(nodeId, envelope);
    const chosen = chosenPath('path', path);
    const row = await this.parts.locks.run([nodeId], () =>
      this.mover.run({ place, from: this.mirrors.require(nodeId), to: chosen, asker: envelope, signal }),
    );
    return this.told({ row, place }, await this.parts.localPaths.foldersOf([place], envelope));
  }

  private async told({ row, place }: PlacedMirror, folders: ShownFolders): Promise<Mirror> {
    const state = await this.mirrors.stateOf(row);
    return {
      node: { id: place.node_id, type: place.type, name: place.name },
      local_path: folders(place.node_id),
      state: state === 'ready' && this.mirrors.scanOf(row.nodeId) ? 'scanning' : state,
      files: this.parts.store.countFiles(row.nodeId).present,
      created_at: row.createdAt,
    };
  }
}

const CURSOR = 'mirrors';

function cursorAfter({ name, node_id }: PlaceOrder): string {
  return Buffer.from(JSON.stringify([CURSOR, name, node_id])).toString('base64url');
}

function readCursor(cursor: string): PlaceOrder {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    const [list, name, node_id] = Array.isArray(value) ? (value as readonly unknown[]) : [];
    if (list === CURSOR && typeof name === 'string' && typeof node_id === 'string') return { name, node_id };
  } catch {
    // Answered below, like anything else that is no cursor.
  }
  throw validationFailed([{ path: 'cursor', message: 'must be the next_cursor of a page of this list' }]);
}

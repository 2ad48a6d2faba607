import { Inject, Injectable } from '@nestjs/common';
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
import { chosenPath } from './folder-rules.js';
import { Mirrors, type PlacedMirror } from './mirrors.js';
import { MoveMirror } from './move-mirror.js';

/** Where the folders of nodes are on this device. */
@Injectable()
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
    const after = cursor === undefined ? '' : pathOfCursor(cursor);
    const found = (await this.mirrors.placed(envelope)).filter(({ row }) => row.path > after);
    const shown = found.slice(0, limit);
    const last = shown.at(-1);
    return {
      items: await Promise.all(shown.map((mirror) => this.told(mirror))),
      next_cursor: last && found.length > limit ? cursorOfPath(last.row.path) : null,
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
    return this.told({ row, place });
  }

  private async told({ row, place }: PlacedMirror): Promise<Mirror> {
    const state = await this.mirrors.stateOf(row);
    return {
      node: { id: place.node_id, type: place.type, name: place.name },
      local_path: row.path,
      state: state === 'ready' && this.mirrors.scanOf(row.nodeId) ? 'scanning' : state,
      files: this.parts.store.countFiles(row.nodeId).present,
      created_at: row.createdAt,
    };
  }
}

const CURSOR = 'mirrors';

function cursorOfPath(path: string): string {
  return Buffer.from(JSON.stringify([CURSOR, path])).toString('base64url');
}

function pathOfCursor(cursor: string): string {
  try {
    const value: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    if (Array.isArray(value) && value[0] === CURSOR && typeof value[1] === 'string') return value[1];
  } catch {
    // Answered below, like anything else that is no cursor.
  }
  throw validationFailed([{ path: 'cursor', message: 'must be the next_cursor of a page of this list' }]);
}

import { Inject, Injectable } from '@nestjs/common';
import { type NodePlace, ServiceError } from '@workspace-graph/contracts';
import { DEVICE_PARTS, type DeviceParts } from '../device-parts.js';
import type { Asker } from '../records/file-service.js';
import { mayNest, overlap, type PlacedFolder, pathRefused, realFolder, refuseReserved } from './folder-rules.js';
import { Mirrors } from './mirrors.js';

/** A folder that a node is to have. */
export interface FolderClaim {
  readonly place: NodePlace;
  readonly path: string;
  readonly asker: Asker;
}

/** Not a node: whoever decides about folders waits for the others. */
const REGISTRY = 'mirrors';

/** Sees to it that no folder belongs to two nodes. */
@Injectable()
export class MirrorFolders {
  /** Folders that are being made or moved to, by node. */
  private readonly claims = new Map<string, string>();

  constructor(
    @Inject(DEVICE_PARTS) private readonly parts: DeviceParts,
    @Inject(Mirrors) private readonly mirrors: Mirrors,
  ) {}

  /**
   * Runs `work` with the real path of the folder, while no other node can get it, a folder in it or one that holds it.
   * Only who manages is told what is in the way; to everybody else every such refusal reads the same, so that it tells of
   * no hidden node.
   * @throws ServiceError MIRROR_PATH_REFUSED
   */
  async claim<T>(claim: FolderClaim, work: (path: string) => Promise<T>): Promise<T> {
    try {
      return await this.claimed(claim, work);
    } catch (error) {
      throw claim.asker?.caller?.scope === 'manage' ? error : withoutReason(error);
    }
  }

  private async claimed<T>(claim: FolderClaim, work: (path: string) => Promise<T>): Promise<T> {
    const path = await realFolder(claim.path);
    await refuseReserved(path, this.parts.settings.root);
    const { node_id: nodeId } = claim.place;
    await this.parts.locks.run([REGISTRY], async () => {
      await this.refuseTaken({ ...claim, path });
      this.claims.set(nodeId, path);
    });
    try {
      return await work(path);
    } finally {
      this.claims.delete(nodeId);
    }
  }

  private async refuseTaken(claim: FolderClaim): Promise<void> {
    const others = this.overlapping(claim);
    if (others.length === 0) return;
    const places = await this.parts.service.places(
      others.map(({ nodeId }) => nodeId),
      null,
    );
    for (const { nodeId, path } of others) {
      const place = places.get(nodeId);
      // Its node is gone. No lock: whoever holds that of the other node may wait for this decision.
      if (!place) this.dropStale(nodeId);
      else if (!mayNest(claim, { place, path }, this.parts.settings.root)) throw otherMirror({ place, path });
    }
  }

  private dropStale(nodeId: string): void {
    const row = this.mirrors.of(nodeId);
    if (row) this.mirrors.remove(row);
  }

  private overlapping({ place, path }: FolderClaim): { nodeId: string; path: string }[] {
    const claimed = [...this.claims].map(([nodeId, folder]) => ({ nodeId, path: folder }));
    return [...this.mirrors.all(), ...claimed].filter(
      (other) => other.nodeId !== place.node_id && overlap(other.path, path),
    );
  }
}

function otherMirror({ place, path }: PlacedFolder): ServiceError {
  return pathRefused(
    'other_mirror',
    'The folder is the folder of another node, contains one or lies in one, so a file in it would belong to both nodes. Choose another folder.',
    { node_id: place.node_id, path },
  );
}

/** What is reserved is so in every workspace. */
function withoutReason(error: unknown): unknown {
  if (!(error instanceof ServiceError) || error.code !== 'MIRROR_PATH_REFUSED') return error;
  if (error.details?.['reason'] === 'reserved') return error;
  return pathRefused('unusable', 'The folder cannot be used for this node. Choose another folder.');
}

import { relative, sep } from 'node:path';
import { type Envelope, type NodePlace } from '@workspace-graph/contracts';
import { isOfUnseenOrganization, pathKey, SHARED_FOLDER } from '@workspace-graph/domain';
import type { DevicePrincipal } from '../records/device-principal.js';
import type { FileService } from '../records/file-service.js';
import type { DeviceStore } from '../store/device-store.js';

interface LocalPathsParts {
  readonly settings: { readonly root: string };
  readonly principal: Pick<DevicePrincipal, 'isOf'>;
  readonly store: Pick<DeviceStore, 'mirror'>;
  readonly service: Pick<FileService, 'places'>;
}

/** The folder of a node as it may be told; null without a mirror, and where it may not. */
export type ShownFolders = (nodeId: string) => string | null;

/**
 * Who is told where something lies on this device: the person whose device it is, and whoever manages. A path that spells
 * the key of an organization which the caller does not see is told to neither.
 */
export class LocalPaths {
  constructor(private readonly parts: LocalPathsParts) {}

  areShownTo({ caller }: Envelope): boolean {
    return caller !== null && (caller.scope === 'manage' || this.isPerson(caller.user_id));
  }

  /** Whether the device is this user's. */
  isPerson(userId: string): boolean {
    return this.parts.principal.isOf(userId);
  }

  /** The folders of nodes that the caller sees. */
  async foldersOf(places: readonly NodePlace[], asker: Envelope): Promise<ShownFolders> {
    if (!this.areShownTo(asker)) return () => null;
    const here = places.filter(({ node_id }) => this.parts.store.mirror(node_id) !== null);
    const veiled = here.filter(isOfUnseenOrganization);
    const keys = await this.hiddenKeys(veiled);
    const unseen = new Set(veiled.map(({ node_id }) => node_id));
    return (nodeId) => {
      const folder = this.parts.store.mirror(nodeId)?.path ?? null;
      return folder === null || (unseen.has(nodeId) && this.spells(folder, keys.get(nodeId))) ? null : folder;
    };
  }

  async folderOf(place: NodePlace, asker: Envelope): Promise<string | null> {
    return (await this.foldersOf([place], asker))(place.node_id);
  }

  /** The same by id; null too for a node that the caller does not see. */
  async folderOfNode(nodeId: string, asker: Envelope): Promise<string | null> {
    const row = this.parts.store.mirror(nodeId);
    if (row === null || !this.areShownTo(asker)) return null;
    // Who manages sees every organization.
    if (asker.caller?.scope === 'manage') return row.path;
    const place = (await this.parts.service.places([nodeId], asker)).get(nodeId);
    return place ? this.folderOf(place, asker) : null;
  }

  private async hiddenKeys(places: readonly NodePlace[]): Promise<ReadonlyMap<string, string>> {
    const ids = [...new Set(places.map(({ node_id }) => node_id))];
    const keys = new Map<string, string>();
    const found = await this.parts.service.places(ids, null);
    for (const { node_id, organization_sync_key: key } of found.values()) if (key !== null) keys.set(node_id, key);
    return keys;
  }

  /**
   * Below the workspace's own folder, which its person has named. A key that this device does not see either may be any
   * name of a folder that was not made for those who do not see the organization.
   */
  private spells(folder: string, key: string | undefined): boolean {
    const within = relative(this.parts.settings.root, folder);
    if (key === undefined) return !within.startsWith(SHARED_FOLDER + sep);
    const names = (within.startsWith('..') ? folder : within).split(sep);
    return names.some((name) => pathKey(name) === pathKey(key));
  }
}

import { createHash, randomBytes } from 'node:crypto';
import { DriveQuery } from './drive-query.fixture.js';

export const FOLDER = 'application/vnd.google-apps.folder';
const OWN = 'application/vnd.google-apps.';

interface Revision {
  readonly id: string;
  readonly bytes: Buffer;
}

export interface Node {
  readonly id: string;
  readonly createdTime: string;
  mimeType: string;
  name: string;
  parents: string[];
  explicitlyTrashed: boolean;
  trashedTime: string | null;
  modifiedTime: string;
  version: number;
  readonly revisions: Revision[];
}

/** What a client may say of a file. */
export interface Metadata {
  readonly name?: string | undefined;
  readonly mimeType?: string | undefined;
  readonly parents?: readonly string[] | undefined;
  readonly modifiedTime?: string | undefined;
  readonly trashed?: boolean | undefined;
}

/** The files of one shared drive, by ids. */
export class DriveStore {
  readonly driveId = `0A${randomBytes(9).toString('base64url')}`;
  private readonly nodes = new Map<string, Node>();
  private lastMadeMs = 0;
  /** What searches find, where they are late. */
  private indexed: { readonly ids: ReadonlySet<string> } | null = null;

  constructor() {
    this.nodes.set(this.driveId, this.node({ name: 'Drive', mimeType: FOLDER }, this.driveId));
  }

  at(id: string): Node | undefined {
    return this.nodes.get(id);
  }

  create(metadata: Metadata, bytes: Buffer | null): Node {
    const made = this.node(metadata);
    this.nodes.set(made.id, made);
    if (bytes) this.addRevision(made, bytes);
    return made;
  }

  /** A new content becomes the head; the ones before stay. */
  change(node: Node, metadata: Metadata, bytes: Buffer | null): void {
    if (metadata.name !== undefined) node.name = metadata.name;
    if (bytes) {
      if (metadata.mimeType !== undefined) node.mimeType = metadata.mimeType;
      this.addRevision(node, bytes);
      node.modifiedTime = new Date().toISOString();
    }
    if (metadata.modifiedTime !== undefined) node.modifiedTime = metadata.modifiedTime;
    if (metadata.trashed !== undefined) {
      node.explicitlyTrashed = metadata.trashed;
      node.trashedTime = metadata.trashed ? `${new Date().toISOString()}` : null;
    }
    node.version += 1;
  }

  isTrashed(node: Node): boolean {
    if (node.explicitlyTrashed) return true;
    const [parent] = node.parents;
    const above = parent === undefined ? undefined : this.nodes.get(parent);
    return above ? this.isTrashed(above) : false;
  }

  search(text: string): Node[] {
    const query = new DriveQuery(text);
    return [...this.nodes.values()].reverse().filter((node) => this.isFound(node, query));
  }

  /** Searches find what there is now, and nothing newer. */
  holdIndex(): void {
    this.indexed = { ids: new Set(this.nodes.keys()) };
  }

  releaseIndex(): void {
    this.indexed = null;
  }

  childrenOf(id: string): Node[] {
    return [...this.nodes.values()].filter(
      ({ parents, explicitlyTrashed }) => parents.includes(id) && !explicitlyTrashed,
    );
  }

  /** As another program saves it: under the same id where something has this name. */
  plant(root: string, path: string, bytes: Buffer): Node {
    const names = path.split('/');
    const name = names.pop() ?? '';
    let folder = root;
    for (const above of names) folder = this.plantFolder(folder, above).id;
    const found = this.childrenOf(folder).find((node) => node.name === name && node.mimeType !== FOLDER);
    if (!found) return this.create({ name, parents: [folder] }, bytes);
    this.change(found, {}, bytes);
    return found;
  }

  plantFolder(parent: string, name: string): Node {
    const found = this.childrenOf(parent).find((node) => node.name === name && node.mimeType === FOLDER);
    return found ?? this.create({ name, mimeType: FOLDER, parents: [parent] }, null);
  }

  private isFound(node: Node, { matches }: DriveQuery): boolean {
    if (this.indexed && !this.indexed.ids.has(node.id)) return false;
    const text = `${node.name} ${node.revisions.at(-1)?.bytes ?? ''}`;
    return matches({ name: node.name, parents: node.parents, trashed: this.isTrashed(node), text });
  }

  private node({ name = 'Untitled', mimeType, parents, modifiedTime }: Metadata, id?: string): Node {
    // No two are of the same moment: the oldest of a name is to be known.
    this.lastMadeMs = Math.max(Date.now(), this.lastMadeMs + 1);
    const now = new Date(this.lastMadeMs).toISOString();
    return {
      id: id ?? `1${randomBytes(24).toString('base64url')}`,
      mimeType: mimeType ?? 'application/octet-stream',
      createdTime: now,
      name,
      parents: [...(parents ?? [])],
      explicitlyTrashed: false,
      trashedTime: null,
      modifiedTime: modifiedTime ?? now,
      version: 1,
      revisions: [],
    };
  }

  private addRevision(node: Node, bytes: Buffer): void {
    node.revisions.push({ id: `0B${randomBytes(24).toString('base64url')}`, bytes });
  }
}

/** A file as the API tells it. */
export function resourceOf(store: DriveStore, node: Node): Record<string, unknown> {
  const head = node.revisions.at(-1);
  const hash = (kind: string): string =>
    createHash(kind)
      .update(head?.bytes ?? '')
      .digest('hex');
  const content =
    head && !node.mimeType.startsWith(OWN)
      ? {
          size: String(head.bytes.length),
          headRevisionId: head.id,
          md5Checksum: hash('md5'),
          sha1Checksum: hash('sha1'),
          sha256Checksum: hash('sha256'),
        }
      : {};
  const { revisions: _revisions, version, trashedTime, ...told } = node;
  return {
    kind: 'drive#file',
    driveId: store.driveId,
    ...told,
    version: String(version),
    trashed: store.isTrashed(node),
    ...(trashedTime === null ? {} : { trashedTime }),
    ...content,
  };
}

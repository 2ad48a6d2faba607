import { createHash } from 'node:crypto';
import { join } from 'node:path';
import {
  type BeforeApplicationShutdown,
  Inject,
  Injectable,
  type OnApplicationBootstrap,
  type OnModuleInit,
} from '@nestjs/common';
import { type Envelope, ServiceError } from '@workspace-graph/contracts';
import { locate } from '@workspace-graph/disk';
import { DEVICE_PARTS, type DeviceParts } from '../device-parts.js';
import { callerOf } from '../records/file-service.js';
import type { FilesChanged } from '../records/tracked-files.js';
import { insideFolder, putFile, removeTree } from './read-only-tree.js';

const IDLE_MS = 30 * 60_000;
const TICK_MS = 60_000;
/** Files that are linked before somebody else who waits for the same projection gets a turn. */
const FILES_PER_TURN = 200;

/** Paths within nodes of which a caller wants paths on disk. */
export type WantedPaths = ReadonlyMap<string, readonly string[]>;
/** Where a file lies in the projection; null when it is not there, or not for this caller. */
export type ProjectedPaths = (nodeId: string, path: string) => string | null;

interface ProjectedNode {
  /** What the projection shows, by path within the node. */
  readonly marks: Map<string, string>;
  /** Paths that may be new or changed. */
  readonly pending: Set<string>;
  /** Whether something may be gone. */
  thin: boolean;
  filling: boolean;
}

interface Projection {
  readonly key: string;
  readonly folder: string;
  readonly nodes: Map<string, ProjectedNode>;
  /** The call that used it last: on whose behalf it is looked at again. */
  asker: Envelope;
  usedMs: number;
  turns: number;
  tail: Promise<unknown>;
}

/**
 * What one session of an agent sees of files outside its home node: read-only folders of hard links under
 * `.svc/projections`, one for each node. Made when an answer needs a path, brought up to date at each use, and gone with
 * the session, with the right to see the node, or after half an hour without use.
 */
@Injectable()
export class Projections implements OnModuleInit, OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly projections = new Map<string, Projection>();
  private readonly stops: (() => Promise<void> | void)[] = [];
  private readonly root: string;
  private closing = false;

  constructor(@Inject(DEVICE_PARTS) private readonly parts: DeviceParts) {
    this.root = join(parts.settings.own, 'projections');
  }

  /** What an earlier run left belongs to nobody. */
  async onModuleInit(): Promise<void> {
    await removeTree(this.root);
  }

  async onApplicationBootstrap(): Promise<void> {
    const { bus, files } = this.parts;
    const accesses = await bus.subscribe(['access.changed'], () => this.lookAgain(() => true));
    const changes = await bus.subscribe(['graph.changed'], ({ payload: { node_ids } }) =>
      this.lookAgain(({ nodes }) => node_ids.length === 0 || node_ids.some((nodeId) => nodes.has(nodeId))),
    );
    const scopes = await bus.subscribe(['session.changed'], ({ payload: { session_id } }) =>
      this.lookAgain(({ asker }) => asker.caller?.session_id === session_id),
    );
    const credentials = await bus.subscribe(['credential.ended'], ({ payload: { user_id, credential_id } }) =>
      this.clearWhere(({ asker }) => {
        const { caller } = asker;
        return caller?.user_id === user_id && (credential_id === null || caller.credential_id === credential_id);
      }),
    );
    const endStatus = bus.onStatus((status) => {
      if (status === 'ready') void this.lookAgain(() => true);
    });
    const timer = setInterval(() => void this.clearIdle(performance.now()), TICK_MS).unref();
    this.stops.push(
      () => accesses.stop(),
      () => changes.stop(),
      () => scopes.stop(),
      () => credentials.stop(),
      endStatus,
      () => clearInterval(timer),
      files.onChange((change) => this.note(change)),
    );
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.closing = true;
    for (const stop of this.stops.splice(0)) await stop();
    await Promise.all([...this.projections.values()].map(({ tail }) => tail));
  }

  /** Lets the caller's projection show these files as they are now. Files of nodes that the caller does not see are left out. */
  async project(asker: Envelope, wanted: WantedPaths): Promise<ProjectedPaths> {
    const projection = this.of(asker);
    return this.inTurn(projection, async () => {
      // Entered first: an access that changes from here on finds the node and takes it away again.
      for (const nodeId of wanted.keys()) this.enter(projection, nodeId);
      await this.withdraw(projection);
      const shown = new Map<string, ReadonlySet<string>>();
      for (const [nodeId, paths] of wanted) shown.set(nodeId, await this.show(projection, nodeId, paths));
      return (nodeId, path) =>
        shown.get(nodeId)?.has(path) ? join(projection.folder, nodeId, ...path.split('/')) : null;
    });
  }

  /** Removes what an MCP session had. */
  async endSession(sessionKey: string): Promise<void> {
    await this.clearWhere(({ asker }) => asker.caller?.session_key === sessionKey);
  }

  /** Removes what nobody has used for half an hour. */
  async clearIdle(nowMs: number): Promise<void> {
    await this.clearWhere(({ usedMs }) => nowMs - usedMs >= IDLE_MS);
  }

  private of(asker: Envelope): Projection {
    const { user_id, credential_id, session_key = null, session_id = null } = callerOf(asker);
    const key = createHash('sha256')
      .update(JSON.stringify([user_id, credential_id, session_key, session_id]))
      .digest('hex')
      .slice(0, 32);
    const projection = this.projections.get(key) ?? {
      key,
      folder: join(this.root, key),
      nodes: new Map<string, ProjectedNode>(),
      asker,
      usedMs: 0,
      turns: 0,
      tail: Promise.resolve(),
    };
    projection.asker = asker;
    projection.usedMs = performance.now();
    this.projections.set(key, projection);
    return projection;
  }

  private enter({ nodes }: Projection, nodeId: string): void {
    if (nodes.has(nodeId)) return;
    const pending = new Set<string>();
    for (const { path, isDeleted } of this.parts.store.filesOf(nodeId)) if (!isDeleted) pending.add(path);
    nodes.set(nodeId, { marks: new Map(), pending, thin: false, filling: false });
  }

  /** Takes away nodes that the caller may no longer see, or whose scope has lost them. Where that cannot be told, all of them. */
  private async withdraw(projection: Projection): Promise<void> {
    const seen = await this.seenOf(projection).catch((error: unknown) => {
      if (error instanceof ServiceError) return new Set<string>();
      throw error;
    });
    for (const nodeId of [...projection.nodes.keys()]) if (!seen.has(nodeId)) await this.drop(projection, nodeId);
  }

  private async seenOf({ asker, nodes }: Projection): Promise<ReadonlySet<string>> {
    return new Set((await this.parts.service.places([...nodes.keys()], asker, true)).keys());
  }

  private async drop({ folder, nodes }: Projection, nodeId: string): Promise<void> {
    nodes.delete(nodeId);
    await removeTree(join(folder, nodeId));
  }

  /** Shows these paths of a node, and the others soon after. Answers those that are shown. */
  private async show(projection: Projection, nodeId: string, paths: readonly string[]): Promise<ReadonlySet<string>> {
    const node = projection.nodes.get(nodeId);
    if (!node) return new Set();
    if (!this.parts.store.mirror(nodeId)) {
      await this.drop(projection, nodeId);
      return new Set();
    }
    if (node.thin) await this.thinOut(projection, nodeId, node);
    await this.put(projection, nodeId, paths);
    this.fill(projection, nodeId, node);
    return new Set(paths.filter((path) => node.marks.has(path)));
  }

  private async thinOut({ folder }: Projection, nodeId: string, node: ProjectedNode): Promise<void> {
    node.thin = false;
    const mirror = this.parts.store.mirror(nodeId);
    for (const path of [...node.marks.keys()]) {
      const exists = mirror !== null && (await locate(mirror.path, path)).exists;
      if (!exists) await removeShown(join(folder, nodeId), node, path);
    }
  }

  private async put({ folder, nodes }: Projection, nodeId: string, paths: readonly string[]): Promise<void> {
    const node = nodes.get(nodeId);
    const mirror = this.parts.store.mirror(nodeId);
    if (!node || !mirror) return;
    const byFolder = Map.groupBy(paths, (path) => path.slice(0, path.lastIndexOf('/')));
    for (const [within, ofFolder] of byFolder) {
      await insideFolder(join(folder, nodeId), within.split('/'), async (target) => {
        for (const path of ofFolder) await this.putOne(mirror.path, node, path, target);
      });
    }
  }

  private async putOne(mirrorRoot: string, node: ProjectedNode, path: string, folder: string): Promise<void> {
    node.pending.delete(path);
    const target = join(folder, path.slice(path.lastIndexOf('/') + 1));
    try {
      const source = await locate(mirrorRoot, path);
      node.marks.set(path, await putFile(source, target, { mark: node.marks.get(path) }));
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      node.marks.delete(path);
      await removeTree(target);
    }
  }

  /** Shows what is not shown yet, some files in each turn. */
  private fill(projection: Projection, nodeId: string, node: ProjectedNode): void {
    if (node.filling || node.pending.size === 0) return;
    node.filling = true;
    const run = async (): Promise<void> => {
      while (node.pending.size > 0 && projection.nodes.get(nodeId) === node && !this.closing)
        await this.inTurn(projection, () => this.fillSome(projection, nodeId, node));
    };
    run()
      .catch((error: unknown) => this.parts.logger.warn({ err: error, node: nodeId }, 'a projection is incomplete'))
      .finally(() => {
        node.filling = false;
      });
  }

  private async fillSome(projection: Projection, nodeId: string, node: ProjectedNode): Promise<void> {
    if (projection.nodes.get(nodeId) !== node || this.closing) return;
    await this.put(projection, nodeId, [...node.pending].slice(0, FILES_PER_TURN));
  }

  private note({ nodeId, changed }: FilesChanged): void {
    for (const { nodes } of this.projections.values()) {
      for (const file of changed) if (!file.isDeleted) nodes.get(file.nodeId)?.pending.add(file.path);
      const node = nodes.get(nodeId);
      if (node) node.thin = true;
    }
  }

  private async lookAgain(matches: (projection: Projection) => boolean): Promise<void> {
    await this.each(matches, (projection) => this.withdraw(projection));
  }

  private async clearWhere(matches: (projection: Projection) => boolean): Promise<void> {
    await this.each(matches, async ({ folder, nodes }) => {
      nodes.clear();
      await removeTree(folder);
    });
  }

  private async each(
    matches: (projection: Projection) => boolean,
    work: (projection: Projection) => Promise<void>,
  ): Promise<void> {
    const matching = [...this.projections.values()].filter(matches);
    const done = await Promise.allSettled(matching.map((each) => this.inTurn(each, () => work(each))));
    for (const result of done)
      if (result.status === 'rejected')
        this.parts.logger.warn({ err: result.reason as unknown }, 'a projection could not be removed');
  }

  private inTurn<T>(projection: Projection, work: () => Promise<T>): Promise<T> {
    projection.turns += 1;
    const run = projection.tail.then(work).finally(() => {
      projection.turns -= 1;
      if (projection.turns === 0 && projection.nodes.size === 0) this.projections.delete(projection.key);
    });
    projection.tail = run.catch(() => undefined);
    return run;
  }
}

async function removeShown(root: string, node: ProjectedNode, path: string): Promise<void> {
  node.marks.delete(path);
  const segments = path.split('/');
  await insideFolder(root, segments.slice(0, -1), (folder) => removeTree(join(folder, segments.at(-1) ?? '')));
}

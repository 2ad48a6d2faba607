import { rm, rmdir } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { type BeforeApplicationShutdown, Inject, Injectable } from '@nestjs/common';
import type { Caller, ClientConfigFile, Context } from '@workspace-graph/contracts';
import type { z } from 'zod';
import { DEVICE_PARTS, type DeviceParts } from '../../device-parts.js';
import type { MirrorRow } from '../../store/device-store.js';
import { Mirrors } from '../mirrors.js';
import { SCOPE_FILE } from '../scope-file.js';
import { AGENT_FILES, type AgentFile, homeUrl } from './agent-files.js';
import { OwnershipRecords, type Written } from './ownership.js';
import { ScopeFiles } from './scope-files.js';
import { ScopeFollower } from './scope-follower.js';
import { readText, writeText } from './text-file.js';

type ConfigFile = z.infer<typeof ClientConfigFile>;
type ConfigState = ConfigFile['state'];

/**
 * What we keep in the folders of nodes for agents: one entry in the configuration of each agent client, and
 * SVC_SCOPE.md. What somebody else wrote there stays as it is.
 */
@Injectable()
export class MirrorConfigs implements BeforeApplicationShutdown {
  private readonly records: OwnershipRecords;
  private refreshing: Promise<void> | null = null;
  private stopping = false;

  constructor(
    @Inject(DEVICE_PARTS) private readonly parts: DeviceParts,
    @Inject(Mirrors) private readonly mirrors: Mirrors,
    @Inject(ScopeFiles) readonly scopes: ScopeFiles,
    @Inject(ScopeFollower) private readonly follower: ScopeFollower,
  ) {
    this.records = new OwnershipRecords(parts.settings.own);
    mirrors.onRemoved(({ nodeId }) => this.records.forget(nodeId));
  }

  /** Writes what is not there or not up to date. `graph` is what `author` sees. Call it while the node is locked. */
  async write(row: MirrorRow, graph: z.infer<typeof Context>, author: Caller): Promise<ConfigFile[]> {
    const agents = await this.writeAgents(row);
    return [...agents, { client: 'scope', path: SCOPE_FILE, state: await this.scopes.write(row, graph, author) }];
  }

  /** Takes our entries and files out of the folder. Call it while the node is locked. */
  async remove(row: MirrorRow): Promise<void> {
    for (const file of AGENT_FILES) await this.removeAgent(row, file);
    await this.scopes.remove(row);
  }

  /**
   * Looks in the background whether the address in the folders is the present one, and whether what SVC_SCOPE.md tells
   * still is so. To be called once the process listens.
   */
  refreshInBackground(): void {
    this.follower.noteAll();
    this.refreshing ??= this.refreshAll().finally(() => {
      this.refreshing = null;
    });
  }

  /** Ends when a refresh under way has ended. */
  async settled(): Promise<void> {
    await this.refreshing;
  }

  async beforeApplicationShutdown(): Promise<void> {
    this.stopping = true;
    await this.refreshing;
  }

  private async refreshAll(): Promise<void> {
    for (const { nodeId } of this.mirrors.all()) {
      if (this.stopping) return;
      await this.parts.locks
        .run([nodeId], () => this.refresh(nodeId))
        .catch((error: unknown) =>
          this.parts.logger.warn(
            { err: error, node: nodeId },
            'the client configuration in a folder was not refreshed',
          ),
        );
    }
  }

  private async refresh(nodeId: string): Promise<void> {
    const row = this.mirrors.of(nodeId);
    if (row && (await this.mirrors.stateOf(row)) === 'ready') await this.writeAgents(row);
  }

  private async writeAgents(row: MirrorRow): Promise<ConfigFile[]> {
    const url = homeUrl(this.parts.settings.mcpUrl(), row.nodeId);
    const files: ConfigFile[] = [];
    for (const file of AGENT_FILES) {
      const { client, path } = file;
      files.push({ client, path, state: await this.writeAgent(row, file, url) });
    }
    return files;
  }

  private async writeAgent(row: MirrorRow, file: AgentFile, url: string): Promise<ConfigState> {
    const found = await readText(row.path, file.path);
    if (found === 'foreign') return 'foreign';
    const before = found === 'missing' ? null : found.text;
    const own = await this.records.read(row.nodeId);
    const entry = file.entry(url);
    const edited = entry.write(before, own);
    if (edited === 'foreign' || edited.text === null) return 'foreign';
    if (edited.text === before) return 'unchanged';
    await this.remember(row.nodeId, entry.hash, { ...own, made: edited.made ?? own.made });
    await writeText(join(row.path, file.path), edited.text, found === 'missing' ? undefined : found.mode);
    if (entry.hash !== null)
      await this.records.write(row.nodeId, { ...own, hashes: [entry.hash], made: edited.made ?? own.made });
    return 'written';
  }

  /** Before the entry is written, so that a process that ends in between knows its own entry again. */
  private async remember(nodeId: string, hash: string | null, own: Written): Promise<void> {
    if (hash !== null) await this.records.write(nodeId, { ...own, hashes: [...new Set([...own.hashes, hash])] });
  }

  private async removeAgent(row: MirrorRow, file: AgentFile): Promise<void> {
    const found = await readText(row.path, file.path);
    if (typeof found === 'string') return;
    const own = await this.records.read(row.nodeId);
    const url = homeUrl(this.parts.settings.mcpUrl(), row.nodeId);
    const edited = file.entry(url).remove(found.text, own);
    if (edited === 'foreign') return;
    const target = join(row.path, file.path);
    if (edited.text !== null) return writeText(target, edited.text, found.mode);
    await rm(target);
    // A folder in which something else lies stays.
    if (dirname(file.path) !== '.') await rmdir(dirname(target)).catch(() => undefined);
  }
}

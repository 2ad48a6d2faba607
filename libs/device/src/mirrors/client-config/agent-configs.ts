import { type BeforeApplicationShutdown, Inject, Injectable } from '@nestjs/common';
import type { ClientConfigFile } from '@workspace-graph/contracts';
import type { z } from 'zod';
import { DEVICE_PARTS, type DeviceParts } from '../../device-parts.js';
import type { MirrorRow } from '../../store/device-store.js';
import { Mirrors } from '../mirrors.js';
import { AGENT_FILES, type AgentFile, homeUrl } from './agent-files.js';
import { FolderTexts } from './folder-texts.js';
import { type OwnFiles, removeAgentEntry } from './own-files.js';
import type { OwnedText, Ownership } from './owned-text.js';
import { OwnershipRecords, type Written } from './ownership.js';
import { readText } from './text-file.js';

type ConfigFile = z.infer<typeof ClientConfigFile>;
type ConfigState = ConfigFile['state'];

/** How often a file is looked at that others save all the time. */
const ATTEMPTS = 3;
/** Where the file itself tells what is ours. */
const NONE: Ownership = { hashes: [], made: null };

/** One entry of ours in the configuration of each agent client, in the folders of nodes. */
@Injectable()
export class AgentConfigs implements BeforeApplicationShutdown {
  private readonly records: OwnershipRecords;
  /** By what is known what is ours. */
  readonly own: OwnFiles;
  private refreshing: Promise<void> | null = null;
  private stopping = false;

  constructor(
    @Inject(DEVICE_PARTS) private readonly parts: DeviceParts,
    @Inject(Mirrors) private readonly mirrors: Mirrors,
    @Inject(FolderTexts) private readonly texts: FolderTexts,
  ) {
    this.records = new OwnershipRecords(parts.settings.own);
    this.own = { texts, records: this.records };
    mirrors.onRemoved(({ nodeId }) => this.records.forget(nodeId));
  }

  /** Writes the entries that are not there or not up to date. Call it while the node is locked. */
  async write(row: MirrorRow): Promise<ConfigFile[]> {
    const url = homeUrl(this.parts.settings.mcpUrl(), row.nodeId);
    const files: ConfigFile[] = [];
    for (const file of AGENT_FILES) {
      const { client, path } = file;
      const state = await (file.joinsOnly ? this.joinAgent(row, file, url) : this.writeAgent(row, file, url));
      if (state !== null) files.push({ client, path, state });
    }
    return files;
  }

  /** Looks in the background whether the address in the folders is the present one. */
  refreshInBackground(): void {
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
    if (row && (await this.mirrors.stateOf(row)) === 'ready') await this.write(row);
  }

  /** Adds our entry to a file that the person has, and takes away one that holds nothing else; null where there is none. */
  private async joinAgent(row: MirrorRow, file: AgentFile, url: string): Promise<ConfigState | null> {
    const found = await readText(row.path, file.path);
    if (typeof found === 'object' && isAllOurs(file.entry(url), found.text, NONE)) {
      await removeAgentEntry(row, file, this.own);
      return null;
    }
    return found === 'missing' ? null : this.writeAgent(row, file, url);
  }

  /** A file that another program saves in the same instant is looked at anew. */
  private async writeAgent(row: MirrorRow, file: AgentFile, url: string): Promise<ConfigState> {
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const state = await this.tryWriteAgent(row, file, url);
      if (state !== null) return state;
    }
    return 'foreign';
  }

  /** Null when somebody saved the file meanwhile. */
  private async tryWriteAgent(row: MirrorRow, file: AgentFile, url: string): Promise<ConfigState | null> {
    const found = await readText(row.path, file.path);
    if (found === 'foreign') return 'foreign';
    const before = found === 'missing' ? null : found.text;
    const own = await this.records.read(row.nodeId);
    const entry = file.entry(url);
    const edited = entry.write(before, own);
    if (edited === 'foreign' || edited.text === null) return 'foreign';
    if (edited.text === before) return 'unchanged';
    await this.remember(row.nodeId, entry.hash, { ...own, made: edited.made ?? own.made });
    const place = { folder: row.path, path: file.path, found };
    const isOurs = before !== null && isAllOurs(entry, before, own);
    if (!(await this.texts.write(place, edited.text, { isOurs }))) return null;
    if (entry.hash !== null)
      await this.records.write(row.nodeId, { ...own, hashes: [entry.hash], made: edited.made ?? own.made });
    return 'written';
  }

  /** Before the entry is written, so that a process that ends in between knows its own entry again. */
  private async remember(nodeId: string, hash: string | null, own: Written): Promise<void> {
    if (hash !== null) await this.records.write(nodeId, { ...own, hashes: [...new Set([...own.hashes, hash])] });
  }
}

/** Whether nothing would be left of a file without our entry. */
function isAllOurs(entry: OwnedText, text: string, own: Ownership): boolean {
  const edited = entry.remove(text, own);
  return edited !== 'foreign' && edited.text === null;
}

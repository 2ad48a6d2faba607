import { Controller, Inject } from '@nestjs/common';
import {
  type Envelope,
  getSyncHealth,
  getSyncStatus,
  listFileIntents,
  type NodeRef,
  type OutputOf,
  type ParsedInputOf,
} from '@workspace-graph/contracts';
import { Handles, type OperationContext } from '@workspace-graph/platform';
import { DEVICE_PARTS, type DeviceParts } from '../device-parts.js';
import { foldersSetAside } from '../mirrors/folder-withdrawal.js';
import { Mirrors, type PlacedMirror } from '../mirrors/mirrors.js';
import { Scanner } from '../scan/scanner.js';
import { Watcher } from './watcher.js';

const FAILURES_SHOWN = 200;

/** How the folders of nodes are doing. Failures tell paths within nodes only, and those of hidden nodes are nowhere. */
@Controller()
export class SyncStatusHandlers {
  constructor(
    @Inject(DEVICE_PARTS) private readonly parts: DeviceParts,
    private readonly mirrors: Mirrors,
    private readonly scanner: Scanner,
    private readonly watcher: Watcher,
  ) {}

  @Handles(getSyncStatus)
  async status(
    { node_id }: ParsedInputOf<typeof getSyncStatus>,
    { envelope }: OperationContext,
  ): Promise<OutputOf<typeof getSyncStatus>> {
    const { service, store } = this.parts;
    const place = await service.place(node_id, envelope);
    const { intents } = await service.call(listFileIntents, { node_ids: [node_id] }, envelope);
    const row = this.mirrors.of(node_id);
    const scan = this.scanner.progressOf(node_id);
    const state = row && (await this.mirrors.stateOf(row));
    const { present, deleted } = store.countFiles(node_id);
    const local_path = await this.parts.localPaths.folderOf(place, envelope);
    return {
      node_id,
      mirror: row && state && { local_path, state: state === 'ready' && scan.running ? 'scanning' : state },
      watching: this.watcher.isWatching(node_id),
      scan,
      tracked: present + deleted,
      deleted_local: deleted,
      pending_operations: intents.length,
      watcher_errors: this.scanner.failures.of(node_id),
    };
  }

  @Handles(getSyncHealth)
  async health(
    _input: ParsedInputOf<typeof getSyncHealth>,
    { envelope }: OperationContext,
  ): Promise<OutputOf<typeof getSyncHealth>> {
    const placed = await this.mirrors.placed(envelope);
    const states = await Promise.all(placed.map(({ row }) => this.mirrors.stateOf(row)));
    const scans = placed.map((mirror) => ({ node: nodeOf(mirror), ...this.scanner.progressOf(mirror.row.nodeId) }));
    const failures = placed
      .flatMap((mirror) =>
        this.scanner.failures.of(mirror.row.nodeId).map((each) => ({ node: nodeOf(mirror), ...each })),
      )
      .toSorted((a, b) => b.at.localeCompare(a.at));
    return {
      watching: this.watcher.isOn,
      mirrors: placed.length,
      mirrors_missing: states.filter((state) => state !== 'ready').length,
      files: placed.reduce((sum, { row }) => sum + this.parts.store.countFiles(row.nodeId).present, 0),
      scans: scans.filter(({ running }) => running),
      failures: failures.slice(0, FAILURES_SHOWN),
      failures_complete: failures.length <= FAILURES_SHOWN,
      set_aside: this.hearsOfAll(envelope) ? await foldersSetAside(this.parts.store) : [],
    };
  }

  /** No session holds a node that its person does not see any more. */
  private hearsOfAll(envelope: Envelope): boolean {
    return !envelope.caller?.session_id && this.parts.localPaths.areShownTo(envelope);
  }
}

function nodeOf({ place }: PlacedMirror): NodeRef {
  return { id: place.node_id, type: place.type, name: place.name };
}

import type { Bus } from '@workspace-graph/bus';
import type { Logger } from '@workspace-graph/platform';
import type { NodeLocks } from './locks/node-locks.js';
import type { LocalPaths } from './node-paths/local-paths.js';
import type { DeviceIdentity } from './records/device-principal.js';
import type { FileService } from './records/file-service.js';
import type { TrackedFiles } from './records/tracked-files.js';
import type { DeviceStore } from './store/device-store.js';
import type { CentralFiles } from './transfer/central-files.js';

/** Settings of a device, from its configuration. */
export interface DeviceSettings {
  /** Absolute path of the workspace; mirrors without a path of their own lie in it. */
  readonly root: string;
  /** Which device this is and who joined it; null while that is not known. */
  readonly identity: () => DeviceIdentity | null;
  /** The folder `.svc` in it, which contains registry, trash, projections and the search index. */
  readonly own: string;
  /** False: no folder is watched, so changes on disk are found only when a folder is scanned. */
  readonly watch: boolean;
  /** Milliseconds that a file must stay unchanged before it is tracked. */
  readonly debounceMs: number;
  /** Number of watcher failures that are kept for one node. */
  readonly failuresPerNode: number;
  /** Milliseconds for which a section may be missing before its files count as deleted. Default: ten seconds. */
  readonly absenceMs?: number;
  /** True: other devices have folders of the same nodes, and a record that this one does not know is theirs. Default: false. */
  readonly sharesRecords?: boolean;
  /** Days for which deleted and replaced content can be restored. */
  readonly trashDays: number;
  /** Where agents on this device reach the MCP endpoint, such as http://127.0.0.1:4011/mcp; known once it listens. */
  readonly mcpUrl: () => string;
}

/** What all parts of a device share. Injected as `DEVICE_PARTS`. */
export interface DeviceParts {
  /** Settings of this device. */
  readonly settings: DeviceSettings;
  /** Calls of operations, and events. */
  readonly bus: Bus;
  /** The registry, `sync.db`: what this device knows of its mirrors and files. */
  readonly store: DeviceStore;
  /** The records, through the file service on the bus. */
  readonly service: FileService;
  /** The only way to change records and registry. */
  readonly files: TrackedFiles;
  /** Locks of nodes: hold one while you change the files of a node. */
  readonly locks: NodeLocks;
  /** The contents of files at the centre; null in a local workspace. */
  readonly centre: CentralFiles | null;
  /** Which callers may see paths of this device. */
  readonly localPaths: LocalPaths;
  /** Log of the process. */
  readonly logger: Logger;
}

/** What changes of files on the disk of a device need: also of one that does not run. */
export interface DiskParts extends Pick<DeviceParts, 'store' | 'locks' | 'logger'> {
  readonly settings: Pick<DeviceSettings, 'own' | 'trashDays'>;
}

/** Injection token of DeviceParts. */
export const DEVICE_PARTS = Symbol('workspace-graph:device-parts');

import type { Bus } from '@workspace-graph/bus';
import type { Logger } from '@workspace-graph/platform';
import type { NodeLocks } from './locks/node-locks.js';
import type { LocalPaths } from './node-paths/local-paths.js';
import type { DeviceIdentity } from './records/device-principal.js';
import type { FileService } from './records/file-service.js';
import type { TrackedFiles } from './records/tracked-files.js';
import type { DeviceStore } from './store/device-store.js';

export interface DeviceSettings {
  /** Absolute path of the workspace; mirrors without a path of their own lie in it. */
  readonly root: string;
  /** Which device this is and who joined it; null while that is not known. */
  readonly identity: () => DeviceIdentity | null;
  /** The folder `.svc` in it, where registry, trash, projections and the search index lie. */
  readonly own: string;
  readonly watch: boolean;
  readonly debounceMs: number;
  readonly failuresPerNode: number;
  /** How long a section may be away before its files count as deleted; some time unless told. */
  readonly absenceMs?: number;
  readonly trashDays: number;
  /** Where agents on this device reach the MCP endpoint, such as http://127.0.0.1:4011/mcp; known once it listens. */
  readonly mcpUrl: () => string;
}

/** What everything on the device works with. */
export interface DeviceParts {
  readonly settings: DeviceSettings;
  readonly bus: Bus;
  readonly store: DeviceStore;
  readonly service: FileService;
  readonly files: TrackedFiles;
  readonly locks: NodeLocks;
  readonly localPaths: LocalPaths;
  readonly logger: Logger;
}

/** Injection token of DeviceParts. */
export const DEVICE_PARTS = Symbol('workspace-graph:device-parts');

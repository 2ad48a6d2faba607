import { join } from 'node:path';
import { type DynamicModule, Inject, Module, type OnApplicationShutdown } from '@nestjs/common';
import type { Bus } from '@workspace-graph/bus';
import { type Logger, OperationRegistry } from '@workspace-graph/platform';
import { FileContents } from './content/file-contents.js';
import { DEVICE_PARTS, type DeviceParts, type DeviceSettings } from './device-parts.js';
import { AdoptHandlers } from './files/adopt.handlers.js';
import { DeleteHandlers } from './files/delete.handlers.js';
import { FILE_PROVIDERS } from './files/file.providers.js';
import { FileChanges } from './files/file-changes.js';
import { MoveHandlers } from './files/move.handlers.js';
import { RenameHandlers } from './files/rename.handlers.js';
import { WriteHandlers } from './files/write.handlers.js';
import { NodeLocks } from './locks/node-locks.js';
import { MirrorConfigs } from './mirrors/client-config/mirror-configs.js';
import { HandoffFiles } from './mirrors/handoff-files.js';
import { MirrorHandlers } from './mirrors/mirror.handlers.js';
import { MIRROR_PROVIDERS } from './mirrors/mirror.providers.js';
import { MirrorPlaceHandlers } from './mirrors/mirror-place.handlers.js';
import { OpenFolderHandlers } from './mirrors/open-folder.handlers.js';
import { LocalPaths } from './node-paths/local-paths.js';
import { Projections } from './projections/projections.js';
import { ReadingHandlers } from './reading/reading.handlers.js';
import { READING_PROVIDERS } from './reading/reading.providers.js';
import { DevicePrincipal } from './records/device-principal.js';
import { FileService } from './records/file-service.js';
import { Recollection } from './records/recollection.js';
import { TrackedFiles } from './records/tracked-files.js';
import { SearchHandlers } from './search/search.handlers.js';
import { SEARCH_PROVIDERS } from './search/search.providers.js';
import { StatusHandlers } from './status/status.handlers.js';
import { DeviceStore } from './store/device-store.js';
import type { CentralFiles } from './transfer/central-files.js';
import { PullHandlers } from './transfer/pull.handlers.js';
import { SnapshotHandlers } from './transfer/snapshot.handlers.js';
import { StoreHandlers } from './transfer/store.handlers.js';
import { transferProviders } from './transfer/transfer.providers.js';
import { TrashHandlers } from './trash/trash.handlers.js';
import { SyncStatusHandlers } from './watcher/sync-status.handlers.js';
import { WATCHER_PROVIDERS } from './watcher/watcher.providers.js';

/** What a process gives to its device. */
export interface DeviceOptions {
  /** Settings from the configuration of the process. */
  readonly settings: DeviceSettings;
  /** The bus on which the device serves its operations and calls others. */
  readonly bus: Bus;
  /** Log of the process. */
  readonly logger: Logger;
  /** Where contents are brought to and from; a local workspace has none. */
  readonly centre?: CentralFiles;
}

/**
 * Everything that belongs to this device: mirrors, watcher, files, search. Handlers of every operation owned by
 * `device`; those on remote storage where there is a centre. Needs OperationsModule, and the file service on the bus.
 */
@Module({})
export class DeviceModule implements OnApplicationShutdown {
  static forRoot(options: DeviceOptions): DynamicModule {
    const transfer = options.centre
      ? { controllers: [StoreHandlers, PullHandlers, SnapshotHandlers], providers: transferProviders(options.centre) }
      : { controllers: [], providers: [] };
    return {
      module: DeviceModule,
      controllers: [
        AdoptHandlers,
        DeleteHandlers,
        MirrorHandlers,
        MirrorPlaceHandlers,
        MoveHandlers,
        OpenFolderHandlers,
        ReadingHandlers,
        RenameHandlers,
        SearchHandlers,
        StatusHandlers,
        SyncStatusHandlers,
        TrashHandlers,
        WriteHandlers,
        ...transfer.controllers,
      ],
      providers: [
        { provide: DEVICE_PARTS, useFactory: () => openParts(options) },
        ...MIRROR_PROVIDERS,
        ...SEARCH_PROVIDERS,
        ...READING_PROVIDERS,
        ...FILE_PROVIDERS,
        ...WATCHER_PROVIDERS,
        ...transfer.providers,
      ],
      exports: [DEVICE_PARTS, HandoffFiles, MirrorConfigs, FileContents, FileChanges, Projections],
    };
  }

  constructor(
    @Inject(DEVICE_PARTS) private readonly parts: DeviceParts,
    registry: OperationRegistry,
  ) {
    registry.find('trash', (id) => parts.store.trashEntry(id)?.nodeId ?? null);
  }

  /** After everything that works with the registry has stopped, in `beforeApplicationShutdown` at the latest. */
  onApplicationShutdown(): void {
    this.parts.store.close();
  }
}

function openParts({ settings, bus, logger, centre }: DeviceOptions): DeviceParts {
  const store = DeviceStore.open(join(settings.own, 'sync.db'));
  const principal = new DevicePrincipal(bus, settings.identity);
  const service = new FileService(bus, principal, settings.sharesRecords ? new Recollection(store) : null);
  return {
    settings,
    bus,
    logger,
    store,
    service,
    files: new TrackedFiles(service, store),
    locks: new NodeLocks(),
    centre: centre ?? null,
    localPaths: new LocalPaths({ settings, principal, store, service }),
  };
}

import { type DynamicModule, Module } from '@nestjs/common';
import { ByteServer } from '../central/bytes/byte-server.js';
import { Batches, TransferRuns } from '../central/bytes/transfer-runs.js';
import { CentreIntents } from '../central/centre-intents.js';
import { CentreChangeHandlers, CentreFolderHandlers } from '../central/change.handlers.js';
import { InterruptedChanges } from '../central/interrupted-changes.js';
import { LiveContents } from '../central/live-contents.js';
import { LookHandlers } from '../central/look.handlers.js';
import { ObjectFollows } from '../central/object-follows.js';
import { ObjectLocks } from '../central/object-locks.js';
import { PullBatches } from '../central/pull-batches.js';
import { PushHandlers } from '../central/push.handlers.js';
import { PushBatches } from '../central/push-batches.js';
import { CentreReadHandlers } from '../central/read.handlers.js';
import { RemoteAdoptions } from '../central/remote-adoptions.js';
import { RemoteDeletes } from '../central/remote-deletes.js';
import { RemoteFiles } from '../central/remote-files.js';
import { RemoteMoves } from '../central/remote-moves.js';
import { RemoteObjects } from '../central/remote-objects.js';
import { RemotePushes } from '../central/remote-pushes.js';
import { RemoteRenames } from '../central/remote-renames.js';
import { RemoteSurveys } from '../central/remote-surveys.js';
import { RemoteWrites } from '../central/remote-writes.js';
import { Repairs } from '../central/repairs.js';
import { ScaffoldHandlers } from '../central/scaffold.handlers.js';
import { CentreSearchHandlers } from '../central/search.handlers.js';
import { Snapshots } from '../central/snapshots.js';
import { CentreStatusHandlers } from '../central/status.handlers.js';
import { TextGrep } from '../central/text-grep.js';
import { TransferHandlers } from '../central/transfer.handlers.js';
import { LargeUploads } from '../central/uploads/large-uploads.js';
import { KeptUploadHashes } from '../central/uploads/upload-hashes.js';
import { FileModule } from '../file.module.js';
import { RemoteHandlers } from './remote.handlers.js';
import { REMOTE_PARTS, type RemoteParts } from './remote-parts.js';
import { RemotePool } from './remote-pool.js';

/**
 * Handlers of the operations about storages of the organisation, and of those about files for whoever has no workstation.
 * Needs DatabaseModule, OperationsModule and FileModule.
 */
@Module({})
export class RemotesModule {
  static forRoot(parts: RemoteParts): DynamicModule {
    return {
      module: RemotesModule,
      imports: [FileModule],
      controllers: [
        RemoteHandlers,
        CentreReadHandlers,
        CentreSearchHandlers,
        CentreChangeHandlers,
        CentreFolderHandlers,
        CentreStatusHandlers,
        LookHandlers,
        PushHandlers,
        ScaffoldHandlers,
        TransferHandlers,
      ],
      providers: [
        { provide: REMOTE_PARTS, useValue: parts },
        ByteServer,
        Repairs,
        InterruptedChanges,
        RemoteWrites,
        Snapshots,
        TextGrep,
        RemotePushes,
        PushBatches,
        PullBatches,
        Batches,
        TransferRuns,
        RemoteMoves,
        RemoteDeletes,
        RemoteSurveys,
        RemoteRenames,
        RemoteAdoptions,
        ObjectFollows,
        CentreIntents,
        RemoteObjects,
        KeptUploadHashes,
        LargeUploads,
        LiveContents,
        RemoteFiles,
        ObjectLocks,
        RemotePool,
      ],
    };
  }
}

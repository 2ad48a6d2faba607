import { type DynamicModule, Module } from '@nestjs/common';
import { ByteServer } from '../central/bytes/byte-server.js';
import { CentreIntents } from '../central/centre-intents.js';
import { CentreChangeHandlers } from '../central/change.handlers.js';
import { LiveContents } from '../central/live-contents.js';
import { ObjectLocks } from '../central/object-locks.js';
import { CentreReadHandlers } from '../central/read.handlers.js';
import { RemoteDeletes } from '../central/remote-deletes.js';
import { RemoteFiles } from '../central/remote-files.js';
import { RemoteMoves } from '../central/remote-moves.js';
import { RemoteObjects } from '../central/remote-objects.js';
import { RemoteWrites } from '../central/remote-writes.js';
import { Repairs } from '../central/repairs.js';
import { CentreSearchHandlers } from '../central/search.handlers.js';
import { TransferHandlers } from '../central/transfer.handlers.js';
import { RemoteHandlers } from './remote.handlers.js';
import { REMOTE_PARTS, type RemoteParts } from './remote-parts.js';
import { RemotePool } from './remote-pool.js';

/**
 * Handlers of the operations about storages of the organisation, and of those about files for whoever has no workstation.
 * Needs DatabaseModule and OperationsModule.
 */
@Module({})
export class RemotesModule {
  static forRoot(parts: RemoteParts): DynamicModule {
    return {
      module: RemotesModule,
      controllers: [RemoteHandlers, CentreReadHandlers, CentreSearchHandlers, CentreChangeHandlers, TransferHandlers],
      providers: [
        { provide: REMOTE_PARTS, useValue: parts },
        ByteServer,
        Repairs,
        RemoteWrites,
        RemoteMoves,
        RemoteDeletes,
        CentreIntents,
        RemoteObjects,
        LiveContents,
        RemoteFiles,
        ObjectLocks,
        RemotePool,
      ],
    };
  }
}

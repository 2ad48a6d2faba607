import { type DynamicModule, Module } from '@nestjs/common';
import { RemoteHandlers } from './remote.handlers.js';
import { REMOTE_PARTS, type RemoteParts } from './remote-parts.js';

/** Handlers of the operations about storages of the organisation. Needs DatabaseModule and OperationsModule. */
@Module({})
export class RemotesModule {
  static forRoot(parts: RemoteParts): DynamicModule {
    return {
      module: RemotesModule,
      controllers: [RemoteHandlers],
      providers: [{ provide: REMOTE_PARTS, useValue: parts }],
    };
  }
}

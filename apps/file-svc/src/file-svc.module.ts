import { type DynamicModule, Module } from '@nestjs/common';
import { DatabaseModule, databaseOptions } from '@workspace-graph/database';
import { OperationsModule, type ProcessParts } from '@workspace-graph/platform';
import { FileModule } from '@workspace-graph/service-file';
import { type RemoteParts, RemotesModule } from '@workspace-graph/service-file/remotes';

/** The file service over a database, with the storages of the organisation. */
@Module({})
export class FileSvcModule {
  static forRoot(parts: ProcessParts, databaseUrl: string, remotes: RemoteParts): DynamicModule {
    return {
      module: FileSvcModule,
      imports: [
        OperationsModule,
        DatabaseModule.forRoot(databaseOptions(parts, databaseUrl)),
        FileModule,
        RemotesModule.forRoot(remotes),
      ],
    };
  }
}

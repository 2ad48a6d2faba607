import { type DynamicModule, Module } from '@nestjs/common';
import { DatabaseModule, databaseOptions } from '@workspace-graph/database';
import { OperationsModule, type ProcessParts } from '@workspace-graph/platform';
import { SessionModule, type SessionModuleOptions } from '@workspace-graph/service-session';

/** The session service over a database. */
@Module({})
export class SessionSvcModule {
  static forRoot(parts: ProcessParts, databaseUrl: string, options: SessionModuleOptions): DynamicModule {
    return {
      module: SessionSvcModule,
      imports: [
        OperationsModule,
        DatabaseModule.forRoot(databaseOptions(parts, databaseUrl)),
        SessionModule.forRoot(options),
      ],
    };
  }
}

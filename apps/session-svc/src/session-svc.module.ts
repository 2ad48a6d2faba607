import { type DynamicModule, Module } from '@nestjs/common';
import type { Bus } from '@workspace-graph/bus';
import { DatabaseModule, databaseOptions } from '@workspace-graph/database';
import { OperationsModule, type ProcessParts } from '@workspace-graph/platform';
import { SessionModule } from '@workspace-graph/service-session';

/** The session service over a database. */
@Module({})
export class SessionSvcModule {
  static forRoot(parts: ProcessParts, databaseUrl: string, bus: () => Bus): DynamicModule {
    return {
      module: SessionSvcModule,
      imports: [
        OperationsModule,
        DatabaseModule.forRoot(databaseOptions(parts, databaseUrl)),
        SessionModule.forRoot({ bus }),
      ],
    };
  }
}

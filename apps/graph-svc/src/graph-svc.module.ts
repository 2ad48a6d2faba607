import { type DynamicModule, Module } from '@nestjs/common';
import { DatabaseModule, databaseOptions } from '@workspace-graph/database';
import { OperationsModule, type ProcessParts } from '@workspace-graph/platform';
import { GraphModule } from '@workspace-graph/service-graph';
import { IdentityModule } from '@workspace-graph/service-identity';

/** The graph and identity services over one database. */
@Module({})
export class GraphSvcModule {
  static forRoot(parts: ProcessParts, databaseUrl: string): DynamicModule {
    return {
      module: GraphSvcModule,
      imports: [
        OperationsModule,
        DatabaseModule.forRoot(databaseOptions(parts, databaseUrl)),
        GraphModule,
        IdentityModule,
      ],
    };
  }
}

import { type DynamicModule, Module } from '@nestjs/common';
import { DatabaseModule, type DatabaseOptions } from '@workspace-graph/database';
import { OperationsModule } from '@workspace-graph/platform';
import { GraphModule } from '@workspace-graph/service-graph';
import { IdentityModule } from '@workspace-graph/service-identity';

/** The graph and identity services over one database. */
@Module({})
export class GraphSvcModule {
  static forRoot(database: DatabaseOptions): DynamicModule {
    return {
      module: GraphSvcModule,
      imports: [OperationsModule, DatabaseModule.forRoot(database), GraphModule, IdentityModule],
    };
  }
}

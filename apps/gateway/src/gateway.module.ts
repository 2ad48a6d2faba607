import { type DynamicModule, Module } from '@nestjs/common';
import { operationsOf } from '@workspace-graph/contracts';
import { SERVICES } from '@workspace-graph/platform';
import { EdgeModule, type EdgeParts, McpModule, RestModule, WsModule } from '@workspace-graph/surfaces';
import { VERSION } from './version.js';

/** The public surfaces of a central workspace over the bus. */
@Module({})
export class GatewayModule {
  static forRoot(parts: EdgeParts): DynamicModule {
    const operations = operationsOf(SERVICES.gateway.calls);
    // The edge comes first: its gate must stand before the first route.
    return {
      module: GatewayModule,
      imports: [
        EdgeModule.forRoot(parts),
        RestModule.forRoot({ version: VERSION, operations }),
        McpModule.forRoot({ settings: { version: VERSION }, operations, recordsSessions: true }),
        WsModule.forRoot(),
      ],
    };
  }
}

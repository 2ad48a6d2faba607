import { fileURLToPath } from 'node:url';
import { type DynamicModule, Module } from '@nestjs/common';
import { centralOperationsOf } from '@workspace-graph/contracts';
import { SERVICES } from '@workspace-graph/platform';
import {
  EdgeModule,
  type EdgeParts,
  FilesModule,
  LinkModule,
  McpModule,
  RestModule,
  TransferredContent,
  WebModule,
  WsModule,
} from '@workspace-graph/surfaces';
import { VERSION } from './version.js';

/** The built page, which another app is. */
const PAGE = fileURLToPath(new URL('../../desktop/web/dist', import.meta.url));

/** The public surfaces of a central workspace over the bus. */
@Module({})
export class GatewayModule {
  static forRoot(parts: EdgeParts): DynamicModule {
    const operations = centralOperationsOf(SERVICES.gateway.calls);
    // The edge comes first: its gate must stand before the first route.
    return {
      module: GatewayModule,
      imports: [
        EdgeModule.forRoot(parts),
        RestModule.forRoot({ version: VERSION, operations }),
        McpModule.forRoot({ settings: { version: VERSION }, operations, recordsSessions: true }),
        FilesModule.forRoot({ content: { useValue: new TransferredContent(parts.bus) } }),
        WsModule.forRoot(),
        LinkModule.forRoot({ operations }),
        WebModule.forRoot({ folder: PAGE, workspace: 'central' }),
      ],
    };
  }
}

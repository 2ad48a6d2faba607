import { type DynamicModule, Module } from '@nestjs/common';
import { REMOTE_OPERATIONS } from '@workspace-graph/contracts';
import { DatabaseModule, type DatabaseOptions } from '@workspace-graph/database';
import { DeviceModule, type DeviceOptions, FileContents } from '@workspace-graph/device';
import { OperationsModule } from '@workspace-graph/platform';
import { FileModule, NoRemotesModule } from '@workspace-graph/service-file';
import { GraphModule } from '@workspace-graph/service-graph';
import { IdentityModule } from '@workspace-graph/service-identity';
import { SessionModule } from '@workspace-graph/service-session';
import {
  EdgeModule,
  type EdgeParts,
  FilesModule,
  McpModule,
  RestModule,
  WebModule,
  WsModule,
  type WsModuleOptions,
} from '@workspace-graph/surfaces';
import { VERSION } from '../version.js';
import { PAGE } from './page.js';
import { LOCAL_WORKSPACE, type LocalWorkspace, WorkspaceHandlers } from './workspace.handlers.js';

export interface LocalWorkspaceOptions {
  readonly live?: Pick<WsModuleOptions, 'webviewProof'>;
  readonly edge: EdgeParts;
  readonly database: DatabaseOptions;
  readonly device: DeviceOptions;
  readonly workspace: LocalWorkspace;
}

/** Everything of a local workspace in one process: the services, the device and the surfaces over an in-process bus. */
@Module({})
export class LocalWorkspaceModule {
  static forRoot(options: LocalWorkspaceOptions): DynamicModule {
    const device = DeviceModule.forRoot(options.device);
    return {
      module: LocalWorkspaceModule,
      controllers: [WorkspaceHandlers],
      providers: [{ provide: LOCAL_WORKSPACE, useValue: options.workspace }],
      // The edge comes first: its gate must stand before the first route.
      imports: [
        EdgeModule.forRoot(options.edge),
        RestModule.forRoot({ version: VERSION }),
        FilesModule.forRoot({ content: { useExisting: FileContents }, imports: [device] }),
        McpModule.forRoot({ settings: { version: VERSION }, unlisted: REMOTE_OPERATIONS, recordsSessions: true }),
        WsModule.forRoot({ ...options.live, hasFolders: true }),
        WebModule.forRoot({ folder: PAGE, workspace: 'local' }),
        OperationsModule,
        DatabaseModule.forRoot(options.database),
        GraphModule,
        IdentityModule,
        FileModule,
        SessionModule.forRoot({ bus: () => options.edge.bus }),
        NoRemotesModule,
        device,
      ],
    };
  }
}

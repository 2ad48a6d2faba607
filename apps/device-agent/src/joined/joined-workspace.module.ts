import { type DynamicModule, Module } from '@nestjs/common';
import type { FileContent, Operation } from '@workspace-graph/contracts';
import { DeviceModule, type DeviceOptions, FileContents } from '@workspace-graph/device';
import { OperationsModule } from '@workspace-graph/platform';
import {
  EdgeModule,
  type EdgeParts,
  FilesModule,
  McpModule,
  type PageTokens,
  RelayModule,
  type RelayModuleOptions,
  RestModule,
  WebModule,
} from '@workspace-graph/surfaces';
import { VERSION } from '../version.js';
import { PAGE } from '../workspace/page.js';
import { EitherContent } from './either-content.js';
import { JOINED_WORKSPACE, JoinedHandlers, type JoinedWorkspace } from './joined.handlers.js';

export interface JoinedWorkspaceOptions {
  readonly edge: EdgeParts;
  readonly device: DeviceOptions;
  readonly workspace: JoinedWorkspace;
  /** What people and programs can call here. */
  readonly operations: readonly Operation[];
  readonly pageTokens: PageTokens;
  readonly relay: RelayModuleOptions;
  /** The bytes of nodes without a folder here. */
  readonly centralContent: FileContent;
}

const CONTENT = Symbol('JOINED_CONTENT');

/** The device and the surfaces of a workstation; everything else is at the centre, behind the bus. */
@Module({})
export class JoinedWorkspaceModule {
  static forRoot(options: JoinedWorkspaceOptions): DynamicModule {
    const { edge, workspace, operations, pageTokens, relay, centralContent } = options;
    const device = DeviceModule.forRoot(options.device);
    const content: DynamicModule = {
      module: class ContentModule {},
      imports: [device],
      providers: [
        {
          provide: CONTENT,
          inject: [FileContents],
          useFactory: (here: FileContents) => new EitherContent(here, centralContent),
        },
      ],
      exports: [CONTENT],
    };
    return {
      module: JoinedWorkspaceModule,
      controllers: [JoinedHandlers],
      providers: [{ provide: JOINED_WORKSPACE, useValue: workspace }],
      // The edge comes first: its gate must stand before the first route.
      imports: [
        EdgeModule.forRoot(edge),
        RestModule.forRoot({ version: VERSION, operations }),
        FilesModule.forRoot({ content: { useExisting: CONTENT }, imports: [content] }),
        McpModule.forRoot({ settings: { version: VERSION }, operations, recordsSessions: true }),
        RelayModule.forRoot(relay),
        WebModule.forRoot({ folder: PAGE, workspace: 'joined', tokens: pageTokens }),
        OperationsModule,
        device,
      ],
    };
  }
}

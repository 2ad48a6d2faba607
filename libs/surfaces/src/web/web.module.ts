import { type DynamicModule, Module } from '@nestjs/common';
import type { PageFacts } from '@workspace-graph/contracts';
import { EDGE_PARTS, type EdgeParts } from '../edge/edge-parts.js';
import { FactsOfPage } from './facts-of-page.js';
import { LinksController } from './links.controller.js';
import { OidcController } from './oidc/oidc.controller.js';
import { OidcSignIn } from './oidc/oidc-sign-in.js';
import { PageController } from './page.controller.js';
import { PageFiles } from './page-files.js';
import { PageTokens, StoredPageTokens } from './page-tokens.js';
import { SignInController } from './sign-in.controller.js';
import { SignInLinks } from './sign-in-links.js';

export interface WebModuleOptions {
  /** Folder of the built page. */
  readonly folder: string;
  /** Links sign browsers in where this process alone answers at its address, as in all but a central one. */
  readonly workspace: PageFacts['workspace'];
  /** Where the tokens of browsers are kept. Default: at the identity service. */
  readonly tokens?: PageTokens;
}

/** The page for browsers at `/app/`, and how they sign in. Needs the `EdgeModule`. */
@Module({})
export class WebModule {
  static forRoot({ folder, workspace, tokens }: WebModuleOptions): DynamicModule {
    const makesLinks = workspace !== 'central';
    return {
      module: WebModule,
      controllers: [SignInController, OidcController, ...(makesLinks ? [LinksController] : []), PageController],
      providers: [
        { provide: PageFiles, useFactory: () => new PageFiles(folder) },
        SignInLinks,
        { provide: PageTokens, ...(tokens ? { useValue: tokens } : { useClass: StoredPageTokens }) },
        {
          provide: OidcSignIn,
          useFactory: ({ settings }: EdgeParts) => new OidcSignIn(settings),
          inject: [EDGE_PARTS],
        },
        {
          provide: FactsOfPage,
          useFactory: (oidc: OidcSignIn) => new FactsOfPage(workspace, oidc),
          inject: [OidcSignIn],
        },
      ],
    };
  }
}

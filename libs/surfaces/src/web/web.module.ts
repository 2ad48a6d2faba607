import { type DynamicModule, Module } from '@nestjs/common';
import { EDGE_PARTS, type EdgeParts } from '../edge/edge-parts.js';
import { FactsOfPage } from './facts-of-page.js';
import { LinksController } from './links.controller.js';
import { OidcController } from './oidc/oidc.controller.js';
import { OidcSignIn } from './oidc/oidc-sign-in.js';
import { PageController } from './page.controller.js';
import { PageFiles } from './page-files.js';
import { PageTokens } from './page-tokens.js';
import { SignInController } from './sign-in.controller.js';
import { SignInLinks } from './sign-in-links.js';

export interface WebModuleOptions {
  /** Folder of the built page. */
  readonly folder: string;
  /** Whether links sign browsers in: where this process alone answers at its address. Default false. */
  readonly makesLinks?: boolean;
}

/** The page for browsers at `/app/`, and how they sign in. Needs the `EdgeModule`. */
@Module({})
export class WebModule {
  static forRoot({ folder, makesLinks = false }: WebModuleOptions): DynamicModule {
    return {
      module: WebModule,
      controllers: [SignInController, OidcController, ...(makesLinks ? [LinksController] : []), PageController],
      providers: [
        { provide: PageFiles, useFactory: () => new PageFiles(folder) },
        SignInLinks,
        PageTokens,
        {
          provide: OidcSignIn,
          useFactory: ({ settings }: EdgeParts) => new OidcSignIn(settings),
          inject: [EDGE_PARTS],
        },
        {
          provide: FactsOfPage,
          useFactory: (oidc: OidcSignIn) => new FactsOfPage(makesLinks ? 'local' : 'central', oidc),
          inject: [OidcSignIn],
        },
      ],
    };
  }
}

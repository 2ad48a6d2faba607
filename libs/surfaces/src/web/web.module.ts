import { type DynamicModule, Module } from '@nestjs/common';
import { LinksController } from './links.controller.js';
import { PageController } from './page.controller.js';
import { PageFiles } from './page-files.js';
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
      controllers: [SignInController, ...(makesLinks ? [LinksController] : []), PageController],
      providers: [SignInLinks, { provide: PageFiles, useFactory: () => new PageFiles(folder) }],
    };
  }
}

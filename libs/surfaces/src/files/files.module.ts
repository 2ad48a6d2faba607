import { type DynamicModule, type InjectionToken, Module } from '@nestjs/common';
import type { FileContent } from '@workspace-graph/contracts';
import { OperationCalls } from '../rest/operation-calls.js';
import { FileController } from './file.controller.js';
import { FILE_CONTENT } from './file-content.token.js';
import { UploadController } from './upload.controller.js';

/** Options of the routes of bytes. */
export interface FilesModuleOptions {
  /** What reads and writes the bytes: a value, or a provider that a module of `imports` exports. */
  readonly content: { readonly useValue: FileContent } | { readonly useExisting: InjectionToken };
  /** Modules that export the provider of `content`. Default: none. */
  readonly imports?: NonNullable<DynamicModule['imports']>;
}

/** The routes of bytes. A process that holds no files leaves this module out and has no such routes. Needs the `EdgeModule`. */
@Module({})
export class FilesModule {
  static forRoot({ content, imports = [] }: FilesModuleOptions): DynamicModule {
    return {
      module: FilesModule,
      imports,
      controllers: [FileController, UploadController],
      providers: [{ provide: FILE_CONTENT, ...content }, OperationCalls],
    };
  }
}

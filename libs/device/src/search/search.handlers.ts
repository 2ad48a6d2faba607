import { Controller, Inject } from '@nestjs/common';
import { type OutputOf, type ParsedInputOf, searchFiles } from '@workspace-graph/contracts';
import { Handles, type OperationContext } from '@workspace-graph/platform';
import { FileSearch } from './file-search.js';

/** Searching in the files of this device. */
@Controller()
export class SearchHandlers {
  constructor(@Inject(FileSearch) private readonly files: FileSearch) {}

  @Handles(searchFiles)
  searchFiles(
    input: ParsedInputOf<typeof searchFiles>,
    context: OperationContext,
  ): Promise<OutputOf<typeof searchFiles>> {
    return this.files.search(input, context);
  }
}

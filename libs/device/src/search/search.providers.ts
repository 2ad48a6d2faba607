import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { Provider } from '@nestjs/common';
import { DEVICE_PARTS, type DeviceParts } from '../device-parts.js';
import { FileIndexer } from './file-indexer.js';
import { FileSearch } from './file-search.js';
import { IndexThread } from './index/index-thread.js';
import { TextExtractors } from './text/text-extractors.js';

/** Searching and what it needs, for the providers of the device. */
export const SEARCH_PROVIDERS: Provider[] = [
  {
    provide: IndexThread,
    inject: [DEVICE_PARTS],
    useFactory: ({ settings }: DeviceParts) => new IndexThread(join(settings.own, 'search.db')),
  },
  {
    provide: TextExtractors,
    useFactory: () => new TextExtractors({ threads: availableParallelism() > 2 ? 2 : 1 }),
  },
  FileIndexer,
  FileSearch,
];

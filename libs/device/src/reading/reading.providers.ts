import { FileContents } from '../content/file-contents.js';
import { Projections } from '../projections/projections.js';
import { ContentHashes } from './content-hashes.js';
import { ReadableFiles } from './readable-files.js';

/** Everything that reads files and shows them. */
export const READING_PROVIDERS = [ContentHashes, ReadableFiles, Projections, FileContents];

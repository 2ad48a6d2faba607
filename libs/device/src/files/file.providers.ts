import type { Provider } from '@nestjs/common';
import { AsideFiles } from '../trash/aside-files.js';
import { Trash } from '../trash/trash.js';
import { FileChanges } from './file-changes.js';
import { FileMover } from './file-mover.js';
import { FolderRename } from './folder-rename.js';
import { IntentRepair } from './intent-repair.js';
import { Intents } from './intents.js';
import { LeftOvers } from './left-overs.js';
import { NodeFolders } from './node-folders.js';

/** Changes of files, and the trash. */
export const FILE_PROVIDERS: Provider[] = [
  NodeFolders,
  Trash,
  AsideFiles,
  FileChanges,
  Intents,
  FileMover,
  FolderRename,
  IntentRepair,
  LeftOvers,
];

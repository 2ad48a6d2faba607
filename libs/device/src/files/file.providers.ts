import type { Provider } from '@nestjs/common';
import { AsideFiles } from '../trash/aside-files.js';
import { TrashHandlers } from '../trash/trash.handlers.js';
import { Trash } from '../trash/trash.js';
import { AdoptHandlers } from './adopt.handlers.js';
import { DeleteHandlers } from './delete.handlers.js';
import { FileChanges } from './file-changes.js';
import { FileMover } from './file-mover.js';
import { FolderRename } from './folder-rename.js';
import { IntentRepair } from './intent-repair.js';
import { Intents } from './intents.js';
import { LeftOvers } from './left-overs.js';
import { MoveHandlers } from './move.handlers.js';
import { NodeFolders } from './node-folders.js';
import { RenameHandlers } from './rename.handlers.js';
import { WriteHandlers } from './write.handlers.js';

/** Changes of files, and the trash. */
export const FILE_PROVIDERS: Provider[] = [
  NodeFolders,
  Trash,
  AsideFiles,
  TrashHandlers,
  FileChanges,
  Intents,
  FileMover,
  FolderRename,
  IntentRepair,
  LeftOvers,
  WriteHandlers,
  MoveHandlers,
  RenameHandlers,
  DeleteHandlers,
  AdoptHandlers,
];

import { AgentConfigs } from './client-config/agent-configs.js';
import { FolderTexts } from './client-config/folder-texts.js';
import { MirrorConfigs } from './client-config/mirror-configs.js';
import { ScopeFiles } from './client-config/scope-files.js';
import { ScopeFollower } from './client-config/scope-follower.js';
import { FolderOpener, SystemFolderOpener } from './folder-opener.js';
import { FolderWithdrawal } from './folder-withdrawal.js';
import { HandoffFiles } from './handoff-files.js';
import { MirrorFolders } from './mirror-folders.js';
import { Mirrors } from './mirrors.js';
import { MoveMirror } from './move-mirror.js';
import { PlaceKeeper } from './place-keeper.js';

export const MIRROR_PROVIDERS = [
  Mirrors,
  MirrorFolders,
  FolderTexts,
  ScopeFiles,
  ScopeFollower,
  AgentConfigs,
  HandoffFiles,
  MirrorConfigs,
  FolderWithdrawal,
  PlaceKeeper,
  MoveMirror,
  { provide: FolderOpener, useFactory: () => new SystemFolderOpener() },
];

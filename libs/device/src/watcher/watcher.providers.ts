import { Scanner } from '../scan/scanner.js';
import { SyncNotices } from './sync-notices.js';
import { Watcher } from './watcher.js';

/** Scanner and watcher with what tells of them. */
export const WATCHER_PROVIDERS = [Scanner, Watcher, SyncNotices];

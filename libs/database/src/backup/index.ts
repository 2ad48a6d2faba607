export { type BackupOptions, type BackupProgress, type BackupSummary, backupDatabase } from './backup.js';
export { BackupError, type BackupErrorCode, lossOf } from './backup-error.js';
export {
  type CheckedBackup,
  checkBackup,
  type RestoreOptions,
  type RestoreSummary,
  restoreDatabase,
} from './restore.js';

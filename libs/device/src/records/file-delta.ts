import type { FileRecord } from '@workspace-graph/contracts';
import type { SeenContent } from '@workspace-graph/disk';
import type { FileState } from '../store/device-store.js';

/**
 * What is true of a file from now on. `file` is what the device knew before. With `expectedVersion` it is refused with
 * CONFLICT when the record has another version.
 */
export type FileDelta =
  /** `fileId` is the one that a file had which comes back; it gets it again unless that is in use. */
  | { readonly kind: 'register'; readonly path: string; readonly seen: SeenContent; readonly fileId?: string }
  | { readonly kind: 'update'; readonly file: FileState; readonly seen: SeenContent; readonly expectedVersion?: number }
  /** `toNodeId` moves it to another node, whose folder is on this device too. */
  | {
      readonly kind: 'move';
      readonly file: FileState;
      readonly path: string;
      readonly seen: SeenContent;
      readonly toNodeId?: string;
      readonly expectedVersion?: number;
    }
  /** With `unlessPushed`, a record of which a remote has the content stays; this device knows no more of the file. */
  | {
      readonly kind: 'remove';
      readonly file: FileState;
      readonly tombstone: boolean;
      readonly unlessPushed?: boolean;
      readonly expectedVersion?: number;
    }
  /** The content is the known one; only the stamp or the inode is another. Stays on this device. */
  | { readonly kind: 'touch'; readonly file: FileState; readonly seen: SeenContent }
  /**
   * The content of its remote lies here now, whatever the record tells of other devices. `replaces` is what the device knew
   * at its path. Stays on this device.
   */
  | {
      readonly kind: 'pulled';
      readonly record: FileRecord;
      readonly replaces: FileState | null;
      readonly seen: SeenContent;
    }
  /** A pushed file is absent: its record stays. Stays on this device. */
  | { readonly kind: 'gone'; readonly file: FileState };

import {
  applyFileChanges,
  type FileChange,
  type FileRecord,
  findFiles,
  findPlaces,
  listNodeRecords,
  type Operation,
  type ParsedInputOf,
} from '@workspace-graph/contracts';
import { newId } from '@workspace-graph/platform';

/** The file service of one node, as quick as records can be kept: what is measured is the device. */
export class QuickRecords {
  static readonly operations: readonly Operation[] = [applyFileChanges, findPlaces, findFiles, listNodeRecords];
  readonly nodeId = newId();
  private readonly records = new Map<string, FileRecord>();
  private readonly byPath = new Map<string, FileRecord>();

  readonly dispatch = async (operation: Operation, input: unknown): Promise<unknown> => {
    const parsed = operation.input.parse(input);
    if (operation.name === applyFileChanges.name) {
      const { changes } = parsed as ParsedInputOf<typeof applyFileChanges>;
      return { results: changes.map((change) => ({ file: this.change(change) })) };
    }
    if (operation.name === listNodeRecords.name) {
      const { after = '', limit } = parsed as ParsedInputOf<typeof listNodeRecords>;
      const files = [...this.records.values()].filter(({ id }) => id > after);
      return { files: files.toSorted((a, b) => (a.id < b.id ? -1 : 1)).slice(0, limit) };
    }
    if (operation.name === findFiles.name) return { files: [] };
    const place = { node_id: this.nodeId, type: 'project', name: 'node', sync_key: 'node', level: 'write' };
    return { places: [{ ...place, organization_sync_key: 'acme' }] };
  };

  private change(change: FileChange): FileRecord | null {
    const before = change.kind === 'register' ? this.byPath.get(change.path) : this.records.get(change.file_id);
    if (change.kind === 'remove') {
      if (before) this.records.delete(before.id);
      return null;
    }
    const now = new Date().toISOString();
    const fresh = { id: newId(), node_id: this.nodeId, remote_name: null, current_remote_hash: null };
    const { kind, ...fields } = { file_id: undefined, ...change };
    const { file_id, ...content } = fields;
    const record = {
      ...(before ?? { ...fresh, last_pushed_at: null, is_native_format: false, created_at: now }),
      ...content,
      version: (before?.version ?? 0) + 1,
      updated_at: now,
    } as FileRecord;
    this.records.set(record.id, record);
    this.byPath.set(record.path, record);
    return record;
  }
}

import { Controller } from '@nestjs/common';
import {
  lookAtRemote,
  type OutputOf,
  type ParsedInputOf,
  type RemoteLook,
  ServiceError,
  surveyRemote,
} from '@workspace-graph/contracts';
import { Database } from '@workspace-graph/database';
import { Handles, type OperationContext } from '@workspace-graph/platform';
import { onObject, onRemote } from '../remotes/refusals.js';
import type { HeldRemote } from '../remotes/remote-pool.js';
import { RemotePool } from '../remotes/remote-pool.js';
import { seenBy } from '../shared/caller.js';
import { FILES_BY_ID, type FoundFile } from './remote-file.statements.js';
import { objectOf, storedHashOf } from './remote-files.js';
import { RemoteSurveys } from './remote-surveys.js';

type Placed = FoundFile & Record<string, unknown>;

/** Objects of one remote that are looked at at once. */
const AT_ONCE = 8;

/** What lies on the remotes at present, for devices that compare it with what they have. */
@Controller()
export class LookHandlers {
  constructor(
    private readonly database: Database,
    private readonly pool: RemotePool,
    private readonly surveys: RemoteSurveys,
  ) {}

  @Handles(surveyRemote)
  async survey(
    { node_id }: ParsedInputOf<typeof surveyRemote>,
    { caller, signal }: OperationContext,
  ): Promise<OutputOf<typeof surveyRemote>> {
    const { records: _records, ...told } = await this.surveys.of(node_id, caller, signal);
    return told;
  }

  @Handles(lookAtRemote)
  async look(
    { file_ids }: ParsedInputOf<typeof lookAtRemote>,
    { caller, signal }: OperationContext,
  ): Promise<OutputOf<typeof lookAtRemote>> {
    const values = [...seenBy(caller), file_ids, caller.session_id ?? null];
    const found = await this.database.rows<Placed>(FILES_BY_ID, values);
    const stored = found.filter((file) => objectOf(file) !== null);
    const byRemote = Map.groupBy(stored, (file) => file.file.remote_name ?? '');
    const looks = await Promise.all([...byRemote].map(([name, files]) => this.lookAt(name, files, signal)));
    return { looks: looks.flat() };
  }

  /** A remote that cannot be used says nothing of any of its files. */
  private async lookAt(name: string, files: readonly FoundFile[], signal: AbortSignal): Promise<RemoteLook[]> {
    try {
      return await onRemote(name, () => this.pool.use(name, (held) => lookAtAll(held, files, signal)));
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      return files.map(({ file }) => ({ file_id: file.id, state: 'error', sha256: null, message: error.message }));
    }
  }
}

async function lookAtAll(held: HeldRemote, files: readonly FoundFile[], signal: AbortSignal): Promise<RemoteLook[]> {
  const looks: RemoteLook[] = [];
  const queue = files.values();
  const work = async (): Promise<void> => {
    for (const file of queue)
      looks.push(await onObject(held.name, file.file.path, () => lookAtOne(held, file, signal)));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  // An emptied or swapped root has nothing of what it should have: that is no absence.
  if (looks.some(({ state }) => state === 'missing')) await held.confirmRoot();
  return looks;
}

async function lookAtOne({ remote }: HeldRemote, found: FoundFile, signal: AbortSignal): Promise<RemoteLook> {
  const file_id = found.file.id;
  const entry = await remote.stat(objectOf(found)?.path ?? '', { signal });
  if (entry === null) return { file_id, state: 'missing', sha256: null };
  if (entry.kind !== 'file') return { file_id, state: 'there', sha256: null };
  const isSeen = entry.revision === found.remote_revision;
  return { file_id, state: 'there', sha256: isSeen ? storedHashOf(found) : (entry.hashes.sha256 ?? null) };
}

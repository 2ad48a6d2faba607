import {
  applyFileChanges,
  type Caller,
  findFiles,
  findPlaces,
  findRemovedFiles,
  getNode,
  getOverview,
  listFileIntents,
  listNodeRecords,
  noteFileIntents,
  type Operation,
  queryFiles,
  RawJson,
  ServiceError,
  settleFileIntents,
} from '@workspace-graph/contracts';
import { newId, OperationRegistry } from '@workspace-graph/platform';
import { FileModule } from '@workspace-graph/service-file';
import { GraphModule } from '@workspace-graph/service-graph';
import { IdentityModule } from '@workspace-graph/service-identity';
import { type ServiceHarness, startServices } from '@workspace-graph/testing';
import { baselineSql, DEVICES, FILES, NODES, STUCK, USERS } from './baseline.js';
import { noSecrets, plantSecrets, type Secrets, stirSecrets } from './secrets.js';
import type { Surface } from './surface.js';
import { Transcript } from './transcript.js';

const ADA: Caller = { user_id: USERS.ada, scope: 'manage', credential_id: null, via: 'rest' };
const byDevice = { credential_id: null, via: 'sync' } as const;
const CALLERS: Readonly<Record<string, Caller>> = {
  reader: { ...byDevice, user_id: USERS.rita, scope: 'read', device_id: DEVICES.rita },
  writer: {
    ...byDevice,
    user_id: USERS.wil,
    scope: 'write',
    device_id: DEVICES.wil,
  },
};

describe('to those who may not see them, files of hidden nodes', () => {
  it('change nothing in any answer about files, nodes and the overview [access.hidden.nowhere] [access.hidden.two-worlds] [access.hidden.indistinguishable-from-absent] [access.device.own-person] [errors.file-not-found]', async () => {
    const [without, with_] = [await tell(false), await tell(true)];
    expect(without.length).toBeGreaterThan(80);
    expect(without.join('\n')).toContain('wip/plan.md');
    for (const [index, line] of without.entries()) expect(with_[index]).toBe(line);
    expect(with_).toHaveLength(without.length);
  });
});

async function tell(withSecrets: boolean): Promise<readonly string[]> {
  await using harness = await startServices([GraphModule, IdentityModule, FileModule]);
  const surface: Omit<Surface, 'tell'> = {
    sql: async (text) => void (await harness.database.pool.query(text)),
    manage: (operation, input) => harness.call(operation, input, ADA),
  };
  const whole: Surface = { ...surface, tell: () => Promise.reject(new Error('Nobody asks through this one')) };
  await surface.sql(baselineSql(withSecrets));
  const secrets = withSecrets ? await plantSecrets(whole) : noSecrets();
  const transcript = new Transcript(secrets);
  for (const [role, caller] of Object.entries(CALLERS)) await ask(harness, transcript, { role, caller, secrets });
  if (withSecrets) await stirSecrets(whole, secrets);
  for (const [role, caller] of Object.entries(CALLERS)) await ask(harness, transcript, { role, caller, secrets });
  return transcript.lines;
}

interface Asking {
  readonly role: string;
  readonly caller: Caller;
  readonly secrets: Secrets;
}

/** Everything that can be asked about files, of what is seen and of what is not. */
async function ask(harness: ServiceHarness, transcript: Transcript, { role, caller, secrets }: Asking): Promise<void> {
  const { dispatch } = harness.module.get(OperationRegistry);
  const told = async (operation: Operation, input: unknown): Promise<unknown> => {
    const envelope = { callId: newId(), requestId: 'request', caller };
    let text: string;
    try {
      const reply = await dispatch(operation, input, { envelope, signal: new AbortController().signal });
      text = reply instanceof RawJson ? reply.text : JSON.stringify(reply);
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      text = JSON.stringify(error.toBody('request'));
    }
    transcript.add(`${role}: ${operation.name}`, text);
    return JSON.parse(text);
  };
  const nodeIds = [NODES.beta, NODES.gamma, secrets.area, secrets.below, secrets.purged];
  const fileIds = [...Object.values(FILES), secrets.file];
  await told(findPlaces, { node_ids: nodeIds });
  await told(findFiles, { ids: fileIds, paths: nodeIds.map((node_id) => ({ node_id, path: 'wip/plan.md' })) });
  await told(listFileIntents, { node_ids: nodeIds });
  await told(getOverview, {});
  for (const more of [{}, { status: 'wip' }, { status: 'output' }]) {
    await told(queryFiles, more);
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = await told(queryFiles, { ...more, limit: 1, ...(cursor === undefined ? {} : { cursor }) });
      cursor = (page as { next_cursor?: string | null }).next_cursor ?? null;
    }
  }
  for (const node_id of nodeIds) {
    await told(getNode, { node_id });
    await told(queryFiles, { node_id });
    await told(listNodeRecords, { node_id });
    await told(findRemovedFiles, { node_id, ids: fileIds });
  }
  await change(told, secrets);
}

/** What changes something, or tries to. */
async function change(
  told: (operation: Operation, input: unknown) => Promise<unknown>,
  secrets: Secrets,
): Promise<void> {
  const content = {
    sha256: '0a'.repeat(32),
    size_bytes: 1,
    mime_type: 'text/plain',
    modified_at: '2024-03-01T00:00:00.000Z',
  };
  const apply = (node_id: string, changes: readonly object[]): Promise<unknown> =>
    told(applyFileChanges, { node_id, action: 'spec', changes, strict: false });
  const move = { kind: 'move', file_id: FILES.report, path: 'wip/plan.md' };
  await apply(secrets.area, [{ kind: 'register', path: 'wip/mine.md', ...content }]);
  await apply(NODES.beta, [
    { ...move, node_id: secrets.area },
    { ...move, node_id: secrets.purged },
    { ...move, file_id: secrets.file },
    { kind: 'update', file_id: secrets.file, ...content },
    { kind: 'remove', file_id: secrets.file, tombstone: true },
  ]);
  const intent = { kind: 'move', to_node_id: null, to_path: 'wip/x' };
  for (const more of [{ file_id: secrets.file }, { file_id: FILES.plan, to_node_id: secrets.area }])
    await told(noteFileIntents, { intents: [{ ...intent, id: newId(), ...more }] });
  await told(settleFileIntents, {
    outcomes: [secrets.operation, STUCK].map((id) => ({ id, error: 'The disk was full again.' })),
  });
}

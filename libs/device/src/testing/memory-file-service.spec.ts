import { randomUUID } from 'node:crypto';
import { type Caller, type Operation, ServiceError } from '@workspace-graph/contracts';
import { newId } from '@workspace-graph/platform';
import { fileServiceConformance } from '@workspace-graph/testing';
import { MemoryFileService } from './memory-file-service.js';

const device = (): Caller & { readonly device_id: string } => ({
  user_id: newId(),
  scope: 'manage',
  credential_id: null,
  via: 'sync',
  device_id: newId(),
});
const DESK = device();

fileServiceConformance('the records in memory', async () => {
  const records = new MemoryFileService();
  const dispatch = (operation: Operation, input: unknown, caller: Caller | null): Promise<unknown> =>
    records.dispatch(operation, input, { envelope: { caller: { device_id: DESK.device_id, ...(caller ?? DESK) } } });
  const idsOf = (callers: readonly Caller[]): Set<string> => new Set(callers.map(({ user_id }) => user_id));
  return {
    user: async () => ({ user_id: newId(), scope: 'write', credential_id: randomUUID(), via: 'rest' }),
    device: async () => device(),
    node: async ({ name, readers = [], writers = [], organizationReaders }) => {
      const isOpen = readers.length + writers.length === 0;
      return records.node({
        name,
        ...(organizationReaders ? { organizationSeenBy: idsOf(organizationReaders) } : {}),
        ...(isOpen ? {} : { seenBy: idsOf([...readers, ...writers]), writtenBy: idsOf(writers) }),
      });
    },
    session: async (caller, nodeIds) => {
      const session_id = newId();
      records.sessions.set(session_id, new Set(nodeIds));
      return { ...caller, via: 'mcp', session_id };
    },
    call: async (operation, input, caller) => operation.output.parse(await dispatch(operation, input, caller)) as never,
    refusal: async (operation, input, code, caller) => {
      const error = await dispatch(operation, input, caller).then(
        () => new Error(`${operation.name} was accepted; ${code} was expected`),
        (reason: unknown) => reason,
      );
      if (!(error instanceof ServiceError) || error.code !== code) throw error;
      return error;
    },
    tombstones: async (nodeId) =>
      records.tombstones
        .filter((each) => each.node_id === nodeId)
        .map(({ file_id, path }) => ({ file_id, path }))
        .toSorted((a, b) => a.path.localeCompare(b.path)),
    [Symbol.asyncDispose]: async () => undefined,
  };
});

import { randomUUID } from 'node:crypto';
import type { Bus } from '@workspace-graph/bus';
import {
  adoptFiles,
  deleteFile,
  type Operation,
  type OutputOf,
  RawJson,
  searchFiles,
  snapshotDocument,
} from '@workspace-graph/contracts';
import type { CentralFiles } from '@workspace-graph/device';
import type { CentralContent } from '@workspace-graph/surfaces';

/** The contents of files at the centre: bytes over the routes of its gateways, everything else over the link. */
export function centralFiles(content: CentralContent, link: Pick<Bus, 'call'>): CentralFiles {
  return {
    open: (...asked) => content.open(...asked),
    push: (...given) => content.push(...given),
    pushAll: (...given) => content.pushAll(...given),
    pullAll: (...asked) => content.pullAll(...asked),
    remove: async (file_id, expectedVersion, envelope) => {
      const condition = expectedVersion === undefined ? {} : { expected_version: expectedVersion };
      const input = { file_id, confirmed: true, ...condition };
      await link.call(deleteFile, input, { ...envelope, callId: randomUUID() });
    },
    adopt: async (input, envelope) =>
      parsed<typeof adoptFiles>(await link.call(adoptFiles, input, { ...envelope, callId: randomUUID() })),
    search: async (input, envelope, signal) =>
      parsed<typeof searchFiles>(await link.call(searchFiles, input, envelope, { signal })),
    // Repeated by its caller, it is repeated there.
    snapshot: async (input, envelope, signal) =>
      parsed<typeof snapshotDocument>(await link.call(snapshotDocument, input, envelope, { signal })),
  };
}

function parsed<Op extends Operation>(reply: OutputOf<Op> | RawJson): OutputOf<Op> {
  return reply instanceof RawJson ? (reply.parse() as OutputOf<Op>) : reply;
}

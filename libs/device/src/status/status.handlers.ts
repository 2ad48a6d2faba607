import { Controller, Inject } from '@nestjs/common';
import { type Envelope, fileStatus, type OutputOf, type ParsedInputOf } from '@workspace-graph/contracts';
import { StatusBuckets, statusFilter } from '@workspace-graph/domain';
import { Handles, type OperationContext } from '@workspace-graph/platform';
import { DEVICE_PARTS, type DeviceParts } from '../device-parts.js';
import { Mirrors, type PlacedMirror } from '../mirrors/mirrors.js';
import { callerOf, noMirror } from '../records/file-service.js';
import { CentralFacts } from './central-facts.js';
import { reportMirror } from './mirror-status.js';

type Input = ParsedInputOf<typeof fileStatus>;

/**
 * Tells the state of files, and changes nothing. Looks at registry and folders, and in a central workspace at the records;
 * at the remotes only for one node, and when files are to be discovered.
 */
@Controller()
export class StatusHandlers {
  constructor(
    @Inject(DEVICE_PARTS) private readonly parts: DeviceParts,
    @Inject(Mirrors) private readonly mirrors: Mirrors,
  ) {}

  @Handles(fileStatus)
  async status(input: Input, { envelope, signal }: OperationContext): Promise<OutputOf<typeof fileStatus>> {
    const buckets = new StatusBuckets(statusFilter(input));
    const home = callerOf(envelope).home_node_id ?? null;
    const placed = await this.placed(input.node_id, envelope);
    const places = placed.map(({ place }) => place);
    const folders = await this.parts.localPaths.foldersOf(places, envelope);
    for (const { row } of placed) {
      const state = await this.mirrors.stateOf(row);
      // The folder of another node is not the place in which an agent with a home node works.
      const folder = home === null || home === row.nodeId ? folders(row.nodeId) : null;
      const facts = await this.factsOf(row.nodeId, input, { envelope, signal });
      const { include_discovery: discovers, remote_name: remoteName = null } = input;
      const mirror = { row, state, folder, facts, discovers, remoteName };
      await reportMirror(mirror, { store: this.parts.store, buckets, signal });
    }
    return buckets.answer();
  }

  private async factsOf(
    nodeId: string,
    { node_id, include_discovery }: Input,
    { envelope, signal }: { readonly envelope: Envelope; readonly signal: AbortSignal },
  ): Promise<CentralFacts | null> {
    const { centre, service } = this.parts;
    if (!centre) return null;
    const surveys = node_id !== undefined && include_discovery;
    return CentralFacts.of(service, { nodeId, surveys, signal }, envelope);
  }

  /** The mirrors that there are for the caller; of one node when it is named. */
  private async placed(nodeId: string | undefined, asker: OperationContext['envelope']): Promise<PlacedMirror[]> {
    if (nodeId === undefined) return this.mirrors.placed(asker);
    const place = await this.parts.service.place(nodeId, asker);
    const row = this.mirrors.of(nodeId);
    // Whoever has no folder of it hears of it at the centre.
    if (!row && this.parts.centre) throw noMirror(nodeId);
    return row ? [{ row, place }] : [];
  }
}

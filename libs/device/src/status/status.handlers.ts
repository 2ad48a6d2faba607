import { Controller, Inject } from '@nestjs/common';
import { fileStatus, type OutputOf, type ParsedInputOf, validationFailed } from '@workspace-graph/contracts';
import { parseSubpath } from '@workspace-graph/domain';
import { Handles, type OperationContext } from '@workspace-graph/platform';
import { DEVICE_PARTS, type DeviceParts } from '../device-parts.js';
import { Mirrors, type PlacedMirror } from '../mirrors/mirrors.js';
import { callerOf } from '../records/file-service.js';
import { reportMirror } from './mirror-status.js';
import { StatusBuckets, type StatusFilter } from './status-buckets.js';

type Input = ParsedInputOf<typeof fileStatus>;

/** Tells the state of files. Looks at registry and folders, asks nobody but for what the caller may see, changes nothing. */
@Controller()
export class StatusHandlers {
  constructor(
    @Inject(DEVICE_PARTS) private readonly parts: DeviceParts,
    @Inject(Mirrors) private readonly mirrors: Mirrors,
  ) {}

  @Handles(fileStatus)
  async status(input: Input, { envelope, signal }: OperationContext): Promise<OutputOf<typeof fileStatus>> {
    const buckets = new StatusBuckets(filterOf(input));
    const home = callerOf(envelope).home_node_id ?? null;
    const placed = await this.placed(input.node_id, envelope);
    const places = placed.map(({ place }) => place);
    const folders = await this.parts.localPaths.foldersOf(places, envelope);
    for (const { row } of placed) {
      const state = await this.mirrors.stateOf(row);
      // The folder of another node is not the place in which an agent with a home node works.
      const folder = home === null || home === row.nodeId ? folders(row.nodeId) : null;
      const mirror = { row, state, folder, discovers: input.include_discovery };
      await reportMirror(mirror, { store: this.parts.store, buckets, signal });
    }
    return buckets.answer();
  }

  /** Mirrors of nodes that the caller sees and whose session holds them, by name; of one node when it is named. */
  private async placed(nodeId: string | undefined, asker: OperationContext['envelope']): Promise<PlacedMirror[]> {
    if (nodeId === undefined) return this.held(await this.mirrors.placed(asker), asker);
    const place = await this.parts.service.place(nodeId, asker);
    const row = this.mirrors.of(nodeId);
    return row ? [{ row, place }] : [];
  }

  private async held(placed: PlacedMirror[], asker: OperationContext['envelope']): Promise<PlacedMirror[]> {
    if (!asker.caller?.session_id) return placed;
    const ids = placed.map(({ row }) => row.nodeId);
    const held = await this.parts.service.places(ids, asker, true);
    return placed.filter(({ row }) => held.has(row.nodeId));
  }
}

function filterOf({ classes, path_prefix, remote_name, limit, offset }: Input): StatusFilter {
  return {
    // No file of a local workspace lies on a remote.
    classes: remote_name === undefined ? (classes ?? null) : [],
    pathPrefix: path_prefix === undefined ? null : prefixOf(path_prefix),
    limit,
    offset,
  };
}

/** A slash at the end says no more than the folder itself. */
function prefixOf(text: string): string {
  const parsed = parseSubpath(text.replace(/\/$/, ''));
  if ('problem' in parsed) throw validationFailed([{ path: 'path_prefix', message: parsed.problem }]);
  return parsed.value;
}

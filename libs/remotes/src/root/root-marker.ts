import { buffer } from 'node:stream/consumers';
import { type Remote, RemoteFailure } from '../port/index.js';

/** Lies at the root of every remote; files whose names begin with a dot are never synchronised. */
export const ROOT_MARKER = '.workspace-graph.json';
const MAX_BYTES = 4_096;
const ID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/**
 * The mark at the root of a remote: null for none, which an empty storage and a wrong one have alike.
 * @throws RemoteFailure `exists` for something else under its name
 */
export async function readRootMarker(remote: Remote): Promise<string | null> {
  const entry = await remote.stat(ROOT_MARKER);
  if (entry === null) return null;
  if (entry.kind !== 'file' || entry.sizeBytes > MAX_BYTES) throw notOurs();
  await using content = await remote.read(ROOT_MARKER);
  return markerIn((await buffer(content.bytes)).toString());
}

/** Marks a root that has no mark. @throws RemoteFailure `exists` when somebody was first */
export async function writeRootMarker(remote: Remote, marker: string): Promise<void> {
  const text = `${JSON.stringify({ workspace_graph_root: marker }, null, 2)}\n`;
  await remote.write(ROOT_MARKER, bytesOf(text), { expected: null });
}

function markerIn(text: string): string {
  try {
    const marker = (JSON.parse(text) as Readonly<Record<string, unknown>> | null)?.['workspace_graph_root'];
    if (typeof marker === 'string' && ID.test(marker)) return marker;
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw notOurs();
}

function notOurs(): RemoteFailure {
  return new RemoteFailure('exists', { path: ROOT_MARKER });
}

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

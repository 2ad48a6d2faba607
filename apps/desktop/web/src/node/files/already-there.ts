import { client } from '../../api/client';
import { contentUrl, type FilePlace } from '../../reader/addresses';

/** A larger file is not read whole, as it must be to be compared. */
const MOST_BYTES = 512 * 1024 * 1024;

/** Whether a file of a node has the content of one that was to be put there; false where that cannot be found out. */
export async function isAlreadyThere(place: FilePlace, file: File): Promise<boolean> {
  // Browsers calculate nothing where the page is not served over a secure connection.
  if (!isSecureContext || file.size > MOST_BYTES) return false;
  try {
    const { headers } = await client.fetch(contentUrl(place, 'raw'), { method: 'HEAD' });
    const [, theirs] = /"([0-9a-f]{64})"/.exec(headers.get('etag') ?? '') ?? [];
    return theirs !== undefined && theirs === (await sha256Of(file));
  } catch {
    // It has gone or cannot be read: the refusal stands.
    return false;
  }
}

async function sha256Of(file: File): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', await file.arrayBuffer());
  return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

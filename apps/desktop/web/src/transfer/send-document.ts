import { Unreachable } from '@workspace-graph/client';
import type { OutputOf, runImport } from '@workspace-graph/contracts';
import { client } from '../api/client';

export type Report = OutputOf<typeof runImport>;

/** The document cannot be read any more: it was changed, moved or removed since it was chosen. */
export class DocumentGone extends Error {}

interface SendOptions {
  readonly dryRun?: boolean;
  /** Applies what gives somebody access too. */
  readonly confirmed?: boolean;
  /** Idempotency key: the same import with the same key is carried out once. */
  readonly key?: string;
  readonly signal?: AbortSignal;
  /** How much has gone, from 0 to 1. */
  readonly onSent?: (part: number) => void;
}

/**
 * Sends a document from where it lies, without reading it into memory. An abort leaves nothing behind.
 * @throws Refusal, Unreachable, UnexpectedAnswer, DocumentGone; the signal's reason
 */
export async function sendDocument(document: Blob, options: SendOptions): Promise<Report> {
  options.signal?.throwIfAborted();
  try {
    const answer = await client.accepted(post(document, options), options.signal);
    return (await answer.json()) as Report;
  } catch (error) {
    if (error instanceof Unreachable && !(await canBeRead(document))) throw new DocumentGone('', { cause: error });
    throw error;
  }
}

/** By XMLHttpRequest, which alone tells how much of a body has gone. */
function post(document: Blob, { dryRun = false, confirmed = false, key, signal, onSent }: SendOptions) {
  const request = new XMLHttpRequest();
  request.open('POST', `/import?${new URLSearchParams({ dry_run: String(dryRun), confirmed: String(confirmed) })}`);
  request.setRequestHeader('content-type', 'application/json');
  if (key !== undefined) request.setRequestHeader('idempotency-key', key);
  request.upload.onprogress = ({ loaded, total }) => onSent?.(total > 0 ? loaded / total : 0);
  request.upload.onload = () => onSent?.(1);
  signal?.addEventListener('abort', () => request.abort());
  return new Promise<Response>((resolve, reject) => {
    request.onload = () => resolve(new Response(request.responseText, { status: request.status }));
    request.onerror = () => reject(new Error('The connection broke.'));
    request.onabort = () => reject(new Error('It was abandoned.'));
    request.send(document);
  });
}

async function canBeRead(document: Blob): Promise<boolean> {
  return await document
    .slice(0, 1)
    .arrayBuffer()
    .then(
      () => true,
      () => false,
    );
}

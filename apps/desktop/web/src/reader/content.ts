import { useQuery } from '@tanstack/react-query';
import { LIMITS } from '@workspace-graph/contracts';
import { client, queries } from '../api/client';
import { contentUrl, type FilePlace } from './addresses';

/** How a file is shown. `none`: it has no preview. */
export type Kind = 'markdown' | 'page' | 'image' | 'document' | 'deck' | 'text' | 'none';

/** A text that is read whole, and so can be edited. */
export interface WholeText {
  readonly text: string;
  readonly sha256: string;
}

/** What is known of the content of a file. */
export interface Content {
  readonly kind: Kind;
  readonly sha256: string;
  readonly sizeBytes: number;
  /** Null for what is no text. */
  readonly text: string | null;
  /** Whether the text is all of it. */
  readonly isWhole: boolean;
  /** Whether a presentation is of a tool that packed no preview. */
  readonly isOldDeck: boolean;
}

/** Larger texts are shown by their beginning, so that none holds up the page. */
export const BEGINNING_BYTES = 262_144;
/** Larger ones are shown as text: rendering takes the longer, the more there is. */
export const MOST_BYTES: Readonly<Partial<Record<Kind, number>>> = {
  markdown: BEGINNING_BYTES,
  page: 2 * LIMITS.inlineFileBytes,
};
/** A drawing is painted by the page itself. */
const MOST_DRAWING_BYTES = 4 * LIMITS.inlineFileBytes;

const BY_NAME: readonly (readonly [RegExp, Kind])[] = [
  [/\.(md|markdown)$/i, 'markdown'],
  [/\.html?$/i, 'page'],
  [/\.deck$/i, 'deck'],
  [/\.pdf$/i, 'document'],
  [/\.(png|jpe?g|gif|webp|avif|bmp|svg)$/i, 'image'],
];
/** What is no text whatever its first bytes look like. */
const NO_TEXT = /^(audio|font|model)\/|^application\/(zip|gzip|x-7z|x-tar|vnd\.|msword)/;

/** The content of a file, asked for again when the file changes. */
export function useContent(place: FilePlace) {
  return useQuery({
    queryKey: keyOf(place),
    queryFn: ({ signal }) => loadContent(place, signal),
  });
}

/** The content of a file as it is at this moment. @throws Refusal, Unreachable */
export async function readContent(place: FilePlace): Promise<Content> {
  await queries.cancelQueries({ queryKey: keyOf(place) });
  return queries.fetchQuery({
    queryKey: keyOf(place),
    queryFn: ({ signal }) => loadContent(place, signal),
    staleTime: 0,
  });
}

/** Notes what has just been saved, so that it is not asked for. */
export function noteSaved(place: FilePlace, { text, sha256 }: WholeText): void {
  queries.setQueryData<Content>(keyOf(place), (former) => {
    const sizeBytes = new TextEncoder().encode(text).length;
    return { kind: kindOf(place.path), isOldDeck: false, ...former, text, sha256, sizeBytes, isWhole: true };
  });
}

function keyOf({ nodeId, path }: FilePlace): readonly string[] {
  return ['node', nodeId, 'file', path];
}

function kindOf(path: string): Kind {
  return BY_NAME.find(([name]) => name.test(path))?.[1] ?? 'text';
}

async function loadContent(place: FilePlace, signal: AbortSignal): Promise<Content> {
  const response = await client.fetch(contentUrl(place), { signal });
  const { headers } = response;
  const sizeBytes = Number(headers.get('content-length') ?? 0);
  const known = {
    kind: kindOf(place.path),
    sha256: /"([0-9a-f]{64})"/.exec(headers.get('etag') ?? '')?.[1] ?? '',
    sizeBytes,
    text: null,
    isWhole: true,
    isOldDeck: headers.get('x-deck-preview') === 'missing',
  };
  const isText = known.kind === 'markdown' || known.kind === 'page' || known.kind === 'text';
  const isDrawing = /\.svg$/i.test(place.path);
  if ((isText || isDrawing) && !NO_TEXT.test(headers.get('content-type') ?? ''))
    return withText(known, response, isDrawing && sizeBytes > MOST_DRAWING_BYTES);
  await response.body?.cancel();
  return isText ? { ...known, kind: 'none' } : known;
}

/** With the text, or the beginning of a long one; without it where the bytes are none. */
async function withText(known: Content, response: Response, isLargeDrawing: boolean): Promise<Content> {
  const isWhole = known.sizeBytes <= LIMITS.inlineFileBytes;
  const bytes = isWhole ? new Uint8Array(await response.arrayBuffer()) : await beginningOf(response);
  const text = textOf(bytes, isWhole);
  const most = MOST_BYTES[known.kind] ?? Number.POSITIVE_INFINITY;
  if (text === null) return { ...known, kind: known.kind === 'image' ? 'image' : 'none' };
  const isTooLarge = known.sizeBytes > most || isLargeDrawing;
  return { ...known, kind: isTooLarge ? 'text' : known.kind, text, isWhole };
}

async function beginningOf({ body }: Response): Promise<Uint8Array> {
  const reader = body?.getReader();
  const bytes = new Uint8Array(BEGINNING_BYTES);
  let length = 0;
  while (reader && length < BEGINNING_BYTES) {
    const { done, value } = await reader.read();
    if (done) break;
    bytes.set(value.subarray(0, BEGINNING_BYTES - length), length);
    length = Math.min(BEGINNING_BYTES, length + value.length);
  }
  await reader?.cancel();
  return bytes.subarray(0, length);
}

/** UTF-8 text without NUL, to the byte as it is; null for anything else. */
function textOf(bytes: Uint8Array, isWhole: boolean): string | null {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: !isWhole });
    return text.includes('\0') ? null : text;
  } catch {
    return null;
  }
}

import { createHash } from 'node:crypto';
import { decodeText } from '@workspace-graph/disk/decode-text';
import { fold } from '@workspace-graph/domain/fold';
import {
  EXTRACTION,
  type Extraction,
  type ExtractionOutcome,
  type ExtractionRequest,
  type TrackedText,
} from './extraction.js';
import { htmlText } from './html-text.js';
import { officeText } from './office-text.js';
import { packText } from './packed-text.js';
import { pdfText } from './pdf-text.js';
import { readTracked } from './tracked-text.js';

const PDF = Buffer.from('%PDF-');
const ZIP = Buffer.from('PK\x03\x04');
/** A PDF may have some bytes before its beginning. */
const PDF_HEAD_BYTES = 1_024;
const HTML_NAME = /\.x?html?$/i;
const UTF8 = new TextEncoder();

/** Reads a file and takes its text out; never throws for what the file holds. Closes the handle. */
export async function extract({ handle, filename, isQuick = false }: ExtractionRequest): Promise<Extraction> {
  try {
    const { size } = await handle.stat();
    if (size > EXTRACTION.fileBytes) return without('too_large');
    if (isQuick && size > EXTRACTION.quickBytes) return without('slow');
    return await extractFrom(await handle.readFile(), filename, isQuick);
  } catch (error) {
    return without('failed', { problem: problemOf(error) });
  } finally {
    await handle.close();
  }
}

/** The same of small files that are tracked, with what is read at once and nothing else. */
export async function extractTracked(files: readonly TrackedText[]): Promise<Extraction[]> {
  const extractions: Extraction[] = [];
  for (const file of files) {
    const bytes = readTracked(file);
    extractions.push(bytes ? await extractFrom(bytes, file.filename, true) : without('changed'));
  }
  return extractions;
}

async function extractFrom(bytes: Buffer, filename: string, isQuick: boolean): Promise<Extraction> {
  if (isQuick && isSlow(bytes, filename)) return without('slow');
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  try {
    const text = await textOf(bytes, filename);
    return text === null ? without('none', { sha256 }) : withText(text, sha256);
  } catch (error) {
    return without('failed', { sha256, problem: problemOf(error) });
  }
}

function problemOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Whether it is more than plain text of a size that is read at once. */
function isSlow(bytes: Buffer, filename: string): boolean {
  if (bytes.length > EXTRACTION.quickBytes || isPdf(bytes) || isZip(bytes)) return true;
  return HTML_NAME.test(filename) && bytes.length > EXTRACTION.quickHtmlBytes;
}

function isPdf(bytes: Buffer): boolean {
  return bytes.subarray(0, PDF_HEAD_BYTES).includes(PDF);
}

function isZip(bytes: Buffer): boolean {
  return bytes.subarray(0, ZIP.length).equals(ZIP);
}

/** By what the bytes are; the name decides only among texts. */
async function textOf(bytes: Buffer, filename: string): Promise<string | null> {
  if (isPdf(bytes)) return pdfText(new Uint8Array(bytes));
  if (isZip(bytes)) return officeText(bytes);
  if (HTML_NAME.test(filename)) return htmlText(bytes);
  return decodeText(bytes);
}

function withText(all: string, sha256: string | null): Extraction {
  const text = all.slice(0, EXTRACTION.textLength).toWellFormed().replaceAll('\0', ' ');
  return { state: 'done', sha256, text: packText(text), words: UTF8.encode(fold(text)), problem: null };
}

function without(
  state: ExtractionOutcome,
  { sha256 = null, problem = null }: { readonly sha256?: string | null; readonly problem?: string | null } = {},
): Extraction {
  return { state, sha256, text: null, words: null, problem };
}

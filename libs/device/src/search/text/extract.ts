import { createHash } from 'node:crypto';
import { fold } from '@workspace-graph/domain';
import { decodeText } from './decode-text.js';
import { EXTRACTION, type Extraction, type ExtractionRequest, type ExtractionState } from './extraction.js';
import { htmlText } from './html-text.js';
import { officeText } from './office-text.js';
import { packText } from './packed-text.js';
import { pdfText } from './pdf-text.js';

const PDF = Buffer.from('%PDF-');
const ZIP = Buffer.from('PK\x03\x04');
/** A PDF may have some bytes before its beginning. */
const PDF_HEAD_BYTES = 1_024;
const HTML_NAME = /\.x?html?$/i;
const UTF8 = new TextEncoder();

/** Reads a file and takes its text out; never throws for what the file holds. Closes the handle. */
export async function extract({ handle, filename }: ExtractionRequest): Promise<Extraction> {
  let sha256: string | null = null;
  try {
    const { size } = await handle.stat();
    if (size > EXTRACTION.fileBytes) return without('too_large');
    const bytes = await handle.readFile();
    sha256 = createHash('sha256').update(bytes).digest('hex');
    const text = await textOf(bytes, filename);
    return text === null ? without('none', { sha256 }) : withText(text, sha256);
  } catch (error) {
    return without('failed', { sha256, problem: error instanceof Error ? error.message : String(error) });
  } finally {
    await handle.close();
  }
}

/** By what the bytes are; the name decides only among texts. */
async function textOf(bytes: Buffer, filename: string): Promise<string | null> {
  if (bytes.subarray(0, PDF_HEAD_BYTES).includes(PDF)) return pdfText(new Uint8Array(bytes));
  if (bytes.subarray(0, ZIP.length).equals(ZIP)) return officeText(bytes);
  if (HTML_NAME.test(filename)) return htmlText(bytes);
  return decodeText(bytes);
}

function withText(all: string, sha256: string | null): Extraction {
  const text = all.slice(0, EXTRACTION.textLength).toWellFormed().replaceAll('\0', ' ');
  return { state: 'done', sha256, text: packText(text), words: UTF8.encode(fold(text)), problem: null };
}

function without(
  state: ExtractionState,
  { sha256 = null, problem = null }: { readonly sha256?: string | null; readonly problem?: string | null } = {},
): Extraction {
  return { state, sha256, text: null, words: null, problem };
}

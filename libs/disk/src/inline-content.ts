import { isUtf8 } from 'node:buffer';
import { estimateTokens } from '@workspace-graph/domain';

/** Content as the answer of an operation holds it: text as it is, and other content as base64 after a line that says so. */

const BINARY = '[binary file, ';
/** Base64 has no words: a token holds little of it. */
const TOKENS_OF_BASE64 = 0.7;
const EXCERPT_CHARACTERS = 2_000;
/** Beginning of a content that is enough for an excerpt. */
export const EXCERPT_BYTES = 4_096;

export function inlineContent(bytes: Buffer): string {
  if (isUtf8(bytes) && !bytes.includes(0)) return bytes.toString('utf8');
  return `${BINARY}${bytes.length} bytes, base64]\n${bytes.toString('base64')}`;
}

/** Tokens that a content costs an agent, about. */
export function tokensOfInline(content: string): number {
  return content.startsWith(BINARY) ? Math.ceil(content.length * TOKENS_OF_BASE64) : estimateTokens(content);
}

/** The beginning of a text; of other content only that it is none. */
export function excerptOf(beginning: Uint8Array, sizeBytes: number): string {
  // A character that the cut goes through does not make the rest unreadable.
  const text = new TextDecoder().decode(beginning, { stream: true });
  const isText = !beginning.includes(0) && !text.includes('\uFFFD');
  return isText ? text.slice(0, EXCERPT_CHARACTERS).toWellFormed() : `${BINARY}${sizeBytes} bytes]`;
}

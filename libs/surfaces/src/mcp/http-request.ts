import { isUtf8 } from 'node:buffer';
import type { IncomingHttpHeaders } from 'node:http';
import { isJsonContentType } from '@modelcontextprotocol/server';
import {
  Id,
  LIMITS,
  ProgramId,
  ReferenceText,
  readInput,
  ServiceError,
  validationFailed,
} from '@workspace-graph/contracts';
import { jsonDepth } from '@workspace-graph/domain';
import { z } from 'zod';
import { unsupportedMediaType } from '../edge/index.js';
import { MalformedRequest } from './answers.js';
import type { Program } from './connection.js';

const PARSE_ERROR = -32700;
const INVALID_REQUEST = -32600;
const SERVER_ERROR = -32000;

/** Headers of the protocol; the library sees no others, the credential least of all. */
const PROTOCOL_HEADER = /^(accept|content-type|last-event-id|mcp-.+)$/;

/** What clients write into their configuration: a parameter that is misspelled must not open another scope in silence. */
const AddressQuery = z.strictObject({
  home_node_id: ReferenceText.optional(),
  session_id: Id.optional(),
  instance_id: ProgramId.optional(),
  terminal_id: ProgramId.optional(),
});

/** What the URL of a connection names: the home node, by id, path or name, the session that goes on with it, and what runs the agent. */
export interface Address {
  readonly home: string | null;
  readonly sessionId: string | null;
  readonly program: Program;
}

/** @throws ServiceError VALIDATION_FAILED for anything that is no address */
export function addressOf(query: unknown): Address {
  const address = readInput(AddressQuery, query);
  const { home_node_id: home = null, session_id: sessionId = null } = address;
  const { instance_id: instanceId = null, terminal_id: terminalId = null } = address;
  return { home, sessionId, program: { instanceId, terminalId } };
}

/** Refuses a client that would not understand the answer. @throws MalformedRequest NOT_ACCEPTABLE */
export function checkAccept(headers: IncomingHttpHeaders, needed: readonly string[]): void {
  const accept = headers.accept ?? '';
  if (accept.includes('*/*') || needed.every((type) => accept.includes(type))) return;
  const message = `The Accept header must name ${needed.join(' and ')}.`;
  throw new MalformedRequest(SERVER_ERROR, new ServiceError('NOT_ACCEPTABLE', message));
}

/** The JSON-RPC message or messages of a POST. @throws MalformedRequest UNSUPPORTED_MEDIA_TYPE, VALIDATION_FAILED */
export function readMessage(headers: IncomingHttpHeaders, body: unknown, maxBatch: number): unknown {
  if (!isJsonContentType(headers['content-type'])) {
    const message = 'The Content-Type header must be application/json.';
    throw new MalformedRequest(SERVER_ERROR, new ServiceError('UNSUPPORTED_MEDIA_TYPE', message));
  }
  const encoding = headers['content-encoding'];
  if (encoding !== undefined && encoding !== 'identity')
    throw new MalformedRequest(SERVER_ERROR, unsupportedMediaType());
  const bytes = Buffer.isBuffer(body) ? body : Buffer.alloc(0);
  if (!isUtf8(bytes)) throw unreadable('The body is not UTF-8.');
  if (jsonDepth(bytes) > LIMITS.jsonDepth)
    throw unreadable(`The body is nested deeper than ${LIMITS.jsonDepth} levels.`);
  const message = parse(bytes.toString());
  if (Array.isArray(message) && message.length > maxBatch)
    throw unreadable(`The body has more than ${maxBatch} messages.`, INVALID_REQUEST);
  return message;
}

/** The request as the protocol library takes it; the message is handed over beside it. */
export function protocolRequest(method: string, headers: IncomingHttpHeaders, signal: AbortSignal): Request {
  const kept = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    if (typeof value === 'string' && PROTOCOL_HEADER.test(name)) kept.set(name, value);
  }
  // A client that takes everything takes both; the library wants them by name.
  if (kept.get('accept')?.includes('*/*')) kept.set('accept', 'application/json, text/event-stream');
  return new Request('http://localhost/mcp', { method, headers: kept, signal });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw error instanceof SyntaxError ? unreadable('The body is not valid JSON.') : error;
  }
}

function unreadable(message: string, code = PARSE_ERROR): MalformedRequest {
  return new MalformedRequest(code, validationFailed([{ path: '', message }]));
}

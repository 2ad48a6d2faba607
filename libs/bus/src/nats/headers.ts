import { type MsgHdrs, MsgHdrsImpl } from '@nats-io/transport-node';
import { Caller, type Envelope, type JsonFacts, OWNERS, type Owner } from '@workspace-graph/contracts';
import type { OutcomeHead } from '../codec.js';
import { internal, isPrintable } from '../failures.js';
import { type InstanceAddress, isToken } from './subjects.js';

const CALL = 'svc-call';
const REQUEST = 'svc-request';
const CALLER = 'svc-caller';
const TIMEOUT = 'svc-timeout-ms';
const TRACE = 'traceparent';
const KIND = 'svc-kind';
const FACTS = 'svc-facts';
const PART = 'svc-part';
const FROM = 'svc-from';
const EVENT = 'svc-event';

function headersOf(record: Record<string, string>): MsgHdrs {
  const entries = Object.entries(record).map(([name, value]): [string, string[]] => [name, [value]]);
  return MsgHdrsImpl.fromRecord(Object.fromEntries(entries));
}

/** Headers of a request, but for its timeout, which differs from attempt to attempt. */
export function envelopeFields(envelope: Envelope): Record<string, string> {
  const fields: Record<string, string> = { [CALL]: envelope.callId, [REQUEST]: envelope.requestId };
  if (envelope.caller) fields[CALLER] = Buffer.from(JSON.stringify(envelope.caller)).toString('base64url');
  if (isPrintable(envelope.traceparent)) fields[TRACE] = envelope.traceparent;
  return fields;
}

export function requestHeaders(fields: Record<string, string>, timeoutMs: number): MsgHdrs {
  return headersOf({ ...fields, [TIMEOUT]: String(Math.ceil(timeoutMs)) });
}

export interface IncomingEnvelope {
  readonly envelope: Envelope;
  readonly timeoutMs: number;
  /** As it came: equal text, equal caller. */
  readonly callerText: string;
}

/** @throws ServiceError INTERNAL for a message that no caller of ours sends */
export function readEnvelope(headers: MsgHdrs | undefined): IncomingEnvelope {
  const callId = headers?.get(CALL);
  const requestId = headers?.get(REQUEST);
  const timeoutMs = Number(headers?.get(TIMEOUT));
  if (!headers || !isPrintable(callId) || !isPrintable(requestId) || !(timeoutMs > 0))
    throw internal(new Error('the request has no headers'));
  const callerText = headers.get(CALLER);
  const caller = callerText === '' ? null : readCaller(callerText);
  const traceparent = headers.get(TRACE);
  return {
    envelope: { callId, requestId, caller, ...(traceparent === '' ? {} : { traceparent }) },
    timeoutMs,
    callerText,
  };
}

/** Fields that a newer gateway adds are dropped, not refused: instances are replaced one by one. */
const IncomingCaller = Caller.strip();

function readCaller(text: string): Caller {
  try {
    return IncomingCaller.parse(JSON.parse(Buffer.from(text, 'base64url').toString()));
  } catch (error) {
    throw internal(new Error('the caller of the request cannot be read', { cause: error }));
  }
}

/** A message on a caller's inbox. */
export type Reply =
  | { readonly kind: 'whole'; readonly outcome: OutcomeHead }
  | { readonly kind: 'alive' }
  | { readonly kind: 'nobody' }
  | { readonly kind: 'here' | 'declined'; readonly from: InstanceAddress }
  | {
      readonly kind: 'part';
      readonly outcome: OutcomeHead;
      readonly index: number;
      readonly count: number;
      readonly from: InstanceAddress;
    };

/** A plain output has no headers at all: most replies cost one message of just their JSON. */
export function outcomeHeaders(outcome: OutcomeHead): MsgHdrs | undefined {
  return outcome.kind === 'json' ? undefined : headersOf(fieldsOf(outcome));
}

/** Escaped, as headers hold no line breaks. */
function fieldsOf({ kind, facts = {} }: OutcomeHead): Record<string, string> {
  const isPlain = Object.keys(facts).length === 0;
  return { [KIND]: kind, ...(isPlain ? {} : { [FACTS]: Buffer.from(JSON.stringify(facts)).toString('base64url') }) };
}

/** Of a reply that tells something of the instance: it works, it would take a call, it declines one. */
export function instanceHeaders(kind: 'alive' | 'here' | 'declined', from: InstanceAddress): MsgHdrs {
  return headersOf({ [KIND]: kind, [FROM]: `${from.owner}.${from.id}` });
}

export function partHeaders(
  outcome: OutcomeHead,
  place: { index: number; count: number },
  from: InstanceAddress,
): MsgHdrs {
  return headersOf({
    ...fieldsOf(outcome),
    [PART]: `${place.index}/${place.count}`,
    [FROM]: `${from.owner}.${from.id}`,
  });
}

/** @throws Error for a message that no instance of ours sends */
export function readReply(headers: MsgHdrs | undefined): Reply {
  if (!headers) return { kind: 'whole', outcome: { kind: 'json' } };
  if (headers.code === 503) return { kind: 'nobody' };
  const kind = headers.get(KIND);
  if (kind === 'alive') return { kind };
  const part = headers.get(PART);
  if (kind === 'here' || (kind === 'declined' && part === '')) return { kind, from: readAddress(headers.get(FROM)) };
  if (!isOutcomeKind(kind)) throw new Error(`the reply has an unknown kind: ${kind}`);
  const outcome: OutcomeHead = { kind, facts: readFacts(headers.get(FACTS)) };
  return part === ''
    ? { kind: 'whole', outcome }
    : { kind: 'part', outcome, ...readPart(part), from: readAddress(headers.get(FROM)) };
}

/** None of an instance that does not tell them. */
function readFacts(text: string): JsonFacts {
  return text === '' ? {} : (JSON.parse(Buffer.from(text, 'base64url').toString()) as JsonFacts);
}

function isOutcomeKind(kind: string): kind is OutcomeHead['kind'] {
  return kind === 'json' || kind === 'raw' || kind === 'error' || kind === 'declined';
}

function readPart(text: string): { index: number; count: number } {
  const match = /^(\d{1,6})\/(\d{1,6})$/.exec(text);
  if (!match) throw new Error(`the part has no valid position: ${text}`);
  return { index: Number(match[1]), count: Number(match[2]) };
}

/** Checked, because the caller publishes to a subject made from it. */
function readAddress(text: string): InstanceAddress {
  const [owner = '', id = '', ...rest] = text.split('.');
  if (!isOwner(owner) || !isToken(id) || rest.length > 0) throw new Error(`the instance has no valid address: ${text}`);
  return { owner, id };
}

function isOwner(text: string): text is Owner {
  return (OWNERS as readonly string[]).includes(text);
}

export function eventHeaders(id: string): MsgHdrs {
  return headersOf({ [EVENT]: id });
}

export function readEventId(headers: MsgHdrs | undefined): string {
  return headers?.get(EVENT) ?? '';
}

import { Caller, OWNERS } from '@workspace-graph/contracts';
import { z } from 'zod';

/**
 * What travels on a link, in either direction: a head in JSON, a line feed, and a body of bytes. `id` is chosen by whoever
 * sends the request, and names it in all that follows.
 */
const id = z.int().nonnegative();
/** Further parts of the body follow. */
const more = z.literal(true).optional();
const JsonFactsSchema = z.strictObject({
  version: z.number().optional(),
  applied: z.boolean().optional(),
  token: z.string().optional(),
  unchanged: z.boolean().optional(),
});

export const FrameHead = z.discriminatedUnion('kind', [
  /** The first one of the host: whoever connected is known, and may begin. */
  z.strictObject({ kind: z.literal('hello'), protocol: z.literal(1) }),
  /** Body: the input. */
  z.strictObject({
    kind: z.literal('call'),
    id,
    owner: z.enum(OWNERS),
    operation: z.string(),
    call_id: z.string(),
    request_id: z.string(),
    traceparent: z.string().optional(),
    /** Who calls, as the sender says: the receiver decides what of it is true. */
    caller: Caller.nullable(),
    timeout_ms: z.int().nonnegative(),
  }),
  /** `stopping`: not that nobody asks any more, but that those who carry it out come to an end. */
  z.strictObject({ kind: z.literal('cancel'), id, stopping: z.literal(true).optional() }),
  z.strictObject({ kind: z.literal('serve'), id, owner: z.enum(OWNERS), operations: z.array(z.string()) }),
  /** Of what `serve` began under this id. */
  z.strictObject({ kind: z.enum(['pause', 'resume', 'stop']), id, serving: id }),
  z.strictObject({ kind: z.literal('subscribe'), id, types: z.array(z.string()), group: z.string().optional() }),
  z.strictObject({ kind: z.literal('unsubscribe'), id, subscription: id }),
  /** Body: the payload. */
  z.strictObject({ kind: z.literal('publish'), id, type: z.string(), event_id: z.string() }),
  /** Body: the payload. */
  z.strictObject({ kind: z.literal('event'), subscription: id, type: z.string(), event_id: z.string() }),
  /** Body: the outcome of a request, or its first part. */
  z.strictObject({
    kind: z.literal('reply'),
    id,
    outcome: z.enum(['json', 'raw', 'error', 'declined']),
    facts: JsonFactsSchema.optional(),
    more,
  }),
  z.strictObject({ kind: z.literal('part'), id, more }),
]);
export type FrameHead = z.infer<typeof FrameHead>;
export type FrameOf<K extends FrameHead['kind']> = Extract<FrameHead, { kind: K }>;

export interface Frame {
  readonly head: FrameHead;
  readonly body: Uint8Array;
}

/** The largest message: a head and a request, or a part of a reply. */
export const MESSAGE_BYTES = 2 * 1_048_576;
/** Of a body that is sent in parts, so that others get in between. */
export const PART_BYTES = 262_144;

const LINE_FEED = 0x0a;
const EMPTY = new Uint8Array();

export function encodeFrame(head: FrameHead, body: string | Uint8Array = EMPTY): Buffer {
  const text = Buffer.from(`${JSON.stringify(head)}\n`);
  return Buffer.concat([text, typeof body === 'string' ? Buffer.from(body) : body]);
}

/** @throws Error for anything that is no frame */
export function decodeFrame(message: Buffer): Frame {
  const end = message.indexOf(LINE_FEED);
  if (end < 0) throw new Error('a message of a link has no head');
  return { head: FrameHead.parse(JSON.parse(message.toString('utf8', 0, end))), body: message.subarray(end + 1) };
}

import { z } from 'zod';
import { Id, Timestamp } from '../common.js';
import { LIMITS } from '../limits.js';
import type { Operation } from '../operation.js';
import { answerQuestion, closeSession, interruptSession, sendMessage, suspendSession } from './driving.js';
import { AfterSeq, SessionEvent } from './log.js';
import { sessionId } from './session.js';
import { SessionState } from './vocabulary.js';

/** The live channel: frames of JSON over one WebSocket. */
export const SOCKET_PATH = '/sessions/ws';

/** What a client sends to follow sessions, by type. */
export const FOLLOWING_FRAMES = {
  subscribe: z.strictObject({
    ...sessionId,
    after: AfterSeq.default(0).describe('seq of the last event that is known already; what comes after it is sent.'),
  }),
  unsubscribe: z.strictObject(sessionId),
  watch: z.strictObject({
    graph: z.boolean().default(false).describe('Be told of changes of nodes, by graph_changed.'),
    files: z.boolean().default(false).describe('Be told of changes of files, by files_changed.'),
    sync: z
      .boolean()
      .default(false)
      .describe(
        'Be told of folders on this device: scans, how far they are, what could not be taken in, by sync_changed.',
      ),
  }),
} as const;

/** What a client sends to drive sessions, by type: the same as these operations. */
export const DRIVING_FRAMES = {
  message: sendMessage,
  answer: answerQuestion,
  interrupt: interruptSession,
  suspend: suspendSession,
  close: closeSession,
} as const satisfies Record<string, Operation>;

export type ClientFrameType = keyof typeof FOLLOWING_FRAMES | keyof typeof DRIVING_FRAMES;

/** A frame of a client; one with an id is answered by a reply or an error with that id. */
export const ClientFrame = z.strictObject({
  id: z.union([z.string().max(200), z.number()]).optional(),
  type: z.enum([...Object.keys(FOLLOWING_FRAMES), ...Object.keys(DRIVING_FRAMES)] as [
    ClientFrameType,
    ...ClientFrameType[],
  ]),
  payload: z.record(z.string(), z.unknown()).default({}),
});
export type ClientFrame = z.infer<typeof ClientFrame>;

/** Of what a client has asked to be told by `watch`. */
const Changed = z.strictObject({
  node_ids: z.array(Id).max(LIMITS.nodesPerFrame).describe('Those that you see, or saw.'),
  everything: z.boolean().describe('More than the named may have changed: look at all of it again.'),
});

/** What is sent to clients, by type, beside `reply` and `error`. */
export const SERVER_FRAMES = {
  event: z.strictObject({ ...sessionId, event: SessionEvent }),
  delta: z.strictObject({ ...sessionId, run_id: Id, text: z.string() }),
  session_state: z.strictObject({
    ...sessionId,
    state: SessionState,
    waiting_since: Timestamp.nullable(),
    node_id: Id.nullable(),
  }),
  graph_changed: Changed,
  files_changed: Changed,
  sync_changed: Changed,
} as const;
export type ServerFrameType = keyof typeof SERVER_FRAMES;

/** The answer to `subscribe`; the events follow it. */
export const Subscribed = z.strictObject({ ...sessionId, last_seq: z.int().nonnegative() });

/** The answer to `watch`: what is told from here on. */
export const Watching = z.strictObject({ graph: z.boolean(), files: z.boolean(), sync: z.boolean() });

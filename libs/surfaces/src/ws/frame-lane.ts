import { ClientFrame, readInput, ServiceError, validationFailed } from '@workspace-graph/contracts';
import type { RawData } from 'ws';
import { asRefusal, internalError } from '../edge/error-answer.js';
import type { LiveSocket } from './live-socket.js';

/** Frames of one socket: this many at once, and from then on so many in a second. */
const BURST = 200;
const PER_SECOND = 100;
/** Under way at once; then the socket is not read until some are answered. */
const MOST_UNDER_WAY = 64;

/** What a handler gets of a frame. */
export interface FrameCall {
  readonly payload: Readonly<Record<string, unknown>>;
  /** Answers before the handler ends; what it returns then is left out. */
  reply(payload: unknown): void;
}

export type FrameHandler = (socket: LiveSocket, call: FrameCall) => Promise<unknown>;

/**
 * Takes the frames of one socket: reads, checks and counts them, and answers each that asks for it, whatever becomes of
 * it. Frames about one session are carried out in their order, others beside each other.
 */
export class FrameLane {
  private readonly orders = new Map<unknown, Promise<void>>();
  private underWay = 0;
  private tokens = BURST;
  private refilledAtMs = performance.now();

  constructor(
    private readonly socket: LiveSocket,
    private readonly handlers: ReadonlyMap<string, FrameHandler>,
    private readonly onInternal: (error: unknown) => void,
  ) {}

  readonly take = (data: RawData, isBinary: boolean): void => {
    this.begin();
    let frame: ClientFrame;
    try {
      this.count();
      frame = readFrame(data, isBinary);
    } catch (error) {
      this.refuse(idOf(data), error);
      return this.finish();
    }
    const key = frame.payload['session_id'];
    const before = this.orders.get(key) ?? Promise.resolve();
    const done = before.then(() => this.carryOut(frame)).finally(() => this.finish());
    this.orders.set(key, done);
    void done.then(() => {
      if (this.orders.get(key) === done) this.orders.delete(key);
    });
  };

  private async carryOut({ id, type, payload }: ClientFrame): Promise<void> {
    let isReplied = false;
    const reply = (answer: unknown): void => {
      if (!isReplied) this.socket.reply(id, answer);
      isReplied = true;
    };
    try {
      const handler = this.handlers.get(type);
      if (!handler) throw new Error(`A frame of type ${type} has no handler`);
      const answer: Promise<unknown> = handler(this.socket, { payload, reply });
      reply(await answer);
    } catch (error) {
      this.refuse(id, error);
    }
  }

  private refuse(id: string | number | undefined, error: unknown): void {
    const refusal = asRefusal(error) ?? internalError(error);
    if (refusal.code === 'INTERNAL') this.onInternal(error);
    this.socket.refuse(id, refusal);
  }

  private count(): void {
    const nowMs = performance.now();
    this.tokens = Math.min(BURST, this.tokens + ((nowMs - this.refilledAtMs) / 1_000) * PER_SECOND);
    this.refilledAtMs = nowMs;
    if (this.tokens < 1)
      throw new ServiceError('RATE_LIMITED', 'Too many frames; wait 1 s.', { retry_after_seconds: 1 });
    this.tokens -= 1;
  }

  private begin(): void {
    this.underWay += 1;
    if (this.underWay === MOST_UNDER_WAY) this.socket.socket.pause();
  }

  private finish(): void {
    this.underWay -= 1;
    if (this.underWay === MOST_UNDER_WAY - 1) this.socket.socket.resume();
  }
}

/** @throws ServiceError VALIDATION_FAILED for anything but a frame */
function readFrame(data: RawData, isBinary: boolean): ClientFrame {
  if (isBinary) throw validationFailed([{ path: '', message: 'A frame is JSON text.' }]);
  let value: unknown;
  try {
    value = JSON.parse(textOf(data));
  } catch {
    throw validationFailed([{ path: '', message: 'The frame is not valid JSON.' }]);
  }
  return readInput(ClientFrame, value);
}

/** The id of a frame that cannot be read as a whole, so that its sender hears which one it was. */
function idOf(data: RawData): string | number | undefined {
  try {
    const { id } = JSON.parse(textOf(data)) as { readonly id?: unknown };
    return typeof id === 'number' || (typeof id === 'string' && id.length <= 200) ? id : undefined;
  } catch {
    return undefined;
  }
}

function textOf(data: RawData): string {
  return Buffer.isBuffer(data) ? data.toString('utf8') : Buffer.concat([data].flat() as Buffer[]).toString('utf8');
}

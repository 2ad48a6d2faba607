import { DRIVING_FRAMES, FOLLOWING_FRAMES, ServiceError } from '@workspace-graph/contracts';
import type { Logger } from '@workspace-graph/platform';
import { type RawData, WebSocket } from 'ws';
import { HIGH_BYTES, LOW_BYTES } from './back-pressure.js';
import type { Heartbeat } from './heartbeat.js';

export interface RelayOptions {
  readonly url: string;
  readonly credential: string;
  /** False: frames that change something are refused here. */
  readonly isProven: boolean;
  /** Whether both sides are there. */
  readonly heartbeat: Pick<Heartbeat, 'add' | 'everyMs'>;
  readonly logger: Pick<Logger, 'debug'>;
  readonly requestId: string;
  /** Told what a client wants to be told of the folders on this device. */
  readonly onWatch?: (sync: boolean) => void;
}

/** Closes for which there is no better word, and those that nobody may send. */
const TRY_AGAIN_LATER = 1013;
const NORMAL = 1000;
/** Of a connection that broke, or never came to be. */
const BROKEN = 1006;

/** Passes the frames of a client on to the centre and back, in their order, with no more than a megabyte in between. */
export function relay(client: WebSocket, options: RelayOptions): void {
  const { url, credential, heartbeat, logger } = options;
  // What arrives before the centre is there waits in the connection.
  client.pause();
  const centre = new WebSocket(url, {
    headers: { authorization: `Bearer ${credential}` },
    perMessageDeflate: false,
    handshakeTimeout: heartbeat.everyMs,
  });
  centre.once('open', () => {
    // A side that is paused waits for the other one, which is asked; where each waits for the other, both are.
    heartbeat.add(client, () => client.isPaused && !centre.isPaused);
    heartbeat.add(centre, () => centre.isPaused && !client.isPaused);
    client.resume();
  });
  client.on('message', (data, isBinary) => {
    // Once it is being closed, its credential may have ended.
    if (client.readyState !== WebSocket.OPEN) return;
    const frame = frameIn(data);
    const refusal = options.isProven ? null : refusalOf(frame, options.requestId);
    if (refusal !== null) return client.send(refusal);
    if (frame?.type === 'watch') options.onWatch?.(wantsSync(frame));
    pass(client, centre, data, isBinary);
  });
  centre.on('message', (data, isBinary) => pass(centre, client, data, isBinary));
  client.once('close', (code) => end(centre, code));
  centre.once('close', (code, reason) =>
    end(client, code, code === BROKEN ? 'the centre cannot be reached' : reason.toString()),
  );
  for (const socket of [client, centre])
    socket.on('error', (error) => logger.debug({ err: error }, 'a relayed socket failed'));
}

function pass(from: WebSocket, to: WebSocket, data: RawData, isBinary: boolean): void {
  if (to.readyState !== WebSocket.OPEN) return;
  to.send(data, { binary: isBinary }, () => {
    if (from.isPaused && to.bufferedAmount <= LOW_BYTES) from.resume();
  });
  if (to.bufferedAmount > HIGH_BYTES) from.pause();
}

function end(socket: WebSocket, code: number, reason = ''): void {
  if (socket.readyState === WebSocket.CONNECTING) return socket.terminate();
  // What is not read does not hear that the other end closes as well.
  socket.resume();
  // 1005 and 1006 tell that no code was sent.
  const isSendable = code === NORMAL || code === TRY_AGAIN_LATER || code === 1001 || (code >= 3000 && code < 5000);
  socket.close(isSendable ? code : TRY_AGAIN_LATER, reason);
}

/** What is known of a frame before the centre reads it. */
interface Glimpse {
  readonly id?: unknown;
  readonly type?: unknown;
  readonly payload?: unknown;
}

/** Null for what is no frame: the centre says what is wrong with it. */
function frameIn(data: RawData): Glimpse | null {
  try {
    const value: unknown = JSON.parse(String(data));
    return typeof value === 'object' && value !== null ? value : null;
  } catch {
    return null;
  }
}

function wantsSync({ payload }: Glimpse): boolean {
  return FOLLOWING_FRAMES.watch.safeParse(payload ?? {}).data?.sync === true;
}

/** The answer to a frame that only the application's own window may send; null for any other. */
function refusalOf(frame: Glimpse | null, requestId: string): string | null {
  if (!frame || !Object.hasOwn(DRIVING_FRAMES, String(frame.type))) return null;
  const { id } = frame;
  const message = 'This application takes changes from its own window alone.';
  const payload = new ServiceError('WEBVIEW_PROXY_REQUIRED', message).toBody(requestId);
  return JSON.stringify({ ...(id === undefined ? {} : { id }), type: 'error', payload });
}

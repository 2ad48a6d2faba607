import { DRIVING_FRAMES, ServiceError } from '@workspace-graph/contracts';
import type { Logger } from '@workspace-graph/platform';
import { type RawData, WebSocket } from 'ws';

export interface RelayOptions {
  readonly url: string;
  readonly credential: string;
  /** False: frames that change something are refused here. */
  readonly isProven: boolean;
  readonly logger: Pick<Logger, 'debug'>;
  readonly requestId: string;
}

/** Beyond this much that one side has not taken, the other one is not read. */
const HIGH_BYTES = 1_048_576;
/** Closes for which there is no better word, and those that nobody may send. */
const TRY_AGAIN_LATER = 1013;
const NORMAL = 1000;

/** Passes the frames of a client on to the centre and back, in their order, with no more than a megabyte in between. */
export function relay(client: WebSocket, options: RelayOptions): void {
  const { url, credential, logger } = options;
  // What arrives before the centre is there waits in the connection.
  client.pause();
  const centre = new WebSocket(url, { headers: { authorization: `Bearer ${credential}` }, perMessageDeflate: false });
  let isOpen = false;
  centre.once('open', () => {
    isOpen = true;
    client.resume();
  });
  client.on('message', (data, isBinary) => {
    const refusal = options.isProven ? null : refusalOf(data, options.requestId);
    if (refusal === null) pass(client, centre, data, isBinary);
    else client.send(refusal);
  });
  centre.on('message', (data, isBinary) => pass(centre, client, data, isBinary));
  client.once('close', (code) => end(centre, code));
  centre.once('close', (code, reason) => {
    client.resume();
    end(client, isOpen ? code : TRY_AGAIN_LATER, isOpen ? reason.toString() : 'the centre cannot be reached');
  });
  for (const socket of [client, centre])
    socket.on('error', (error) => logger.debug({ err: error }, 'a relayed socket failed'));
}

function pass(from: WebSocket, to: WebSocket, data: RawData, isBinary: boolean): void {
  if (to.readyState !== WebSocket.OPEN) return;
  to.send(data, { binary: isBinary }, () => {
    if (from.isPaused && to.bufferedAmount <= HIGH_BYTES / 4) from.resume();
  });
  if (to.bufferedAmount > HIGH_BYTES) from.pause();
}

function end(socket: WebSocket, code: number, reason = ''): void {
  if (socket.readyState === WebSocket.CONNECTING) return socket.terminate();
  // 1005 and 1006 tell that no code was sent.
  const isSendable = code === NORMAL || code === TRY_AGAIN_LATER || code === 1001 || (code >= 3000 && code < 5000);
  socket.close(isSendable ? code : TRY_AGAIN_LATER, reason);
}

/** The answer to a frame that only the application's own window may send; null for any other. */
function refusalOf(data: RawData, requestId: string): string | null {
  try {
    const { id, type } = JSON.parse(String(data)) as { readonly id?: unknown; readonly type?: unknown };
    if (!Object.hasOwn(DRIVING_FRAMES, String(type))) return null;
    const message = 'This application takes changes from its own window alone.';
    const payload = new ServiceError('WEBVIEW_PROXY_REQUIRED', message).toBody(requestId);
    return JSON.stringify({ ...(id === undefined ? {} : { id }), type: 'error', payload });
  } catch {
    // The centre says what is wrong with it.
    return null;
  }
}

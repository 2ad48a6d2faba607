import type { INestApplication } from '@nestjs/common';
import { EDGE_PARTS, type EdgeParts } from '../edge/index.js';
import { LiveChannel } from './live-channel.js';
import { SocketAdapter } from './socket-adapter.js';

/** Lets an application with the `WsModule` take sockets. To be called before it is initialised. */
export function serveSockets(app: INestApplication): void {
  const { logger } = app.get<EdgeParts>(EDGE_PARTS);
  const onInternal = (error: unknown): void => logger.error({ err: error }, 'a frame failed unexpectedly');
  app.useWebSocketAdapter(new SocketAdapter(app, app.get(LiveChannel, { strict: false }).upgrades, { onInternal }));
}

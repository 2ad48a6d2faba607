import type { INestApplicationContext, WsMessageHandler } from '@nestjs/common';
import { AbstractWsAdapter } from '@nestjs/websockets';
import { firstValueFrom, type Observable } from 'rxjs';
import { type FrameHandler, FrameLane } from './frame-lane.js';
import type { LiveSocket } from './live-socket.js';
import type { UpgradeServer } from './upgrade-server.js';

interface AdapterOptions {
  readonly onInternal: (error: unknown) => void;
}

/**
 * Nest's adapter of the live channel. It differs from the stock one in that each frame with an id is answered, also one
 * that is malformed, unknown or refused, and that connections come through the gate like any other request.
 */
export class SocketAdapter extends AbstractWsAdapter {
  constructor(
    app: INestApplicationContext,
    private readonly upgrades: UpgradeServer,
    private readonly options: AdapterOptions,
  ) {
    super(app);
  }

  create(): UpgradeServer {
    return this.upgrades;
  }

  override bindClientConnect(server: UpgradeServer, callback: (client: LiveSocket) => void): void {
    server.on('connection', callback);
  }

  override bindClientDisconnect(client: unknown, callback: () => void): void {
    (client as LiveSocket).socket.once('close', callback);
  }

  bindMessageHandlers(
    client: unknown,
    handlers: WsMessageHandler<string>[],
    transform: (data: unknown) => Observable<unknown>,
  ): void {
    const live = client as LiveSocket;
    // Nest has bound the socket already: its handlers take what the frame says.
    const run = ({ callback }: WsMessageHandler<string>): FrameHandler => {
      return async (_socket, call) => firstValueFrom(transform(callback(call)), { defaultValue: undefined });
    };
    const byType = new Map(handlers.map((handler) => [handler.message, run(handler)]));
    live.socket.on('message', new FrameLane(live, byType, this.options.onInternal).take);
  }

  override async close(server: UpgradeServer): Promise<void> {
    server.close();
  }
}

import { type ArgumentsHost, Catch, type ExceptionFilter, Inject, UseFilters } from '@nestjs/common';
import {
  ConnectedSocket,
  MessageBody,
  type OnGatewayConnection,
  type OnGatewayDisconnect,
  SubscribeMessage,
  WebSocketGateway,
} from '@nestjs/websockets';
import {
  type ClientFrameType,
  DRIVING_FRAMES,
  FOLLOWING_FRAMES,
  LIMITS,
  type Operation,
  readInput,
  ServiceError,
  SOCKET_PATH,
  scopeIncludes,
  validationFailed,
} from '@workspace-graph/contracts';
import { ask, EDGE_PARTS, type EdgeParts } from '../edge/index.js';
import type { FrameCall } from './frame-lane.js';
import { LiveChannel } from './live-channel.js';
import type { LiveSocket } from './live-socket.js';

/** Nest makes of an error what its own clients expect; ours are answered by the lane. */
@Catch()
class Rethrow implements ExceptionFilter {
  catch(error: unknown, _host: ArgumentsHost): never {
    throw error;
  }
}

const Frame = (type: ClientFrameType): MethodDecorator => SubscribeMessage(type);

/** The frames of the live channel: each is the operation of its REST route, or follows a session. */
@WebSocketGateway({ path: SOCKET_PATH })
@UseFilters(Rethrow)
export class LiveGateway implements OnGatewayConnection<LiveSocket>, OnGatewayDisconnect<LiveSocket> {
  constructor(
    private readonly channel: LiveChannel,
    @Inject(EDGE_PARTS) private readonly parts: EdgeParts,
  ) {}

  handleConnection(socket: LiveSocket): void {
    this.channel.opened(socket);
  }

  handleDisconnect(socket: LiveSocket): void {
    this.channel.closed(socket);
  }

  @Frame('subscribe')
  async subscribe(@ConnectedSocket() socket: LiveSocket, @MessageBody() call: FrameCall): Promise<void> {
    const wanted = readInput(FOLLOWING_FRAMES.subscribe, call.payload);
    if (!socket.following.has(wanted.session_id) && socket.following.size >= LIMITS.subscriptionsPerSocket)
      throw validationFailed([
        {
          path: 'session_id',
          message: `a socket follows at most ${LIMITS.subscriptionsPerSocket} sessions: unsubscribe from one first`,
        },
      ]);
    const { session_id } = wanted;
    await this.channel.feeds.subscribe(socket, wanted, (last_seq) => call.reply({ session_id, last_seq }));
  }

  @Frame('unsubscribe')
  async unsubscribe(@ConnectedSocket() socket: LiveSocket, @MessageBody() call: FrameCall): Promise<object> {
    const { session_id } = readInput(FOLLOWING_FRAMES.unsubscribe, call.payload);
    this.channel.feeds.unsubscribe(socket, session_id);
    return { session_id };
  }

  @Frame('watch')
  async watch(@ConnectedSocket() socket: LiveSocket, @MessageBody() call: FrameCall): Promise<object> {
    const watched = readInput(FOLLOWING_FRAMES.watch, call.payload);
    await socket.confirm();
    this.channel.changes.watch(socket, watched);
    // What is asked after the answer is newer than every state told before it.
    await this.channel.states.greeted(socket);
    return watched;
  }

  @Frame('message')
  message(@ConnectedSocket() socket: LiveSocket, @MessageBody() call: FrameCall): Promise<unknown> {
    return this.drive(socket, DRIVING_FRAMES.message, call);
  }

  @Frame('answer')
  answer(@ConnectedSocket() socket: LiveSocket, @MessageBody() call: FrameCall): Promise<unknown> {
    return this.drive(socket, DRIVING_FRAMES.answer, call);
  }

  @Frame('interrupt')
  interrupt(@ConnectedSocket() socket: LiveSocket, @MessageBody() call: FrameCall): Promise<unknown> {
    return this.drive(socket, DRIVING_FRAMES.interrupt, call);
  }

  @Frame('suspend')
  suspend(@ConnectedSocket() socket: LiveSocket, @MessageBody() call: FrameCall): Promise<unknown> {
    return this.drive(socket, DRIVING_FRAMES.suspend, call);
  }

  @Frame('close')
  close(@ConnectedSocket() socket: LiveSocket, @MessageBody() call: FrameCall): Promise<unknown> {
    return this.drive(socket, DRIVING_FRAMES.close, call);
  }

  /** @throws ServiceError FORBIDDEN below write, WEBVIEW_PROXY_REQUIRED, and whatever the operation answers */
  private async drive(socket: LiveSocket, operation: Operation, { payload }: FrameCall): Promise<unknown> {
    const caller = await socket.confirm();
    if (!scopeIncludes(caller.scope, 'write'))
      throw new ServiceError('FORBIDDEN', 'This needs the scope write.', { required_scope: 'write' });
    if (!socket.isProven)
      throw new ServiceError('WEBVIEW_PROXY_REQUIRED', 'This application takes changes from its own window alone.');
    return ask(this.parts.bus, operation, payload, { caller, requestId: socket.admission.requestId });
  }
}

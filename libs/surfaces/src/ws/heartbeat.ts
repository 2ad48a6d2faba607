import type { WebSocket } from 'ws';

const EVERY_MS = 30_000;

/** Asks the other ends of sockets again and again whether they are there, and cuts off those that are not. */
export class Heartbeat {
  /** Each with whether it is excused at this moment. */
  private readonly sockets = new Map<WebSocket, () => boolean>();
  /** Of which nothing was heard since they were asked. */
  private readonly silent = new Set<WebSocket>();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    /** How long an answer may take. Default 30,000. */
    readonly everyMs = EVERY_MS,
  ) {}

  start(): void {
    this.timer = setInterval(() => this.beat(), this.everyMs).unref();
  }

  stop(): void {
    clearInterval(this.timer);
  }

  /** Watches an open socket until it closes. One that is paused is excused: nobody reads its answers. */
  add(socket: WebSocket, isExcused = () => socket.isPaused): void {
    this.sockets.set(socket, isExcused);
    const heard = (): void => void this.silent.delete(socket);
    socket.on('pong', heard);
    // A socket is paused when it has sent much: when it is read again, it has all the time to answer.
    socket.on('message', heard);
    socket.once('close', () => {
      this.sockets.delete(socket);
      this.silent.delete(socket);
    });
  }

  /** Cuts off whoever has not answered since the last time, and asks the others. */
  beat(): void {
    for (const [socket, isExcused] of this.sockets) {
      if (isExcused()) this.silent.delete(socket);
      else if (this.silent.has(socket)) socket.terminate();
      else {
        this.silent.add(socket);
        socket.ping();
      }
    }
  }
}

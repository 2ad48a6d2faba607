import type { Server } from 'node:http';
import type { Socket } from 'node:net';

interface Use {
  /** Requests whose answers are not sent yet. */
  answering: number;
  /** What had been read when the last answer was sent: more is the beginning of a request. */
  readBytes: number;
}

/** The connections of an HTTP server, so that each ends after an answer: not within one, and not within a request. */
export class Connections {
  private readonly uses = new Map<Socket, Use>();
  private ending = false;

  private constructor(private readonly server: Server) {}

  /** From its first connection on. */
  static follow(server: Server): void {
    new Connections(server).listen();
  }

  private listen(): void {
    const { server } = this;
    server.on('connection', (socket: Socket) => {
      this.uses.set(socket, { answering: 0, readBytes: 0 });
      socket.once('close', () => this.uses.delete(socket));
    });
    server.prependListener('request', ({ socket }, response) => {
      const use = this.uses.get(socket);
      if (!use) return;
      use.answering += 1;
      response.once('close', () => this.answered(socket, use));
    });
    // Node's own, which `close` calls, cuts an answer that is written but not sent.
    server.closeIdleConnections = () => this.end();
  }

  /**
   * Ends the connections that are between two requests, and from here on the others after their answers. The first
   * request of a new one is on its way.
   */
  private end(): void {
    this.ending = true;
    for (const [socket, { answering, readBytes }] of this.uses)
      if (answering === 0 && readBytes > 0 && socket.bytesRead === readBytes) socket.destroySoon();
  }

  private answered(socket: Socket, use: Use): void {
    use.answering -= 1;
    use.readBytes = socket.bytesRead;
    if (this.ending && use.answering === 0) socket.destroySoon();
  }
}

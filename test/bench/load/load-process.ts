import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { OpenedSessions } from './mcp-sessions.js';
import type { Burst, LoadReply, LoadRequest, Returned } from './messages.js';
import type { Answer, ShotSet } from './shots.js';

const worker = fileURLToPath(new URL('./worker.ts', import.meta.url));
const hooks = new URL('../source-names.mjs', import.meta.url).href;

const SESSION_CONNECTIONS = 16;

interface Waiting {
  readonly resolve: (reply: LoadReply) => void;
  readonly reject: (error: Error) => void;
}

/** A set of shots that is ready to be fired. */
export interface Armed {
  fire(connections: number, forMs: number): Promise<Burst>;
  /** The answer of one shot, parsed. */
  ask(index: number): Promise<Answer>;
  close(): Promise<void>;
}

/** The process that makes the load, seen from the one that coordinates. */
export class LoadProcess implements AsyncDisposable {
  private readonly child: ChildProcess;
  private readonly waiting = new Map<number, Waiting>();
  private sent = 0;

  constructor(nodeOptions: readonly string[] = []) {
    this.child = fork(worker, {
      execArgv: [...nodeOptions, '--disable-warning=ExperimentalWarning', '--import', hooks],
      serialization: 'advanced',
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    this.child.on('message', (returned: Returned) => this.settle(returned));
    this.child.on('exit', (code, signal) => this.fail(new Error(`The load process ended (${signal ?? code})`)));
    this.child.on('error', (error) => this.fail(error));
  }

  get pid(): number | undefined {
    return this.child.pid;
  }

  async arm(set: ShotSet): Promise<Armed> {
    const gun = (await this.ask<{ gun: number }>({ kind: 'open', set })).gun;
    return {
      fire: async (connections, forMs) =>
        (await this.ask<{ burst: Burst }>({ kind: 'fire', gun, connections, forMs })).burst,
      ask: async (index) => (await this.ask<{ answer: Answer }>({ kind: 'ask', gun, index })).answer,
      close: async () => void (await this.ask({ kind: 'close', gun })),
    };
  }

  /** Opens MCP sessions and keeps them. */
  async openSessions(endpoint: { url: string; token: string }, count: number): Promise<OpenedSessions> {
    const request = { kind: 'open-sessions', ...endpoint, count, connections: SESSION_CONNECTIONS } as const;
    return (await this.ask<{ opened: OpenedSessions }>(request)).opened;
  }

  /** Opens the stream of each session. */
  async listenOnSessions(): Promise<void> {
    await this.ask({ kind: 'listen-on-sessions' });
  }

  async endSessions(): Promise<void> {
    await this.ask({ kind: 'end-sessions' });
  }

  async close(): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const ended = once(this.child, 'exit');
    this.child.disconnect();
    await ended;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  private ask<R extends LoadReply>(request: LoadRequest): Promise<R> {
    const id = ++this.sent;
    return new Promise<R>((resolve, reject) => {
      this.waiting.set(id, { resolve: (reply) => resolve(reply as R), reject });
      this.child.send({ id, request }, (error) => error && this.fail(error));
    });
  }

  private settle({ id, reply, error }: Returned): void {
    const waiting = this.waiting.get(id);
    this.waiting.delete(id);
    if (error === undefined) waiting?.resolve(reply ?? null);
    else waiting?.reject(new Error(error));
  }

  private fail(error: Error): void {
    for (const { reject } of this.waiting.values()) reject(error);
    this.waiting.clear();
  }
}

import { setTimeout as sleep } from 'node:timers/promises';
import { expectFree, freePort } from '../ports.js';
import { removeFolder } from '../temp.js';
import { endChild, type ServerChild, signalChild, waitUntilReady } from './child.js';
import type { TestServer } from './server.js';

export interface LocalServerSpec {
  name: string;
  /** The run's folder, removed by `stop`. */
  folder: string;
  /** A port that must be had; otherwise a free one is tried until it is got. */
  port?: number;
  urlOf: (port: number) => string;
  launch: (port: number) => ServerChild;
  /** True once the server does its work. */
  probe: (port: number) => Promise<boolean>;
  stopSignal: NodeJS.Signals;
  readyWithinMs: number;
  pauseMs: number;
}

const restartAttempts = 20;

class LocalServer implements TestServer {
  readonly port: number;
  private readonly spec: LocalServerSpec;
  private child: ServerChild;

  constructor(spec: LocalServerSpec, port: number) {
    this.spec = spec;
    this.port = port;
    this.child = spec.launch(port);
  }

  get url(): string {
    return this.spec.urlOf(this.port);
  }

  ready(): Promise<void> {
    const { name: server, readyWithinMs: withinMs, pauseMs, probe } = this.spec;
    return waitUntilReady(this.child, { server, withinMs, pauseMs, probe: () => probe(this.port) });
  }

  kill(signal: NodeJS.Signals): Promise<void> {
    return signalChild(this.child, signal);
  }

  async restart(): Promise<void> {
    await endChild(this.child, 'SIGINT');
    // A killed PostgreSQL leaves children that notice within moments; until then it refuses to start on the same data.
    for (let attempt = 1; ; attempt++) {
      this.child = this.spec.launch(this.port);
      try {
        await this.ready();
        return;
      } catch (error) {
        if (attempt === restartAttempts) throw error;
        await sleep(100);
      }
    }
  }

  end(): Promise<void> {
    return endChild(this.child, this.spec.stopSignal);
  }

  async stop(): Promise<void> {
    await this.end();
    removeFolder(this.spec.folder);
  }
}

async function startOnce(spec: LocalServerSpec): Promise<TestServer> {
  const port = spec.port ?? (await freePort());
  await expectFree(port);
  const server = new LocalServer(spec, port);
  try {
    await server.ready();
    return server;
  } catch (error) {
    await server.end();
    throw error;
  }
}

/**
 * Starts the program and waits until it answers. Its folder is removed when it does not.
 * @throws Error with the end of the server's log, or EADDRINUSE for a `port` that is taken
 */
export async function startLocalServer(spec: LocalServerSpec): Promise<TestServer> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await startOnce(spec);
    } catch (error) {
      // Somebody may have taken the free port between the choice and the start.
      const again = attempt < 3 && spec.port === undefined && /address already in use/i.test(String(error));
      if (again) continue;
      removeFolder(spec.folder);
      throw error;
    }
  }
}

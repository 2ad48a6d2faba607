import { type ServerName, urlVariable } from './missing.js';

/** A server for tests: private unless the environment names one. */
export interface TestServer {
  /** Without credentials, except for PostgreSQL. */
  readonly url: string;
  readonly port: number;
  /** Ends the server and removes its data. A second call does nothing. */
  stop(): Promise<void>;
  /** Sends a signal to the server and, where it is one that ends it, waits for that. The data stays for `restart`. */
  kill(signal: NodeJS.Signals): Promise<void>;
  /** Ends the server if it runs, and starts it again on the same port with the same data and settings. */
  restart(): Promise<void>;
}

/**
 * A server that somebody else runs: its life is not ours to end.
 * @throws Error from `kill` and `restart`: the spec must ask for a server of its own
 */
export function externalServer(url: string, server: ServerName): TestServer {
  const refuse = async (): Promise<void> => {
    throw new Error(
      `${urlVariable(server)} names this ${server}; a spec that ends it must start one of its own ({ own: true })`,
    );
  };
  return { url, port: Number(new URL(url).port), stop: async () => undefined, kill: refuse, restart: refuse };
}

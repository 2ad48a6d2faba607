import type { Client, SFTPWrapper } from 'ssh2';

type Done<T> = (error: Error | null | undefined, value: T) => void;
export type Request<T> = (sftp: SFTPWrapper, done: Done<T>) => unknown;

/** One connection to the server. Handles of open files belong to it: in another one the same handle is another file. */
export class SftpSession {
  private readonly waiting = new Set<(error: Error) => void>();
  private isBroken = false;

  constructor(
    readonly client: Client,
    private readonly sftp: SFTPWrapper,
  ) {
    client.once('close', () => {
      this.isBroken = true;
      for (const fail of this.waiting) fail(broken());
    });
  }

  /** @throws what the server answers; Error when the connection breaks, whose requests nobody answers */
  async ask<T>(send: Request<T>): Promise<T> {
    if (this.isBroken) throw broken();
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    this.waiting.add(reject);
    try {
      send(this.sftp, (error, value) => (error ? reject(error) : resolve(value)));
      return await promise;
    } finally {
      this.waiting.delete(reject);
    }
  }
}

function broken(): Error {
  return new Error('The connection to the server broke');
}

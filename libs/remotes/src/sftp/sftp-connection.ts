import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import ssh2, { type Client, type ConnectConfig, type SFTPWrapper } from 'ssh2';
import { RemoteFailure } from '../port/index.js';
import { SftpSession } from './sftp-session.js';

const CONNECT_MS = 15_000;
const KEEPALIVE_MS = 10_000;
const KEEPALIVES = 3;
const BACK_OFF_MS = { first: 100, most: 30_000 } as const;

export interface SftpConfig {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  readonly login: { readonly privateKey: string; readonly passphrase?: string } | { readonly password: string };
  /** `SHA256:…` of the server's key, as `ssh-keygen -l` tells it. A server with another key is never spoken to. */
  readonly hostKey: string;
  /** Absolute path of the folder on the server. */
  readonly root: string;
}

/** One connection that all calls share; a broken one is made again by the next call, at growing intervals. */
export class SftpConnection implements AsyncDisposable {
  private current: Promise<SftpSession> | null = null;
  private failures = 0;
  private mayTryAtMs = 0;

  constructor(private readonly config: SftpConfig) {}

  /** @throws RemoteFailure `unavailable`; `forbidden` for a refused login and for a server with another key */
  session(): Promise<SftpSession> {
    this.current ??= this.open();
    return this.current;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const session = await this.current?.catch(() => null);
    this.current = null;
    if (!session) return;
    const closed = once(session.client, 'close');
    session.client.end();
    session.client.destroy();
    await closed;
  }

  private async open(): Promise<SftpSession> {
    try {
      this.mustNotHurry();
      const session = await this.connected();
      this.failures = 0;
      session.client.once('close', () => this.forget());
      return session;
    } catch (error) {
      this.forget();
      throw error;
    }
  }

  private forget(): void {
    this.current = null;
  }

  private mustNotHurry(): void {
    const waitMs = this.mayTryAtMs - performance.now();
    if (waitMs <= 0) return;
    throw new RemoteFailure('unavailable', { path: '', retryAfterSeconds: Math.ceil(waitMs / 1_000) });
  }

  private async connected(): Promise<SftpSession> {
    const client = new ssh2.Client();
    const refused = { hostKey: false };
    try {
      const sock = await openSocket(this.config);
      client.connect(this.options(sock, refused));
      await ready(client);
      client.on('error', () => client.destroy());
      return new SftpSession(client, await subsystem(client));
    } catch (error) {
      client.on('error', () => undefined);
      client.destroy();
      throw this.failure(error, refused.hostKey);
    }
  }

  private options(sock: Socket, refused: { hostKey: boolean }): ConnectConfig {
    const { user, login, hostKey } = this.config;
    return {
      sock,
      username: user,
      ...login,
      readyTimeout: CONNECT_MS,
      keepaliveInterval: KEEPALIVE_MS,
      keepaliveCountMax: KEEPALIVES,
      hostVerifier: (key: Buffer) => {
        refused.hostKey = fingerprint(key) !== hostKey;
        return !refused.hostKey;
      },
    };
  }

  private failure(error: unknown, isOtherServer: boolean): RemoteFailure {
    const isRefused = isOtherServer || (error as { level?: string }).level === 'client-authentication';
    this.mayTryAtMs = performance.now() + Math.min(BACK_OFF_MS.first * 2 ** this.failures, BACK_OFF_MS.most);
    this.failures += 1;
    return new RemoteFailure(isRefused ? 'forbidden' : 'unavailable', { path: '' }, { cause: error });
  }
}

function fingerprint(key: Buffer): string {
  return `SHA256:${createHash('sha256').update(key).digest('base64').replace(/=+$/, '')}`;
}

/** A socket of ours: the client's own waits for full packets, which costs most of the speed. */
async function openSocket({ host, port }: SftpConfig): Promise<Socket> {
  const socket = connect({ host, port });
  socket.setNoDelay(true);
  try {
    await once(socket, 'connect', { signal: AbortSignal.timeout(CONNECT_MS) });
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  }
}

/** @throws Error also for a connection that ends without one */
function ready(client: Client): Promise<void> {
  return new Promise((resolve, reject) => {
    client.once('ready', resolve);
    client.once('error', reject);
    client.once('close', () => reject(new Error('the connection was closed')));
  });
}

function subsystem(client: Client): Promise<SFTPWrapper> {
  return new Promise((resolve, reject) => {
    client.once('close', () => reject(new Error('the connection was closed')));
    client.sftp((error, sftp) => (error ? reject(error) : resolve(sftp)));
  });
}

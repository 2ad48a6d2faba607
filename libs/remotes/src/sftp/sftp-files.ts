import type { Attributes, FileEntryWithStats, Stats } from 'ssh2';
import type { SftpConnection } from './sftp-connection.js';
import { STATUS, statusOf } from './sftp-failure.js';
import type { Request, SftpSession } from './sftp-session.js';

const PIECE_BYTES = 32_768;
/** Requests of one content that are under way at once: a megabyte. */
const WINDOW = 32;

/** An open file, of one session alone. */
export interface SftpHandle {
  readonly id: Buffer;
  readonly session: SftpSession;
}

/** The requests of the protocol as promises. Each rejects when the connection breaks. */
export class SftpFiles {
  constructor(private readonly connection: SftpConnection) {}

  async lstat(path: string): Promise<Stats | null> {
    try {
      return await this.ask<Stats>((sftp, done) => sftp.lstat(path, done));
    } catch (error) {
      if (statusOf(error) === STATUS.noSuchFile) return null;
      throw error;
    }
  }

  names(folder: string): Promise<FileEntryWithStats[]> {
    return this.ask((sftp, done) => sftp.readdir(folder, done));
  }

  async open(path: string, flags: 'r' | 'r+' | 'wx'): Promise<SftpHandle> {
    const session = await this.connection.session();
    return { id: await session.ask<Buffer>((sftp, done) => sftp.open(path, flags, done)), session };
  }

  fstat({ id, session }: SftpHandle): Promise<Stats> {
    return session.ask((sftp, done) => sftp.fstat(id, done));
  }

  setTimes(path: string, mtime: number): Promise<unknown> {
    const times = { atime: mtime, mtime } as Attributes;
    return this.ask((sftp, done) => sftp.setstat(path, times, (error) => done(error, null)));
  }

  truncate(path: string, size: number): Promise<unknown> {
    return this.ask((sftp, done) => sftp.setstat(path, { size }, (error) => done(error, null)));
  }

  close({ id, session }: SftpHandle): Promise<unknown> {
    return session.ask((sftp, done) => sftp.close(id, (error) => done(error, null)));
  }

  makeFolder(path: string): Promise<unknown> {
    return this.ask((sftp, done) => sftp.mkdir(path, (error) => done(error, null)));
  }

  removeFolder(path: string): Promise<unknown> {
    return this.ask((sftp, done) => sftp.rmdir(path, (error) => done(error, null)));
  }

  unlink(path: string): Promise<unknown> {
    return this.ask((sftp, done) => sftp.unlink(path, (error) => done(error, null)));
  }

  /** Never replaces anything. */
  rename(from: string, to: string): Promise<unknown> {
    return this.ask((sftp, done) => sftp.rename(from, to, (error) => done(error, null)));
  }

  replace(from: string, to: string): Promise<unknown> {
    return this.ask((sftp, done) => sftp.ext_openssh_rename(from, to, (error) => done(error, null)));
  }

  link(from: string, to: string): Promise<unknown> {
    return this.ask((sftp, done) => sftp.ext_openssh_hardlink(from, to, (error) => done(error, null)));
  }

  sync({ id, session }: SftpHandle): Promise<unknown> {
    return session.ask((sftp, done) => sftp.ext_openssh_fsync(id, (error) => done(error, null)));
  }

  /** Whether the disk has room for one more piece, as far as the server tells. */
  async hasRoom(path: string): Promise<boolean> {
    // The types do not say that the answer has these.
    const told = await this.ask<unknown>((sftp, done) => sftp.ext_openssh_statvfs(path, done));
    const { f_bavail, f_frsize } = told as { f_bavail: number; f_frsize: number };
    return f_bavail * f_frsize > PIECE_BYTES * WINDOW;
  }

  /** From an offset on. */
  async write(handle: SftpHandle, bytes: AsyncIterable<Uint8Array> | Iterable<Uint8Array>, offset = 0): Promise<void> {
    const pending: Promise<unknown>[] = [];
    let position = offset;
    for await (const chunk of bytes) {
      for (let start = 0; start < chunk.length; start += PIECE_BYTES) {
        const sent = this.put(handle, Buffer.from(chunk.subarray(start, start + PIECE_BYTES)), position + start);
        // One that fails after another is told by that one.
        sent.catch(() => undefined);
        pending.push(sent);
        if (pending.length >= WINDOW) await pending.shift();
      }
      position += chunk.length;
    }
    await Promise.all(pending);
  }

  async *read(handle: SftpHandle, offset: number, end: number): AsyncGenerator<Uint8Array> {
    const pending: Promise<Buffer>[] = [];
    let next = offset;
    const more = (): void => {
      for (; next < end && pending.length < WINDOW; next += PIECE_BYTES) {
        const piece = this.piece(handle, next, Math.min(PIECE_BYTES, end - next));
        // Whoever stops reading does not wait for these.
        piece.catch(() => undefined);
        pending.push(piece);
      }
    };
    for (more(); pending.length > 0; more()) yield (await pending.shift()) ?? Buffer.alloc(0);
  }

  private put({ id, session }: SftpHandle, piece: Buffer, position: number): Promise<unknown> {
    return session.ask((sftp, done) => sftp.write(id, piece, 0, piece.length, position, (error) => done(error, null)));
  }

  /** A server may answer less than was asked for; only an end of the file makes a piece short. */
  private async piece({ id, session }: SftpHandle, position: number, length: number): Promise<Buffer> {
    const buffer = Buffer.allocUnsafe(length);
    let filled = 0;
    while (filled < length) {
      const at = filled;
      const read = await session.ask<number>((sftp, done) =>
        sftp.read(id, buffer, at, length - at, position + at, (error, count) => done(error, count)),
      );
      if (read === 0) break;
      filled += read;
    }
    return buffer.subarray(0, filled);
  }

  private async ask<T>(send: Request<T>): Promise<T> {
    return (await this.connection.session()).ask(send);
  }
}

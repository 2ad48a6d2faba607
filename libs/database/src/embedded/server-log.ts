import { appendFileSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { keepOwner } from './places.js';

const rotateAtBytes = 5 * 1024 * 1024;
const keptChars = 16_384;

/** What the server writes: its end in memory, all of it in `server.log`, of which one predecessor is kept. */
export class ServerLog {
  private readonly folder: string;
  private readonly onLine: (line: string) => void;
  private kept = '';
  private partial = '';
  private sizeBytes: number;

  constructor(folder: string, onLine: (line: string) => void) {
    this.folder = folder;
    this.onLine = onLine;
    this.sizeBytes = statSync(this.file, { throwIfNoEntry: false })?.size ?? 0;
  }

  write(chunk: string): void {
    this.kept = (this.kept + chunk).slice(-keptChars);
    const lines = (this.partial + chunk).split('\n');
    this.partial = lines.pop() ?? '';
    for (const line of lines) this.onLine(line);
    this.save(chunk);
  }

  tail(): string {
    return this.kept;
  }

  private get file(): string {
    return join(this.folder, 'server.log');
  }

  private save(chunk: string): void {
    try {
      if (this.sizeBytes > rotateAtBytes) {
        renameSync(this.file, `${this.file}.old`);
        this.sizeBytes = 0;
      }
      appendFileSync(this.file, chunk, { mode: 0o600 });
      if (this.sizeBytes === 0) keepOwner(this.folder, this.file);
      this.sizeBytes += Buffer.byteLength(chunk);
    } catch (error) {
      // A full disk must not end the process that keeps the server; the end of the log stays in memory.
      this.kept += `\n(server.log: ${(error as Error).message})\n`;
    }
  }
}

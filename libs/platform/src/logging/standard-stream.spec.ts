import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { StandardStream } from './standard-stream.js';

let folder: string;
let fd: number;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'workspace-stream-'));
  fd = openSync(join(folder, 'log'), 'w');
});
afterEach(() => rmSync(folder, { recursive: true }));

const written = (): string => readFileSync(join(folder, 'log'), 'utf8');
const numbered = (count: number): string[] => Array.from({ length: count }, (_, index) => `line ${index}\n`);

describe('the stream of the log', () => {
  it('collects lines for a moment and writes them in their order', async () => {
    const stream = new StandardStream(fd);
    const lines = numbered(5_000);
    for (const line of lines.slice(0, 10)) stream.write(line);
    expect(written()).toBe('');
    for (const line of lines.slice(10)) stream.write(line);
    while (!written().endsWith('line 4999\n')) await sleep(10);
    expect(written()).toBe(lines.join(''));
    closeSync(fd);
  });

  it('writes out at once what is asked to be out', () => {
    const stream = new StandardStream(fd);
    stream.write('the last word\n');
    stream.flush();
    expect(written()).toBe('the last word\n');
    closeSync(fd);
  });

  it('holds nothing up when nobody can read any more [edge.shutdown.graceful]', async () => {
    const stream = new StandardStream(fd);
    closeSync(fd);
    stream.write('unheard\n');
    const startedMs = performance.now();
    stream.flush();
    for (const line of numbered(5_000)) stream.write(line);
    await sleep(100);
    stream.flush();
    expect(performance.now() - startedMs).toBeLessThan(1_000);
  });
});

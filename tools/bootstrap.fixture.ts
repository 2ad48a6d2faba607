import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const tools = dirname(fileURLToPath(import.meta.url));
const fakeBuilder =
  "require('node:fs').appendFileSync('../../builds', 'x'); require('node:fs').mkdirSync('dist', { recursive: true });";

/** A small checkout with this bootstrap, one package that counts its builds, and tasks that do nothing. */
export class Checkout {
  readonly root = mkdtempSync(join(tmpdir(), 'bootstrap-'));

  constructor() {
    cpSync(tools, this.path('tools'), { recursive: true });
    this.write('package.json', JSON.stringify({ workspaces: ['libs/*'], dependencies: { node: '24.0.0' } }));
    this.write('libs/one/package.json', JSON.stringify({ name: 'one', scripts: { build: 'node build.cjs' } }));
    this.write('libs/one/build.cjs', fakeBuilder);
    this.write('libs/one/src/index.ts', '');
    this.write('tools/run-tests.mjs', '');
    this.write('apps/device-agent/bin/svc.mjs', '');
  }

  path(file: string): string {
    return join(this.root, file);
  }

  has(file: string): boolean {
    return existsSync(this.path(file));
  }

  read(file: string): string {
    return readFileSync(this.path(file), 'utf8');
  }

  write(file: string, text: string): void {
    mkdirSync(dirname(this.path(file)), { recursive: true });
    writeFileSync(this.path(file), text);
  }

  remove(file: string): void {
    rmSync(this.path(file), { recursive: true });
  }

  start(args: string[], env: NodeJS.ProcessEnv = {}): ChildProcess {
    const own = { ...process.env, NODE_OPTIONS: '', npm_lifecycle_event: undefined, ...env };
    return spawn(process.execPath, [this.path('tools/bootstrap.mjs'), ...args], { env: own, detached: true });
  }

  builds(): number {
    return this.has('builds') ? this.read('builds').length : 0;
  }
}

export async function finish(child: ChildProcess): Promise<{ code: number | null; output: string }> {
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (output += String(chunk)));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output };
}

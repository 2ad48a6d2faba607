import { execFile } from 'node:child_process';
import {
  chmodSync,
  createReadStream,
  createWriteStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { createBrotliDecompress } from 'node:zlib';
import { findServer } from '../servers/binaries.js';

const run = promisify(execFile);
const require = createRequire(import.meta.url);

/** A program that shows pages, and what it needs in its environment. */
export interface Chromium {
  readonly program: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** In the npm package, each compressed: the browser, what draws without a graphics card, and libraries that servers lack. */
const PROGRAM = 'chromium.br';
const ARCHIVES = ['swiftshader.tar.br', 'al2023.tar.br'];

/**
 * An installed Chromium, else the one that an npm package carries, unpacked once for each version.
 * @throws Error that says what to install, where neither is for this machine
 */
export async function findChromium(): Promise<Chromium> {
  const installed = findServer('chromium', 'chromium-browser', 'google-chrome');
  if (installed !== undefined) return { program: installed, environment: {} };
  if (process.platform !== 'linux' || process.arch !== 'x64')
    throw new Error('The tests of the page need Chromium and found none. Install it (apt-get install chromium).');
  const home = join(dirname(require.resolve('@sparticuz/chromium')), '..');
  const { version } = require(join(home, 'package.json')) as { version: string };
  const cache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'workspace-graph', 'servers');
  const folder = join(cache, `chromium-${version}`);
  if (!existsSync(folder)) await unpackInto(folder, join(home, 'bin'));
  const libraries = [join(folder, 'al2023', 'lib'), process.env['LD_LIBRARY_PATH']].filter(Boolean).join(':');
  return { program: join(folder, 'chromium'), environment: { LD_LIBRARY_PATH: libraries } };
}

/** Beside its place and renamed into it, so that two runs at once never see half of it. */
async function unpackInto(folder: string, packed: string): Promise<void> {
  mkdirSync(dirname(folder), { recursive: true });
  const draft = mkdtempSync(`${folder}.`);
  try {
    await expand(join(packed, PROGRAM), join(draft, 'chromium'));
    chmodSync(join(draft, 'chromium'), 0o755);
    for (const archive of ARCHIVES) await expandArchive(packed, archive, draft);
    if (!existsSync(folder)) renameSync(draft, folder);
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

async function expandArchive(packed: string, archive: string, draft: string): Promise<void> {
  const file = join(draft, archive.replace('.br', ''));
  await expand(join(packed, archive), file);
  // What draws is looked for beside the program, libraries are told by a path of their own.
  const target = archive.startsWith('al2023') ? join(draft, 'al2023') : draft;
  mkdirSync(target, { recursive: true });
  await run('tar', ['-xf', file, '-C', target]);
  rmSync(file);
}

function expand(from: string, to: string): Promise<void> {
  return pipeline(createReadStream(from), createBrotliDecompress(), createWriteStream(to));
}

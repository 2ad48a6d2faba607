import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const SCRIPT = join(import.meta.dirname, 'images.mjs');
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'workspace-images-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Runs the command where no program is installed. */
function run(...args: string[]) {
  const env = { PATH: folder, HOME: folder, XDG_CACHE_HOME: folder };
  return spawnSync(process.execPath, [SCRIPT, ...args], { env, encoding: 'utf8' });
}

describe('npm run images', () => {
  it('fails and says what it needs where images cannot be built, and leaves nothing', () => {
    const { status, stdout, stderr } = run();
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(
      process.platform === 'linux'
        ? /^No image was built: this machine has no buildah, .*: on Debian, apt-get install buildah debootstrap\.$/m
        : /^No image was built: images without Docker need Linux\.$/m,
    );
    expect(readdirSync(folder)).toEqual([]);
  });

  it('says how it is used, and what it does not understand', () => {
    expect(run('--help')).toMatchObject({ status: 0, stdout: expect.stringMatching(/^Usage: npm run images/) });
    expect(run('--frech')).toMatchObject({ status: 1, stderr: expect.stringContaining('--frech') });
  });
});

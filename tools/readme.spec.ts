import { execFile } from 'node:child_process';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const root = dirname(dirname(fileURLToPath(import.meta.url)));

describe('the commands of README.md', () => {
  it('run as they are written, from the first start to the export [cli.start.newcomer]', async () => {
    const command = [join(root, 'tools/check-docs.mjs'), '--run', 'README.md'];
    const { stdout } = await run(process.execPath, command, { env: { ...process.env, NODE_OPTIONS: '' } });
    expect(stdout).toMatch(/\d+ blocks of README.md ran, 0 problems/);
  }, 240_000);
});

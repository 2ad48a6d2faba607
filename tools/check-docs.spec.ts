import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const checker = fileURLToPath(new URL('./check-docs.mjs', import.meta.url));
const server = "require('node:http').createServer((_, r) => r.end('ok')).listen(process.env.SVC_PORT, '127.0.0.1')";
let root: string;

function write(file: string, text: string): void {
  mkdirSync(dirname(join(root, file)), { recursive: true });
  writeFileSync(join(root, file), text);
}

async function check(...args: string[]): Promise<{ code: number; output: string }> {
  const command = [checker, '--root', root, ...args];
  try {
    const { stdout } = await run(process.execPath, command, { env: { ...process.env, NODE_OPTIONS: '' } });
    return { code: 0, output: stdout };
  } catch (error) {
    const { code, stdout } = error as { code: number; stdout: string };
    return { code, output: stdout };
  }
}

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'documents-'));
  write('package.json', JSON.stringify({ scripts: { svc: 'true' } }));
  write('docs/goals.md', '# Goals\n');
});

afterEach(() => rmSync(root, { recursive: true }));

describe('what the documents name', () => {
  it('passes when all of it exists', async () => {
    write(
      'README.md',
      'See [goals](docs/goals.md#first), `docs/goals.md`, `docs/<name>.md`, https://example.org and `npm run svc`.\n',
    );
    write('docs/adr/001-a.md', 'Back to [goals](../goals.md).\n');
    expect(await check()).toEqual({ code: 0, output: '0 wrong references in 3 documents\n' });
  });

  it('is told with document and line when it does not', async () => {
    write('README.md', '\nSee [gone](docs/gone.md).\n\n`libs/nothing/src/index.ts`\n\nnpm run nonsense\n');
    expect(await check()).toEqual({
      code: 1,
      output: [
        'README.md:2 names docs/gone.md, which does not exist',
        'README.md:4 names libs/nothing/src/index.ts, which does not exist',
        'README.md:6 names npm run nonsense, which package.json lacks',
        '3 wrong references in 2 documents\n',
      ].join('\n'),
    });
  });
});

describe('runnable blocks', () => {
  it('run in one session against what the first of them starts, on a free port', async () => {
    const start = `\`\`\`sh run=start\nexec ${process.execPath} -e "${server}"\n\`\`\`\n`;
    const use =
      '```sh run\nexport WORD=hello\n```\n\n```sh run\ntest "$(curl -s http://127.0.0.1:4011/)$WORD" = okhello\n```\n';
    write('README.md', start + use);
    expect(await check('--run', 'README.md')).toEqual({ code: 0, output: '3 blocks of README.md ran, 0 problems\n' });
  });

  it('fail when a command fails, even in the middle of a block', async () => {
    write('README.md', '```sh run\nfalse\ntrue\n```\n');
    const { code, output } = await check('--run', 'README.md');
    expect(code).toBe(1);
    expect(output).toContain('a command ended with code 1');
  });

  it('fail when what they start ends by itself, and ignore blocks without the mark', async () => {
    write('README.md', '```sh run=start\nexit 3\n```\n\n```sh\nfalse\n```\n');
    expect((await check('--run', 'README.md')).output).toContain('line 1: it ended with code 3 before it was ready');
  });
});

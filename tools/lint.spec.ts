import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const repository = fileURLToPath(new URL('..', import.meta.url));
let root: string;

function write(file: string, text: string): void {
  mkdirSync(dirname(join(root, file)), { recursive: true });
  writeFileSync(join(root, file), text);
}

async function lint(...args: string[]): Promise<{ passed: boolean; output: string }> {
  const command = [join(repository, 'tools/lint.mjs'), '--root', root, ...args];
  try {
    const { stdout, stderr } = await run(process.execPath, command, { env: { ...process.env, NODE_OPTIONS: '' } });
    return { passed: true, output: stdout + stderr };
  } catch (error) {
    const { stdout, stderr } = error as { stdout: string; stderr: string };
    return { passed: false, output: stdout + stderr };
  }
}

beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'lint-'));
  for (const file of ['biome.json', '.oxlintrc.json', 'tsconfig.json', '.gitignore'])
    copyFileSync(join(repository, file), join(root, file));
  symlinkSync(join(repository, 'node_modules'), join(root, 'node_modules'));
  write('libs/contracts/src/index.ts', 'export const one = 1;\n');
});

afterEach(() => rmSync(root, { recursive: true }));

/** What is planted, the rule that must name it, and the source. */
const faults: [string, string, string][] = [
  ['any', 'noExplicitAny', 'export const value: any = 1;\n'],
  ['own-promise', 'noFloatingPromises', 'async function one(): Promise<void> {}\none();\n'],
  ['package-promise', 'no-floating-promises', "import { readFile } from 'node:fs/promises';\n\nreadFile('x');\n"],
  ['empty-catch', 'noEmptyBlockStatements', 'try {\n  globalThis.gc?.();\n} catch {}\n'],
  [
    'switch',
    'switch-exhaustiveness-check',
    "declare const kind: 'a' | 'b';\nswitch (kind) {\n  case 'a':\n    break;\n}\n",
  ],
  ['parameters', 'useMaxParams', 'export const f = (a: 1, b: 1, c: 1, d: 1, e: 1): number[] => [a, b, c, d, e];\n'],
  ['environment', 'noProcessEnv', 'export const home = process.env.HOME;\n'],
  ['spreading-any', 'no-unsafe-assignment', "export const parsed: string = JSON.parse('1');\n"],
  ['form', 'format', 'export const  two=2\n'],
  ['focused.spec', 'noFocusedTests', "it.only('runs alone', () => expect(1).toBe(1));\n"],
];

describe('the linters', () => {
  it('pass a clean tree', async () => {
    expect(await lint()).toMatchObject({ passed: true });
  });

  it('name every planted fault', async () => {
    for (const [name, , source] of faults) write(`libs/contracts/src/${name}.ts`, source);
    const { passed, output } = await lint();
    expect(passed).toBe(false);
    const caught = faults.filter(([name, rule]) =>
      new RegExp(`${name}\\.ts.*${rule}|${rule}.*\\n.*${name}\\.ts`).test(output),
    );
    expect(caught.map(([name]) => name)).toEqual(faults.map(([name]) => name));
  });

  it('keep the value imports that Nest needs to inject a constructor’s parameters', async () => {
    const file = 'libs/services/graph/src/planted.ts';
    const source =
      "import { Reflector } from '@nestjs/core';\n\nexport class Planted {\n  constructor(readonly reflector: Reflector) {}\n}\n";
    write(file, source);
    await lint('--write');
    expect(readFileSync(join(root, file), 'utf8')).toBe(source);
  });
});

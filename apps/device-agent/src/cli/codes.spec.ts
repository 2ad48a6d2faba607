import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ERRORS } from '@workspace-graph/contracts';
import { CLI_CODES, REMEDIES } from './codes.js';

const SOURCES = join(import.meta.dirname, '..');
const PAGE = join(import.meta.dirname, '../../../../docs/command.md');

function sourcesBut(exclude: string): string {
  const files = globSync('**/*.ts', { cwd: SOURCES, exclude: ['**/*.spec.ts', exclude] });
  return files.map((file) => readFileSync(join(SOURCES, file), 'utf8')).join('\n');
}

describe('the texts of the command', () => {
  it('speak of commands: none names an HTTP method with a path, or what belongs to requests', () => {
    const calls = /\b(?:GET|HEAD|POST|PUT|PATCH|DELETE) +\/[\w{$-]/g;
    expect(sourcesBut('testing/**').match(calls)).toBeNull();
    const remedies = Object.entries({ ...remediesOfRequests(), ...REMEDIES }).map(([, remedy]) => remedy);
    expect(
      remedies.filter((remedy) => calls.test(remedy) || /\bheader|Retry-After|\brequest again/i.test(remedy)),
    ).toEqual([]);
  });

  /** What the workspace says where the command has no words of its own. Not met by a command: they send no such request. */
  function remediesOfRequests(): Record<string, string> {
    const unmet = ['METHOD_NOT_ALLOWED', 'HEADERS_TOO_LARGE', 'UPGRADE_REQUIRED', 'NOT_ACCEPTABLE'];
    const met = Object.entries(ERRORS).filter(([code]) => !unmet.includes(code));
    return Object.fromEntries(met.map(([code, { remedy }]) => [code, remedy]));
  }
});

describe('the codes of the command', () => {
  it('are the ones in docs/command.md, each with its exit code', () => {
    const rows = [...readFileSync(PAGE, 'utf8').matchAll(/^\| `([A-Z_]+)` \| (\d) \| (.+) \|$/gm)];

    expect(rows.map(([, code, exit, meaning]) => [code, { exit: Number(exit), meaning }])).toEqual(
      Object.entries(CLI_CODES),
    );
  });

  it('are all used', () => {
    const text = sourcesBut('**/codes.ts');

    expect(Object.keys(CLI_CODES).filter((code) => !text.includes(`'${code}'`))).toEqual([]);
  });
});

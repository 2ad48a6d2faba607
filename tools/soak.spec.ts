import { spawnSync } from 'node:child_process';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const { SEARCHES } = (await import(join(root, 'tools/soak.mjs'))) as {
  SEARCHES: Record<string, { specs: string[]; sizes: Record<string, number | string> }>;
};
const specs = globSync('{libs,test,apps,tools}/**/*.spec.ts', {
  cwd: root,
  exclude: (name) => name === 'node_modules' || name === 'dist',
});

function specsOf(patterns: readonly string[]): string[] {
  return specs.filter((path) => patterns.some((pattern) => new RegExp(pattern).test(path)));
}

/** What the specs of a package, or of the page, have in common. */
function sharedIn(path: string): string[] {
  if (path.startsWith('test/web/')) return ['test/web/language.ts'];
  const [library] = /^libs\/[^/]+/.exec(path) ?? [];
  return library === undefined ? [] : globSync(`${library}/src/conformance/*.conformance.ts`, { cwd: root });
}

function textOf(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

function soak(...args: string[]): { readonly status: number | null; readonly stdout: string } {
  const env = { ...process.env, NODE_OPTIONS: '', SVC_REGISTRY_KILLS: '1' };
  return spawnSync(process.execPath, [join(root, 'tools/soak.mjs'), ...args], { encoding: 'utf8', env });
}

describe('the long random searches', () => {
  it.each(Object.entries(SEARCHES))(
    '%s are spec files that take its sizes or a seed',
    (_name, { specs: patterns, sizes }) => {
      for (const pattern of patterns) expect(specsOf([pattern])).not.toEqual([]);
      const texts = specsOf(patterns)
        .flatMap((path) => [path, ...sharedIn(path)])
        .map(textOf);
      for (const variable of Object.keys(sizes))
        expect(texts.some((text) => text.includes(`'${variable}'`))).toBe(true);
      expect(texts.some((text) => /fast-check|_SEED'|_KILLS'|_PARTS'|_STEPS'|_FILES'/.test(text))).toBe(true);
    },
  );

  it('include every spec that draws from a seed', () => {
    const drawn = specs.filter((path) => /from 'fast-check'|_SEED\b/.test(textOf(path)));
    const searched = specsOf(Object.values(SEARCHES).flatMap(({ specs: patterns }) => patterns));
    expect(drawn.filter((path) => !searched.includes(path) && !path.startsWith('tools/'))).toEqual([]);
  });

  it('begin with the seed that is given, and end when the time is over', () => {
    const { status, stdout } = soak('--only', 'registry', '--seed', '7', '--minutes', '0.001');
    expect([status, stdout]).toEqual([
      0,
      expect.stringMatching(/^== registry, seed 7\n\d+ passed, 0 failed\n1 searches from seed 7 found nothing\n$/),
    ]);
  });

  it.each([
    [['--only', 'nothing'], 'There is no search nothing.'],
    [['--seed', 'x'], '--seed must be'],
    [['--minutes', '0'], '--minutes must be'],
    [['--unknown'], 'Unknown option'],
  ])('refuse %j as wrong usage', (args, reason) => {
    expect(soak(...args)).toMatchObject({ status: 2, stdout: expect.stringContaining(reason) });
  });

  it('tell their options', () => {
    expect(soak('--help')).toMatchObject({ status: 0, stdout: expect.stringContaining('--minutes N') });
  });
});

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const TOOL = join(process.cwd(), 'tools/check-rules.mjs');
const LOOP = 'graph.edges.no-self-loop';
const UNIQUE = 'graph.edges.unique';
const LATER = 'ws.ping';

interface Report {
  problems: string[];
  counts: Record<string, { total: number; cited: number }>;
  unknown: { id: string; file: string }[];
  uncited: { id: string }[];
  inactive: { id: string }[];
}

function rule(id: string, changes: Record<string, unknown> = {}) {
  return { id, part: '2', source: 'spec', text: 'It holds.', since: 'foundation', ...changes };
}

const RULES = [rule(LOOP), rule(UNIQUE), rule(LATER, { since: 'sessions' })];

describe('the check of cited rules', () => {
  let root: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'check-rules-'));
    writeTree({ 'test/rules/milestones.json': '["foundation"]' });
    writeRules(RULES);
  });
  afterEach(() => rmSync(root, { recursive: true, force: true }));

  function writeTree(files: Record<string, string>) {
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(dirname(join(root, name)), { recursive: true });
      writeFileSync(join(root, name), content);
    }
  }
  function writeRules(rules: unknown) {
    writeTree({ 'test/rules/rules.json': JSON.stringify(rules) });
  }
  function run(...args: string[]) {
    return spawnSync(process.execPath, [TOOL, '--root', root, ...args], { encoding: 'utf8' });
  }
  function reportOf(spec: string, name = 'libs/a/a.spec.ts') {
    writeTree({ [name]: spec });
    const { status, stdout } = run('--json');
    return { status, report: JSON.parse(stdout) as Report };
  }
  const idsOf = (items: { id: string }[]) => items.map((item) => item.id);

  it('counts a rule as cited when the title of a test names it', () => {
    const { status, report } = reportOf(`it('refuses a loop [${LOOP}]', () => {});`);
    expect(status).toBe(0);
    expect(idsOf(report.uncited)).toEqual([UNIQUE]);
    expect(report.counts.foundation).toEqual({ total: 2, cited: 1 });
    expect(report.counts.sessions).toEqual({ total: 1, cited: 0 });
  });

  it.each([
    ['a suite', `describe('edges [${LOOP}]', () => { it('x', () => {}); });`],
    ['a list of ids', `it('both [${UNIQUE}, ${LOOP}]', () => {});`],
    ['a table', `it.each([1])('row %i [${LOOP}]', () => {});`],
    ['a tagged table', `it.each\`a\n\${1}\`('row [${LOOP}]', () => {});`],
    ['the property rule of a table', `it.each([{ rule: '${LOOP}' }])('row [$rule]', () => {});`],
    [
      'the variable rule of a loop',
      `for (const rule of table) it(\`x [\${rule}]\`, f); const table = [{ rule: '${LOOP}' }];`,
    ],
    ['a template with values', `it(\`of \${name} [${LOOP}]\`, () => {});`],
    ['a title in two pieces', `it('a long title ' + '[${LOOP}]', () => {});`],
    ['a suite chosen by a condition', `(ready ? describe : describe.skip)('s [${LOOP}]', () => { it('x', f); });`],
    ['a decorated TypeScript file', `@D() class A<T> { constructor(private readonly t: T) {} }\nit('x [${LOOP}]', f);`],
  ])('finds a citation in %s', (_name, spec) => {
    expect(idsOf(reportOf(spec).report.uncited)).not.toContain(LOOP);
  });

  it.each([
    ['a comment', `// it('x [${LOOP}]', f)\n/* it('x [${LOOP}]', f) */`],
    ['another string', `const text = 'x [${LOOP}]'; expect('[${LOOP}]').toBe(1);`],
    ['a skipped test', `it.skip('x [${LOOP}]', f); xit('x [${LOOP}]', f);`],
    ['a test in a skipped suite', `describe.skip('s', () => { it('x [${LOOP}]', f); });`],
    ['a todo', `it.todo('x [${LOOP}]');`],
    ['a test that must fail', `it.failing('x [${LOOP}]', f);`],
    ['a suite without tests', `describe('s [${LOOP}]', () => {});`],
  ])('takes an id in %s for no citation', (_name, spec) => {
    expect(idsOf(reportOf(spec).report.uncited)).toContain(LOOP);
  });

  it('names the rules that only tests which do not run cite', () => {
    expect(idsOf(reportOf(`it.skip('x [${LOOP}]', f);`).report.inactive)).toEqual([LOOP]);
  });

  it('reads shared suites and leaves out other files and built ones', () => {
    const spec = (id: string) => `it('x [${id}]', f);`;
    writeTree({ 'libs/b/src/bus-conformance.ts': spec(LOOP), 'libs/b/src/helper.ts': spec('graph.none') });
    writeTree({ 'libs/b/src/conformance/edges.ts': spec(UNIQUE) });
    const { report } = reportOf(spec('graph.none'), 'libs/b/dist/b.spec.ts');
    expect(report.uncited).toEqual([]);
    expect(report.unknown).toEqual([]);
  });

  it('fails on a cited id that does not exist and names the file', () => {
    const { status, report } = reportOf(`it('x [graph.edges.invented]', f);`);
    expect(status).toBe(1);
    expect(report.unknown).toEqual([
      { id: 'graph.edges.invented', file: 'libs/a/a.spec.ts', title: 'x [graph.edges.invented]' },
    ]);
    expect(run().stdout).toContain('graph.edges.invented — libs/a/a.spec.ts');
  });

  it('does not take other brackets in titles for ids', () => {
    const { status, report } = reportOf(`it('sorts [1, 2] and [a] of [x y] [${LOOP}]', f);`);
    expect(status).toBe(0);
    expect(report.unknown).toEqual([]);
  });

  it('fails on an uncited rule of a reached milestone with --strict only', () => {
    writeTree({ 'a.spec.ts': `it('x [${LOOP}]', f);` });
    expect(run().status).toBe(0);
    expect(run().stdout).toContain(`${UNIQUE} — It holds.`);
    expect(run('--strict').status).toBe(1);
    writeTree({ 'b.spec.ts': `it('x [${UNIQUE}]', f);` });
    expect(run('--strict').status).toBe(0);
  });

  it.each([
    ['a repeated id', [rule(LOOP), rule(LOOP)], 'more than once'],
    ['an unknown field', [rule(LOOP, { note: 'x' })], 'unknown field "note"'],
    ['a missing field', [rule(LOOP, { text: undefined })], '"text" must be'],
    ['an unknown area', [rule('nowhere.rule')], 'must begin with one of'],
    ['an id that is not kebab-case', [rule('graph.Edges')], 'kebab-case'],
    ['an unknown source', [rule(LOOP, { source: 'rumour' })], 'source must be'],
    ['an unknown milestone', [rule(LOOP, { since: 'someday' })], 'since must be'],
    ['something else than a list', { rules: [] }, 'must hold an array'],
  ])('refuses a rules file with %s', (_name, rules, problem) => {
    writeRules(rules);
    const { status, stdout } = run('--json');
    expect(status).toBe(1);
    expect((JSON.parse(stdout) as Report).problems.join('\n')).toContain(problem);
  });

  it('says which file cannot be read', () => {
    writeTree({ 'test/rules/rules.json': '[' });
    const { status, stderr } = run();
    expect(status).toBe(1);
    expect(stderr).toContain(join('test', 'rules', 'rules.json'));
  });

  it('explains itself and refuses unknown options', () => {
    expect(run('--help').stdout).toContain('--strict');
    expect(run('--sloppy').status).toBe(2);
  });
});

describe('the rules of this repository', () => {
  it('are sound and no test cites one that does not exist', () => {
    const { status, stdout } = spawnSync(process.execPath, [TOOL, '--json'], { encoding: 'utf8' });
    const report = JSON.parse(stdout) as Report;
    expect(report.problems).toEqual([]);
    expect(report.unknown).toEqual([]);
    expect(status).toBe(0);
  });
});

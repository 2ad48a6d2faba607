import { isIgnoredName } from '@workspace-graph/domain';
import { IgnoreRules } from './ignore-rules.js';

describe('names that are ignored everywhere', () => {
  it.each([
    '.git',
    '.svc-1',
    '.svcignore',
    'Thumbs.db',
    'thumbs.DB',
    'desktop.ini',
    'Desktop.ini',
    '~$report.docx',
    'a.tmp',
    'A.TMP',
    '.a.md.swp',
    'a.swp',
  ])('%s [files.ignore.builtin]', (name) => {
    expect([isIgnoredName(name), IgnoreRules.NONE.with('', `!${name}`).ignores(`wip/${name}`, false)]).toEqual([
      true,
      true,
    ]);
  });

  it.each(['a.md', 'a.tmp.md', 'tmp', 'swp', 'a~$b', 'Thumbs.db.md', 'desktop.ini~', '…'])('%s is not', (name) => {
    expect(isIgnoredName(name)).toBe(false);
  });
});

describe('the rules of an ignore file', () => {
  const rules = IgnoreRules.NONE.with(
    '',
    ['# comment', 'build/', '/wip/top.md', '*.log', '!keep.log', 'wip/**/deep.txt', '\\#real', 'a?[bc].md', ''].join(
      '\n',
    ),
  );
  it.each([
    ['wip/build', true, true],
    ['wip/build', false, false],
    ['wip/top.md', false, true],
    ['wip/x/top.md', false, false],
    ['wip/x/a.log', false, true],
    ['wip/keep.log', false, false],
    ['wip/1/2/3/deep.txt', false, true],
    ['outputs/deep.txt', false, false],
    ['wip/#real', false, true],
    ['wip/axb.md', false, true],
    ['wip/axd.md', false, false],
    ['wip/A.LOG', false, false],
  ])('%s (folder: %s) is ignored: %s [files.ignore.svcignore]', (path, isFolder, ignored) => {
    expect(rules.ignores(path, isFolder)).toBe(ignored);
  });

  it('of a folder go before those above it, and hold below it only [files.ignore.svcignore]', () => {
    const inner = rules.with('wip/sub', '!a.log\n/own.md');
    expect(
      ['wip/sub/a.log', 'wip/sub/b.log', 'wip/sub/own.md', 'wip/sub/x/own.md', 'wip/sub/x/a.log'].map((path) =>
        inner.ignores(path, false),
      ),
    ).toEqual([false, true, true, false, false]);
    expect(rules.ignores('wip/a.log', false)).toBe(true);
  });
});

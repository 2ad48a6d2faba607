import { existsSync, mkdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Node } from '@workspace-graph/contracts';
import { zipOf } from '@workspace-graph/testing';
import type { Page } from 'playwright-core';
import { NodeFolders } from './node-folders.js';
import { DRAWINGS, MARKDOWN_PAYLOADS, NAMES, PAYLOADS } from './payloads.js';
import { expectAccessible, type Language, Site, undo, until, type Visit, type VisitOptions } from './site.js';

let site: Site;
let folders: NodeFolders;
beforeAll(async () => {
  site = await Site.start();
  folders = await NodeFolders.in(site.workspace);
});
afterAll(() => site?.[Symbol.asyncDispose]());

const addressOf = ({ id }: Node, path: string): string => `/graph?${new URLSearchParams({ node: id, file: path })}`;
const read = (node: Node, path: string, options?: VisitOptions): Promise<Visit> =>
  site.visit(addressOf(node, path), options);
const go = (page: Page, node: Node, path: string) => page.goto(`${site.workspace.url}/app${addressOf(node, path)}`);
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const reader = (page: Page) => page.getByRole('dialog');
/** Waits until the text can be written. */
async function write(page: Page, text: string): Promise<void> {
  await page.locator('.cm-content').click();
  await page.keyboard.press('Control+Home');
  await page.keyboard.type(text);
  await page
    .getByText(/^(Unsaved|Neuloženo)$/)
    .first()
    .waitFor();
}
const WORDS = {
  en: { text: 'Text', changed: 'The file has changed meanwhile', mine: 'Save mine', saved: 'Saved' },
  cs: { text: 'Text', changed: 'Soubor se mezitím změnil', mine: 'Uložit moje', saved: 'Uloženo' },
} as const;

it('a Markdown file is opened over the view, its links lead to files beside it, and the ways back work', async () => {
  const { node, folder } = await folders.make();
  mkdirSync(join(folder, 'wip/notes'));
  writeFileSync(join(folder, 'wip/notes/pec.svg'), DRAWINGS[0] ?? '');
  writeFileSync(join(folder, 'wip/rozpis pecí.md'), '# Rozpis');
  writeFileSync(
    join(folder, 'wip/notes/plan.md'),
    '# Plán\n\n[rozpis](<../rozpis pecí.md>) [web](https://example.org/a) [dolů](#závěr) [jinam](../../../etc/passwd)\n\n' +
      '![pec](pec.svg) ![cizí](https://example.org/x.png)\n\n| a | b |\n|--:|---|\n| 1 | 2 |\n\n## Závěr\n',
  );
  const { context, page, faults } = await site.visit(`/graph?node=${node.id}`);
  await page.getByRole('tab', { name: 'Files' }).click();
  await page.getByRole('link', { name: 'plan.md' }).click();
  await reader(page).getByRole('heading', { name: 'Plán', exact: true }).waitFor();
  const web = reader(page).getByRole('link', { name: 'web' });
  expect([await web.getAttribute('target'), await web.getAttribute('rel')]).toEqual(['_blank', 'noopener noreferrer']);
  expect(await reader(page).getByText('jinam').getAttribute('href')).toBeNull();
  expect(await reader(page).getByRole('link', { name: 'cizí' }).getAttribute('href')).toBe('https://example.org/x.png');
  expect(await reader(page).getByRole('img').count()).toBe(1);
  await until('the picture is there', () =>
    page.evaluate<boolean>("document.querySelector('.doc img').naturalWidth > 0"),
  );
  expect(await reader(page).getByRole('cell', { name: '1' }).getAttribute('class')).toBe('to-right');
  await reader(page).getByRole('link', { name: 'dolů' }).click();
  await reader(page).getByRole('link', { name: 'rozpis' }).click();
  await reader(page).getByRole('heading', { name: 'Rozpis', level: 1 }).waitFor();
  await page.goBack();
  await reader(page).getByRole('heading', { name: 'Závěr' }).waitFor();
  await page.reload();
  await reader(page).getByRole('heading', { name: 'Závěr' }).waitFor();
  await page.keyboard.press('Escape');
  await reader(page).waitFor({ state: 'hidden' });
  expect(new URL(page.url()).searchParams.get('node')).toBe(node.id);
  expect(faults.list).toEqual([]);
  await context.close();
});

it('nothing in texts, pages, drawings and names of files is run', async () => {
  const { node, folder } = await folders.make();
  writeFileSync(join(folder, 'wip/all.md'), [...MARKDOWN_PAYLOADS, ...PAYLOADS].join('\n\n'));
  // What swallows the rest of a page stands alone.
  const pages = [PAYLOADS.join('\n'), ...PAYLOADS.filter((one) => /^<(!--|noscript|math|base|meta)/.test(one))];
  for (const [at, text] of pages.entries()) writeFileSync(join(folder, `outputs/${at}.html`), `<!doctype html>${text}`);
  for (const [at, text] of DRAWINGS.entries()) writeFileSync(join(folder, `wip/${at}.svg`), text);
  writeFileSync(join(folder, 'wip/drawings.md'), DRAWINGS.map((_, at) => `![${at}](${at}.svg)`).join('\n'));
  for (const name of NAMES) writeFileSync(join(folder, 'resources', name), '# Named');
  const { context, page, faults } = await site.visit(`/graph?node=${node.id}`);
  const blocked = /^csp |sandbox|Content Security Policy|Unsafe attempt|Refused to refresh|may not be used as base/i;
  faults.allow(blocked);
  const ran: string[] = [];
  page.on('dialog', (dialog) => {
    ran.push(dialog.message());
    void dialog.dismiss();
  });
  const opened: string[] = [];
  context.on('page', (other) => opened.push(other.url()));
  await page.getByRole('tab', { name: 'Files' }).click();
  for (const name of NAMES) {
    await page.getByRole('link', { name, exact: true }).click();
    await reader(page)
      .getByRole('heading', { name: 'Named' })
      .or(reader(page).locator('.cm-content'))
      .first()
      .waitFor();
    expect(await reader(page).getByRole('heading', { level: 2 }).textContent()).toBe(name);
    await button(page, 'Close the file').click();
  }
  await go(page, node, 'wip/all.md');
  await reader(page).getByText('constructor.constructor').waitFor();
  for (const link of await reader(page).locator('.doc a').all()) {
    expect(await link.getAttribute('href')).toMatch(/^(https?:\/\/|mailto:|\?|#|$)/);
  }
  expect(await page.locator('.doc :is(script, style, iframe, form, svg, object, [onerror], [style])').count()).toBe(0);
  await go(page, node, 'wip/drawings.md');
  await until('the drawings are there', async () => (await page.locator('.doc img').count()) === DRAWINGS.length);
  expect(faults.list).toEqual([]);
  for (const at of pages.keys()) {
    await go(page, node, `outputs/${at}.html`);
    const frame = await page.waitForSelector('iframe');
    await (await frame.contentFrame())?.waitForLoadState();
  }
  expect(ran).toEqual([]);
  expect(opened).toEqual([]);
  expect(await page.evaluate('globalThis.__xss')).toBeUndefined();
  await context.close();
});

it('steps of a Markdown file have a box that says whether they are done, and other brackets are left', async () => {
  const { node, folder } = await folders.make();
  writeFileSync(join(folder, 'wip/steps.md'), '- [x] Compared\n- [ ] Built **soon**\n- [y] No step\n\n[ ] No list\n');
  const { context, page, faults } = await read(node, 'wip/steps.md');
  const rows = page.getByRole('dialog').getByRole('listitem');
  await rows.first().waitFor();
  expect(await rows.allInnerTexts()).toEqual(['☑ Compared', '☐ Built soon', '[y] No step']);
  await page.getByText('[ ] No list').waitFor();
  expect(faults.list).toEqual([]);
  await context.close();
});

it('comments in a Markdown file are left out, and nothing but comments is', async () => {
  const { node, folder } = await folders.make();
  const [script = ''] = PAYLOADS;
  const text = [
    `<!-- first\n\n# Hidden\n${script}\n-->`,
    '# Plan <!-- hidden -->',
    'Before <!-- hidden\nhidden --> after, `<!-- code -->`',
    '> <!-- hidden\n> hidden --> quoted',
    '```\n<!-- fenced -->\n```',
    `<!-->${script}`,
    `<!-- open ${script}`,
    'last',
  ].join('\n\n');
  writeFileSync(join(folder, 'wip/comments.md'), text);
  const { context, page, faults } = await read(node, 'wip/comments.md');
  await reader(page).getByRole('heading', { name: 'Plan', exact: true }).waitFor();
  const shown = ((await page.locator('.doc').textContent()) ?? '').replace(/\s+/g, ' ').trim();
  expect(shown).toBe(`Plan Before after, <!-- code --> quoted <!-- fenced --> ${script} <!-- open ${script} last`);
  expect(await page.locator('.doc h1').getAttribute('id')).toBe('doc-plan');
  expect(await page.locator('.doc script').count()).toBe(0);
  expect(await page.evaluate('globalThis.__xss')).toBeUndefined();
  expect(faults.list).toEqual([]);
  await context.close();
});

it('pages, pictures, documents and presentations are shown, or it is said why not', async () => {
  const { node, folder } = await folders.make();
  const deck = (name: string, entry: string) =>
    writeFileSync(join(folder, 'outputs', name), zipOf([{ name: entry, content: '<h1>Tři vydání</h1>' }]));
  deck('talk.deck', 'preview.html');
  deck('old.deck', 'deck.json');
  writeFileSync(join(folder, 'outputs/page.html'), '<!doctype html><style>h1 { color: teal }</style><h1>Zpráva</h1>');
  writeFileSync(join(folder, 'outputs/paper.pdf'), '%PDF-1.4');
  writeFileSync(join(folder, 'outputs/data.bin'), Buffer.from([0, 1, 2, 255]));
  writeFileSync(join(folder, 'outputs/empty.txt'), '');
  writeFileSync(join(folder, 'outputs/large.log'), 'řádek\n'.repeat(500_000));
  const { context, page, faults } = await read(node, 'outputs/page.html');
  const frame = page.frameLocator('iframe');
  const colour = "getComputedStyle(document.querySelector('h1')).color";
  await frame.getByRole('heading', { name: 'Zpráva' }).waitFor();
  expect(await page.frames().at(-1)?.evaluate(colour)).toBe('rgb(0, 128, 128)');
  expect(await page.locator('iframe').getAttribute('sandbox')).toBe('');
  await go(page, node, 'outputs/talk.deck');
  await button(page, 'Show presentations').click();
  await frame.getByRole('heading', { name: 'Tři vydání' }).waitFor();
  await go(page, node, 'outputs/old.deck');
  await page.getByText('was saved by an older version').waitFor();
  await go(page, node, 'outputs/paper.pdf');
  const isShown = await page.evaluate<boolean>('navigator.pdfViewerEnabled');
  await (isShown ? page.locator('iframe') : page.getByText('shows no PDF by itself')).waitFor();
  await go(page, node, 'outputs/data.bin');
  await page.getByText('has no preview').waitFor();
  await expectAccessible(page);
  expect(await page.getByRole('link', { name: 'Download' }).first().getAttribute('href')).toContain('raw=true');
  await go(page, node, 'outputs/empty.txt');
  await page.getByRole('textbox', { name: 'Text of empty.txt' }).waitFor();
  await go(page, node, 'outputs/large.log');
  await page.getByText('The first 262 kB of 4 MB are shown').waitFor();
  expect(await reader(page).getByRole('textbox').getAttribute('aria-readonly')).toBe('true');
  expect(faults.list).toEqual([]);
  await context.close();
});

it('a text is saved with the bytes that were not touched, and what is not saved survives a reload', async () => {
  const { node, folder } = await folders.make();
  const file = join(folder, 'wip/windows.txt');
  writeFileSync(file, '\uFEFFprvní\r\ndruhý\r\n');
  const { context, page, faults } = await read(node, 'wip/windows.txt');
  page.on('dialog', (dialog) => void dialog.accept());
  await write(page, 'x');
  await page.reload();
  await page.locator('.cm-line').first().waitFor();
  await page.getByText('Unsaved').first().waitFor();
  expect(readFileSync(file, 'utf8')).toBe('\uFEFFprvní\r\ndruhý\r\n');
  await page.locator('.cm-content').click();
  await page.keyboard.press('Control+s');
  await page.getByText('Saved', { exact: true }).waitFor();
  expect(readFileSync(file, 'utf8')).toBe('x\uFEFFprvní\r\ndruhý\r\n');
  // Clean, it follows the file.
  writeFileSync(file, 'odjinud\r\n');
  await page.getByText('odjinud').waitFor();
  await write(page, 'zahozené ');
  await button(page, 'Discard changes').click();
  await page.getByText('Unsaved').waitFor({ state: 'hidden' });
  expect(readFileSync(file, 'utf8')).toBe('odjinud\r\n');
  await undo(page, 'are discarded');
  await page.getByText('zahozené odjinud').waitFor();
  expect(faults.list).toEqual([]);
  await context.close();
});

it('the last keys before a press of a button count, and the first one says what a text is based on', async () => {
  const { node, folder } = await folders.make();
  const file = join(folder, 'wip/keys.txt');
  writeFileSync(file, 'zde\n');
  const { context, page, faults } = await read(node, 'wip/keys.txt');
  await write(page, 'a');
  // In one turn of the page, so that no time passes between the last keys and the press.
  await page.evaluate(`(async () => {
    document.execCommand('insertText', false, 'bc');
    await null;
    const names = ['Discard changes', 'Zahodit změny'];
    const button = [...document.querySelectorAll('.reader-tools button')].find((one) => names.includes(one.textContent));
    button.focus();
    button.click();
  })()`);
  await page.getByText('Unsaved').waitFor({ state: 'hidden' });
  await undo(page, 'are discarded');
  await page.getByText('abczde').waitFor();
  await button(page, 'Discard changes').click();
  await page.getByText('Unsaved').waitFor({ state: 'hidden' });
  await page.locator('.cm-content').click();
  await page.keyboard.type('d');
  writeFileSync(file, 'odjinud\n');
  await page.getByText('The file has changed meanwhile').waitFor();
  expect(readFileSync(file, 'utf8')).toBe('odjinud\n');
  expect(faults.list).toEqual([]);
  await context.close();
});

it.each<[Language, 'light' | 'dark']>([
  ['en', 'light'],
  ['cs', 'dark'],
])(
  'in the language %s, a file that has changed meanwhile is shown beside the text, and both are merged',
  async (language, theme) => {
    const { node, folder } = await folders.make();
    const [file, words] = [join(folder, 'wip/plan.md'), WORDS[language]];
    const lines = Array.from({ length: 60 }, (_, at) => `Řádek ${at}`);
    writeFileSync(file, lines.join('\n'));
    const { context, page } = await read(node, 'wip/plan.md', { language, theme, width: 1024 });
    await button(page, words.text).click();
    await write(page, 'Moje. ');
    await expectAccessible(page);
    const theirs = lines.with(40, 'Jejich').join('\n');
    writeFileSync(file, theirs);
    await page.getByText(words.changed).waitFor();
    await page.locator('.cm-content').click();
    await page.keyboard.press('Control+s');
    await page.locator('.cm-mergeView').waitFor();
    await page.locator('.cm-merge-revert button').last().waitFor();
    await expectAccessible(page);
    expect(readFileSync(file, 'utf8')).toBe(theirs);
    // Taken over from their side by a key.
    await page.locator('.cm-merge-revert button').last().focus();
    await page.keyboard.press('Enter');
    await until(
      'a single difference is left',
      async () => (await page.locator('.cm-merge-revert button').count()) === 1,
    );
    await button(page, words.mine).click();
    await page.getByText(words.saved, { exact: true }).waitFor();
    expect(readFileSync(file, 'utf8')).toBe(`Moje. ${theirs}`);
    await context.close();
  },
);

it('their side is taken and given back again; a text whose file was deleted meanwhile makes it anew', async () => {
  const { node, folder } = await folders.make();
  const file = join(folder, 'wip/text.txt');
  writeFileSync(file, 'první');
  const { context, page, faults } = await read(node, 'wip/text.txt');
  faults.allow(/^404 .*\/file\?/);
  await write(page, 'moje ');
  writeFileSync(file, 'jejich');
  await button(page, 'Compare').click();
  await button(page, 'Take theirs').click();
  await page.locator('.cm-line', { hasText: /^jejich$/ }).waitFor();
  await undo(page, 'is taken');
  await page.locator('.cm-line', { hasText: /^moje první$/ }).waitFor();
  unlinkSync(file);
  await button(page, 'Create it again').click();
  await page.getByText('Saved', { exact: true }).waitFor();
  expect(existsSync(file) && readFileSync(file, 'utf8')).toBe('moje první');
  await context.close();
});

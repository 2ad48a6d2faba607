import { mkdir, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { replaceText } from './durable.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'svc-durable-'));
});
afterEach(() => rm(folder, { recursive: true }));

describe('a text file that is replaced', () => {
  it('holds the new text, with the rights asked for, and nothing stays beside it', async () => {
    const file = join(folder, 'a');
    await replaceText(file, 'first');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    await replaceText(file, 'second', { mode: 0o640, draft: join(folder, 'draft') });
    expect([await readFile(file, 'utf8'), (await stat(file)).mode & 0o777]).toEqual(['second', 0o640]);
    expect(await readdir(folder)).toEqual(['a']);
  });

  it('leaves no draft where it cannot be put in its place', async () => {
    const taken = join(folder, 'taken');
    await mkdir(join(taken, 'inside'), { recursive: true });
    await expect(replaceText(taken, 'text')).rejects.toMatchObject({ code: 'EISDIR' });
    expect(await readdir(folder)).toEqual(['taken']);
  });
});

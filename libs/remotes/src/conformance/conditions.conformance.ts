import { bytesOf, failureOf, type Stage } from './stage.js';

const WRITERS = 8;

/** Nothing is overwritten, moved or removed that its caller has not seen. */
export function conditionScenarios(stage: () => Stage): void {
  async function outcomes(work: (writer: number) => Promise<unknown>): Promise<string[]> {
    const all = Array.from({ length: WRITERS }, (_, writer) =>
      work(writer).then(
        () => 'done',
        async (error: unknown) => failureOf(Promise.reject(error)),
      ),
    );
    return (await Promise.all(all)).sort();
  }

  it('writes nothing where something lies that the caller does not know', async () => {
    await stage().put('a.txt', 'first');
    expect(await failureOf(stage().put('a.txt', 'second'))).toBe('exists');
    await stage().remote.makeFolder('folder');
    expect(await failureOf(stage().put('folder', 'second'))).toBe('exists');
    expect(await failureOf(stage().put('a.txt/below', 'second'))).toBe('exists');
    expect(await stage().textOf('a.txt')).toBe('first');
  });

  it('replaces what was seen, and nothing that was changed or removed since', async () => {
    const first = await stage().put('a.txt', 'first');
    await stage().put('a.txt', 'the second', first.revision);
    expect(await failureOf(stage().put('a.txt', 'third', first.revision))).toBe('changed');
    expect(await stage().textOf('a.txt')).toBe('the second');
    await stage().remote.remove('a.txt', await stage().holding('a.txt'));
    expect(await failureOf(stage().put('a.txt', 'fourth', first.revision))).toBe('changed');
    expect(await stage().remote.stat('a.txt')).toBeNull();
  });

  it('keeps what another program saved while a new content was on its way', async () => {
    const { revision: expected } = await stage().put('a.txt', 'first');
    const { world, remote } = stage();
    async function* overtaken(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('ours');
      await world.plant('a.txt', 'of somebody else');
      await world.plant('new.txt', 'of somebody else');
    }
    expect(await failureOf(remote.write('a.txt', overtaken(), { expected }))).toBe('changed');
    expect(await failureOf(remote.write('other.txt', overtaken(), { expected }))).toBe('changed');
    expect(await failureOf(remote.write('new.txt', overtaken(), { expected: null }))).toBe('exists');
    expect([await stage().textOf('a.txt'), await stage().textOf('new.txt')]).toEqual(Array(2).fill('of somebody else'));
    expect(await world.leftOvers()).toEqual([]);
  });

  it('lets one of many make a file', async () => {
    const ends = await outcomes((writer) => stage().put('a.txt', `of ${writer}`));
    expect(ends).toEqual(['done', ...Array(WRITERS - 1).fill('exists')]);
    expect(await stage().textOf('a.txt')).toMatch(/^of \d$/);
    expect(await stage().world.leftOvers()).toEqual([]);
  });

  it('lets one of many replace a file', async () => {
    const { revision } = await stage().put('a.txt', 'first');
    const ends = await outcomes((writer) => stage().put('a.txt', `content of ${writer}`, revision));
    expect(ends.filter((end) => end === 'done')).toHaveLength(1);
    expect(ends.filter((end) => end === 'changed')).toHaveLength(WRITERS - 1);
    expect(await stage().textOf('a.txt')).toMatch(/^content of \d$/);
    expect(await stage().world.leftOvers()).toEqual([]);
  });

  it('lets one of many remove or move a file', async () => {
    await stage().put('a.txt', 'first');
    const holding = await stage().holding('a.txt');
    const ends = await outcomes((writer) =>
      writer % 2 === 0
        ? stage().remote.remove('a.txt', holding)
        : stage().remote.move('a.txt', `moved-${writer}.txt`, holding),
    );
    expect(ends.filter((end) => end === 'done')).toHaveLength(1);
    expect(await stage().remote.stat('a.txt')).toBeNull();
    expect((await stage().pathsIn('')).length).toBeLessThanOrEqual(1);
    expect(await stage().world.leftOvers()).toEqual([]);
  });

  it('removes and moves nothing that was changed since', async () => {
    const { revision: expected } = await stage().put('a.txt', 'first');
    await stage().world.plant('a.txt', 'of somebody else');
    const { remote } = stage();
    expect(await failureOf(remote.remove('a.txt', { expected }))).toBe('changed');
    expect(await failureOf(remote.move('a.txt', 'b.txt', { expected }))).toBe('changed');
    expect(await failureOf(remote.copy('a.txt', 'b.txt', { expected }))).toBe('changed');
    expect([await stage().textOf('a.txt'), await stage().pathsIn('')]).toEqual(['of somebody else', ['a.txt']]);
  });

  it('moves and copies to places where nothing lies', async () => {
    const { remote } = stage();
    await remote.write('a.txt', bytesOf('content'), { expected: null });
    const moved = await remote.move('a.txt', 'deep/er/b.txt', await stage().holding('a.txt'));
    const copied = await remote.copy('deep/er/b.txt', 'c.txt', { expected: moved.revision });
    expect([moved.path, copied.path, await stage().textOf('c.txt')]).toEqual(['deep/er/b.txt', 'c.txt', 'content']);
    expect(await stage().pathsIn('', true)).toEqual(['c.txt', 'deep', 'deep/er', 'deep/er/b.txt']);
    expect(await failureOf(remote.move('c.txt', 'deep/er/b.txt', await stage().holding('c.txt')))).toBe('exists');
    expect(await failureOf(remote.copy('c.txt', 'deep/er/b.txt', await stage().holding('c.txt')))).toBe('exists');
    expect(await failureOf(remote.move('none', 'd.txt', { expected: 'x' }))).toBe('not_found');
    expect(await failureOf(remote.remove('none', { expected: 'x' }))).toBe('not_found');
  });
}

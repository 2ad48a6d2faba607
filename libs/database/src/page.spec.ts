import { ServiceError } from '@workspace-graph/contracts';
import { cursorOf, LAST_ID } from './page.js';

/** A key of two texts. */
const pair = {
  safeParse: (value: unknown): { success: true; data: [string, string] } | { success: false } =>
    Array.isArray(value) && value.length === 2 && value.every((part) => typeof part === 'string')
      ? { success: true, data: value as [string, string] }
      : { success: false },
};
const byTime = cursorOf('list_events', pair);
const byName = cursorOf('list_nodes:name', pair);
const id = '0190a5f0-0000-7000-8000-000000000001';

function refusal(cursor: string): unknown {
  try {
    return byName.read(cursor, ['', id]);
  } catch (error) {
    return error instanceof ServiceError ? [error.code, error.details] : error;
  }
}

describe('a cursor', () => {
  it('brings back the sort key that it was made of, whatever letters are in it', () => {
    const key: [string, string] = ['žluťoučký "kůň" 🐎\\', id];
    expect(byName.read(byName.write(key), ['', id])).toEqual(key);
  });

  it('stands for the start when there is none', () => {
    expect(byName.read(undefined, ['', LAST_ID])).toEqual(['', LAST_ID]);
  });

  it.each([
    ['text that is no base64', '%%%'],
    ['other JSON', Buffer.from('{"a":1}').toString('base64url')],
    ['a key of another shape', Buffer.from('["list_nodes:name","x"]').toString('base64url')],
    [
      'a key with something after it',
      Buffer.from(JSON.stringify(['list_nodes:name', 'x', id, 1])).toString('base64url'),
    ],
    ['the cursor of another list', byTime.write(['2026-01-01T00:00:00.000Z', id])],
    ['an empty text', ''],
    [
      'a key with a NUL character',
      Buffer.from(JSON.stringify(['list_nodes:name', 'a\u0000', id])).toString('base64url'),
    ],
  ])('refuses %s as a validation failure of the field cursor [graph.paging.bad-cursor-refused]', (_name, cursor) => {
    expect(refusal(cursor)).toEqual([
      'VALIDATION_FAILED',
      { issues: [{ path: 'cursor', message: expect.any(String) }] },
    ]);
  });
});

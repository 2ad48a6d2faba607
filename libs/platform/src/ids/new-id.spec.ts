import { jest } from '@jest/globals';
import { newId } from './new-id.js';

describe('a new id', () => {
  afterEach(() => {
    jest.useRealTimers();
  });

  it('is a UUID of version 7 that tells the moment it was made', () => {
    const before = Date.now();
    const id = newId();
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(Number.parseInt(id.replace('-', '').slice(0, 12), 16)).toBeGreaterThanOrEqual(before);
  });

  it('is greater than the one before, within a millisecond and when the clock is set back', () => {
    jest.useFakeTimers({ now: Date.now() + 60_000 });
    const ids = Array.from({ length: 10_000 }, newId);
    jest.setSystemTime(Date.now() - 3_600_000);
    ids.push(...Array.from({ length: 10_000 }, newId));
    expect(ids).toEqual([...new Set(ids)].sort());
  });
});

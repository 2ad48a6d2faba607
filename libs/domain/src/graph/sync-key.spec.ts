import { NODE_TYPES, type NodeType } from '@workspace-graph/contracts';
import fc from 'fast-check';
import { SYNC_KEY_MAX_LENGTH, suffixedSyncKey, syncKeyOf } from './sync-key.js';

const WELL_FORMED = /^[a-z0-9]+(-[a-z0-9]+)*$/;
const aType = fc.constantFrom(...NODE_TYPES);
const aName = fc.oneof(fc.string(), fc.string({ unit: 'grapheme', maxLength: 200 }), fc.string({ unit: 'binary' }));
const aRandom = fc.array(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), { minLength: 5, maxLength: 5 });

function randomFrom(values: number[]): () => number {
  let index = 0;
  return () => values[index++ % values.length] ?? 0;
}

describe('the sync_key of a name', () => {
  it.each<[string, NodeType, string]>([
    ['Order to Cash', 'process', 'order-to-cash'],
    ['Příprava rozpočtu 2026', 'project', 'priprava-rozpoctu-2026'],
    ['Straße & Größe', 'area', 'strasse-grosse'],
    ['Łódź', 'organization', 'lodz'],
    ['Ærø / Øst', 'area', 'aero-ost'],
    ['  --Release_v1.2 (final)!  ', 'project', 'release-v1-2-final'],
    ['SIG Network', 'area', 'sig-network'],
    ['C++', 'project', 'c'],
  ])('of "%s" (%s) is %s [graph.sync-key.slug]', (name, type, expected) => {
    expect(syncKeyOf(name, type)).toBe(expected);
  });

  it.each<[string, NodeType]>([
    ['日本語', 'area'],
    ['!!!', 'project'],
    ['🚀', 'principle'],
    ['Привет', 'process'],
    ['', 'organization'],
  ])('of "%s", which has no letter to use, is the type %s [graph.sync-key.never-empty]', (name, type) => {
    expect(syncKeyOf(name, type)).toBe(type);
  });

  it.each(['CON', 'nul', 'Com1', 'LPT9', 'aux.'])('of "%s" is a name that every file system takes', (name) => {
    expect(syncKeyOf(name, 'area')).toBe(`${name.toLowerCase().replace('.', '')}-area`);
  });

  it('ends at a whole word or letter, never with a hyphen', () => {
    expect(syncKeyOf(`${'a'.repeat(79)} b`, 'area')).toBe('a'.repeat(79));
    expect(syncKeyOf('x'.repeat(500), 'area')).toBe('x'.repeat(80));
  });

  it('is well-formed and within its length for every name [graph.sync-key.never-empty]', () => {
    fc.assert(
      fc.property(aName, aType, (name, type) => {
        const key = syncKeyOf(name, type);
        expect(key).toMatch(WELL_FORMED);
        expect(key.length).toBeLessThanOrEqual(SYNC_KEY_MAX_LENGTH);
      }),
      { numRuns: 1_000 },
    );
  });

  it('of a key is the key itself', () => {
    fc.assert(
      fc.property(aName, aType, (name, type) => syncKeyOf(syncKeyOf(name, type), type) === syncKeyOf(name, type)),
    );
  });
});

describe('the sync_key after a collision', () => {
  it('is the taken one with five random characters', () => {
    expect(suffixedSyncKey('order-to-cash', () => 0)).toBe('order-to-cash-22222');
    expect(suffixedSyncKey('order-to-cash', () => 0.999_999)).toBe('order-to-cash-zzzzz');
  });

  it('makes room for the suffix in a key of full length', () => {
    expect(suffixedSyncKey('x'.repeat(80), () => 0)).toBe(`${'x'.repeat(74)}-22222`);
    expect(suffixedSyncKey(`${'x'.repeat(73)}-${'y'.repeat(6)}`, () => 0)).toBe(`${'x'.repeat(73)}-22222`);
  });

  it('is well-formed, within its length and begins like the taken one', () => {
    fc.assert(
      fc.property(aName, aType, aRandom, (name, type, numbers) => {
        const taken = syncKeyOf(name, type);
        const key = suffixedSyncKey(taken, randomFrom(numbers));
        expect(key).toMatch(WELL_FORMED);
        expect(key.length).toBeLessThanOrEqual(SYNC_KEY_MAX_LENGTH);
        expect(taken.startsWith(key.slice(0, -6))).toBe(true);
        expect(key).not.toBe(taken);
      }),
    );
  });

  it('differs for different random numbers', () => {
    const keys = new Set(Array.from({ length: 1_000 }, () => suffixedSyncKey('same', Math.random)));
    expect(keys.size).toBeGreaterThan(990);
  });
});

import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startEmbeddedDatabase } from './embedded-database.js';
import { makeTestPlaces, type TestPlaces } from './embedded-places.fixture.js';
import { lookAtEmbeddedDatabase } from './look.js';
import { findOwner, holdsLock, takeOwnership } from './ownership.js';

import.meta.jest.setTimeout(60_000);

let places: TestPlaces;

beforeAll(async () => {
  places = await makeTestPlaces();
});

afterAll(() => places.remove());

describe('a look at a database that is not started', () => {
  it('makes nothing, and tells one that was never made from one whose data is gone or damaged', () => {
    const fresh = places.fresh();
    expect(lookAtEmbeddedDatabase(fresh)).toMatchObject({
      state: 'none',
      dataFolder: join(fresh, 'data'),
      owner: null,
    });
    expect(existsSync(fresh)).toBe(false);

    const folder = places.used();
    expect(lookAtEmbeddedDatabase(folder)).toMatchObject({ state: 'present', problem: null, owner: null });
    rmSync(join(folder, 'data/PG_VERSION'));
    expect(lookAtEmbeddedDatabase(folder)).toMatchObject({ state: 'unusable', problem: { code: 'DATA_DAMAGED' } });
    renameSync(join(folder, 'data'), join(folder, 'away'));
    expect(lookAtEmbeddedDatabase(folder)).toMatchObject({ state: 'unusable', problem: { code: 'DATA_MISSING' } });
    // A first start that was killed leaves this.
    mkdirSync(join(folder, 'data.new'));
    expect(lookAtEmbeddedDatabase(folder)).toMatchObject({ state: 'none', problem: null });
  });

  it('follows the data to another place', () => {
    const folder = places.used();
    const elsewhere = places.fresh();
    mkdirSync(elsewhere);
    renameSync(join(folder, 'data'), join(elsewhere, 'data'));
    writeFileSync(join(folder, 'location'), `${elsewhere}\n`);
    expect(lookAtEmbeddedDatabase(folder)).toMatchObject({ state: 'present', dataFolder: join(elsewhere, 'data') });
    rmSync(elsewhere, { recursive: true });
    expect(lookAtEmbeddedDatabase(folder)).toMatchObject({ state: 'unusable', problem: { code: 'DATA_MISSING' } });
  });

  it('names who uses it, for as long as they do', async () => {
    const folder = places.used();
    const database = await startEmbeddedDatabase({ folder });
    expect(lookAtEmbeddedDatabase(folder)).toMatchObject({ state: 'present', owner: { pid: process.pid } });
    await database.stop();
    expect(lookAtEmbeddedDatabase(folder).owner).toBeNull();
  });
});

describe('the owner of a folder', () => {
  it('is known while it holds it, and not by the file with its number', () => {
    const folder = places.fresh();
    mkdirSync(folder);
    expect(findOwner(folder)).toBeNull();
    writeFileSync(join(folder, 'owner.pid'), `${process.ppid}\n`);
    expect(findOwner(folder)).toBeNull();
    const ownership = takeOwnership(folder);
    expect(findOwner(folder)).toEqual({ pid: process.pid });
    expect(holdsLock(folder, process.pid)).toBe(true);
    // Elsewhere the system does not tell.
    if (process.platform === 'linux') expect(holdsLock(folder, process.ppid)).toBe(false);
    expect(() => takeOwnership(folder)).toThrow(expect.objectContaining({ code: 'IN_USE' }));
    rmSync(join(folder, 'owner.pid'));
    expect(findOwner(folder)).toEqual({ pid: null });
    ownership.release();
    expect(findOwner(folder)).toBeNull();
  });
});

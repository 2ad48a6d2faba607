import { existsSync, readdirSync, statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { EmbeddedDatabaseError } from './embedded-error.js';
import { embeddedFailure, withAdvice } from './failures.js';
import { findOwner, type Owner } from './ownership.js';
import { locationOf } from './places.js';

/** An embedded database on disk, running or not. */
export interface EmbeddedLook {
  /** Absolute path of the data, also before they exist. */
  readonly dataFolder: string;
  /** `none`: it was never made. `unusable`: `problem` says why. */
  readonly state: 'none' | 'present' | 'unusable';
  /** Why the database is `unusable`; null in every other state. */
  readonly problem: EmbeddedDatabaseError | null;
  /** Who uses it right now. */
  readonly owner: Owner | null;
}

/** The password is written before the data gets its name, and stays when the data goes. */
export function isGone(folder: string, dataFolder: string): boolean {
  const location = locationOf(folder);
  if (location !== undefined && !existsSync(location)) return true;
  return existsSync(join(folder, 'password')) && !existsSync(`${dataFolder}.new`);
}

function isFilled(folder: string): boolean {
  return statSync(folder, { throwIfNoEntry: false }) !== undefined && readdirSync(folder).length > 0;
}

function stateOf(folder: string, dataFolder: string): EmbeddedLook['state'] {
  if (statSync(join(dataFolder, 'PG_VERSION'), { throwIfNoEntry: false }) !== undefined) return 'present';
  if (isFilled(dataFolder)) throw embeddedFailure('DATA_DAMAGED', dataFolder, 'PG_VERSION is missing');
  if (isGone(folder, dataFolder)) throw embeddedFailure('DATA_MISSING', `${folder} (kept in ${dataFolder})`);
  return 'none';
}

/** Looks at the embedded database of a folder; makes and starts nothing. */
export function lookAtEmbeddedDatabase(wanted: string): EmbeddedLook {
  const folder = resolve(wanted);
  let dataFolder = join(folder, 'data');
  try {
    return withAdvice(folder, () => {
      // Tells a folder that is closed to this user from one that is not there.
      if (statSync(folder, { throwIfNoEntry: false }) === undefined)
        return { dataFolder, state: 'none', problem: null, owner: null };
      dataFolder = join(locationOf(folder) ?? folder, 'data');
      const owner = findOwner(folder);
      return { dataFolder, state: stateOf(folder, dataFolder), problem: null, owner };
    });
  } catch (error) {
    if (!(error instanceof EmbeddedDatabaseError)) throw error;
    return { dataFolder, state: 'unusable', problem: error, owner: null };
  }
}

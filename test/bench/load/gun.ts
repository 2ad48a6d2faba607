import type { Gun, ShotSet } from './shots.js';

/** Makes ready what a set needs: connections, or the services themselves. */
export async function openGun(set: ShotSet): Promise<Gun> {
  switch (set.via) {
    case 'http':
      return (await import('./http-gun.js')).httpGun(set);
    case 'sql':
      return (await import('./sql-gun.js')).sqlGun(set);
    case 'service':
      return (await import('./service-gun.js')).serviceGun(set);
  }
}

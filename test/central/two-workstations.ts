import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { createNode, setRoutingPolicy, setupRemote } from '@workspace-graph/contracts';
import { WorkspaceFolder } from '../e2e/workspace-process.js';
import { Balancer } from './balancer.js';
import { type CentralWorld, startWorld, type WorldOptions } from './central-world.js';
import type { RestClient } from './rest-client.js';
import {
  joinedFolder,
  mirrored,
  type Person,
  person,
  startWorkstation,
  untilConnected,
  type Workstation,
} from './workstation.js';

/** For a hook that starts all of it: the machine may be busy. */
export const STATIONS_MS = 240_000;

/** An organisation with one folder as its storage, and two workstations of one person, at whichever gateway is there. */
export interface TwoWorkstations extends AsyncDisposable {
  readonly world: CentralWorld;
  readonly ada: RestClient;
  readonly wanda: Person;
  /** Whoever starts one again puts it here. */
  readonly stations: [Workstation, Workstation];
  /** The folder of the storage, whose remote is named `team`. */
  readonly storage: string;
  readonly organizationId: string;
  /** A new node, with its folders on both. */
  project(name?: string): Promise<{ readonly id: string; readonly here: string; readonly there: string }>;
}

export interface TwoWorkstationsOptions extends WorldOptions {
  /** The folder of the second workstation. */
  readonly other?: WorkspaceFolder;
  /** Everybody asks the only gateway itself: where bytes are measured, those that a balancer copies would be counted. */
  readonly isDirect?: boolean;
}

export async function startTwoWorkstations({
  replicas,
  other = new WorkspaceFolder({ onDisk: true }),
  isDirect = false,
  ...options
}: TwoWorkstationsOptions = {}): Promise<TwoWorkstations> {
  const stack = new AsyncDisposableStack();
  try {
    const variables = { SVC_RATE_LIMIT_PER_MINUTE: '0', SVC_ALLOWED_HOSTS: '127.0.0.1' };
    const world = stack.use(
      await startWorld({ variables, ...options, replicas: { 'graph-svc': 1, gateway: 1, 'file-svc': 1, ...replicas } }),
    );
    const ada = isDirect ? world.ada : world.ada.at(stack.use(await Balancer.listen(() => world.central.urls)).url);
    const storage = join(world.central.volume('files'), 'folders', 'team');
    await mkdir(storage, { recursive: true });
    await ada.call(setupRemote, { name: 'team', type: 'fs', config: { folder: 'team' } });
    await routeTo(ada, 'team');
    const { id: organization_id } = await ada.call(createNode, { type: 'organization', name: 'Acme' });
    const wanda = await person(ada, 'Wanda');
    const folders = [new WorkspaceFolder({ onDisk: true }), other] as const;
    for (const folder of folders) stack.use(folder);
    const stations = await Promise.all([started(wanda, 'one', folders[0]), started(wanda, 'other', folders[1])]);
    const all = stack.move();
    return {
      world,
      ada,
      wanda,
      stations,
      storage,
      organizationId: organization_id,
      project: async (name = `Bakery ${Math.random()}`) => {
        const { id } = await ada.call(createNode, { type: 'project', name, organization_id });
        const [one, other] = stations;
        const [here, there] = await Promise.all([mirrored(one.client, id), mirrored(other.client, id)]);
        return { id, here, there };
      },
      [Symbol.asyncDispose]: () => all.disposeAsync(),
    };
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}

/** Has all files kept on one remote. */
export async function routeTo(ada: RestClient, remote_name: string): Promise<void> {
  const rule = { priority: 100, node_type: null, org_slug: null, remote_name };
  await ada.call(setRoutingPolicy, { rules: [rule] });
}

async function started(who: Person, name: string, folder: WorkspaceFolder): Promise<Workstation> {
  const station = await startWorkstation(await joinedFolder(who, name, folder));
  await untilConnected(station);
  return station;
}

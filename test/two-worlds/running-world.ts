import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createToken, type Scope } from '@workspace-graph/contracts';
import pg from 'pg';
import { RestClient } from '../central/rest-client.js';
import { WorkspaceFolder } from '../e2e/workspace-process.js';
import { USERS } from './baseline.js';
import type { Role, Surface } from './surface.js';

const SCOPES: Readonly<Record<Role, Scope>> = { reader: 'read', writer: 'write' };
const SPEAKERS: Readonly<Record<Role, string>> = { reader: USERS.rita, writer: USERS.wil };

/** Besides the roles, the person whose device it is, with a credential of scope write. */
export type Speaker = Role | 'person';

/** A workspace in a process of its own, with a credential of each role once the ground is laid. */
export class RunningWorld implements AsyncDisposable {
  private clients: Readonly<Record<Speaker | 'manager', RestClient>> | undefined;

  private constructor(
    readonly url: string,
    private readonly folder: WorkspaceFolder,
    private readonly database: pg.Client,
  ) {}

  static async start(): Promise<RunningWorld> {
    const folder = new WorkspaceFolder({ isStarted: true });
    try {
      const { url } = await folder.start();
      const connectionString = readFileSync(join(folder.root, '.svc/database-url'), 'utf8').trim();
      const database = new pg.Client({ connectionString });
      await database.connect();
      return new RunningWorld(url, folder, database);
    } catch (error) {
      await folder[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Folder of the workspace. */
  get root(): string {
    return this.folder.root;
  }

  /** Runs the statements that lay the ground, and makes the credentials. */
  async sql(text: string): Promise<void> {
    await this.database.query(text);
    if (this.clients) return;
    this.clients = {
      manager: await this.speaker(USERS.ada, 'manage'),
      reader: await this.speaker(SPEAKERS.reader, SCOPES.reader),
      writer: await this.speaker(SPEAKERS.writer, SCOPES.writer),
      person: await this.speaker(undefined, 'write'),
    };
  }

  readonly manage: Surface['manage'] = (operation, input) => this.client('manager').call(operation, input);

  client(role: Speaker | 'manager'): RestClient {
    if (!this.clients) throw new Error('The ground is not laid');
    return this.clients[role];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.database.end();
    await this.folder[Symbol.asyncDispose]();
  }

  /** A credential of the user, of the workspace's own one without. */
  private async speaker(user_id: string | undefined, scope: Scope): Promise<RestClient> {
    const owner = new RestClient(this.url, this.folder.token);
    const { secret } = await owner.call(createToken, {
      label: 'of the story',
      scope,
      ...(user_id === undefined ? {} : { user_id }),
    });
    return new RestClient(this.url, secret);
  }
}

/** Tells a story in a local workspace without secrets and in one with them, at the same time. */
export function inBothWorlds<T>(tell: (world: RunningWorld, withSecrets: boolean) => Promise<T>): Promise<[T, T]> {
  return ofBothWorlds(async (withSecrets) => {
    await using world = await RunningWorld.start();
    return await tell(world, withSecrets);
  });
}

/** The same of worlds of any kind: first what was told without secrets, then what was told with them. */
export async function ofBothWorlds<T>(telling: (withSecrets: boolean) => Promise<T>): Promise<[T, T]> {
  const told = await Promise.allSettled([telling(false), telling(true)]);
  const [without, with_] = told.map((one) => {
    if (one.status === 'rejected') throw one.reason;
    return one.value;
  });
  return [without as T, with_ as T];
}

/** Line by line: a difference is told with the call that shows it. */
export function expectSame([without, with_]: readonly [readonly string[], readonly string[]]): void {
  for (const [index, line] of without.entries()) expect(with_[index]).toBe(line);
  expect(with_).toHaveLength(without.length);
}

import { execFile } from 'node:child_process';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { type CredentialStore, CredentialsUnreadable, onlyRead, type RemoteCredentials } from './credential-store.js';

const run = promisify(execFile);
const require = createRequire(import.meta.url);
/** Its plugins ask vaults over networks. */
const ANSWER_MS = 60_000;
const Values = z.record(z.string(), z.unknown());

/**
 * What the `.env.schema` of a folder resolves to, wherever its values come from: `SVC_REMOTE_TEAM_SECRET_ACCESS_KEY` is the
 * field `secret_access_key` of the remote `team`. It is read each time that a remote is opened.
 */
export class VarlockCredentials implements CredentialStore {
  private told: Promise<Readonly<Record<string, unknown>>> | null = null;

  private constructor(private readonly folder: string) {}

  /** @throws CredentialsUnreadable when the folder has no schema, or one that cannot be resolved */
  static async open(folder: string): Promise<VarlockCredentials> {
    const store = new VarlockCredentials(folder);
    await store.values();
    return store;
  }

  async given(remote: string): Promise<RemoteCredentials> {
    const prefix = `SVC_REMOTE_${remote.toUpperCase().replace(/[^A-Z0-9]/g, '_')}_`;
    const found = Object.entries(await this.values()).filter(
      ([name, value]) => name.startsWith(prefix) && value !== '',
    );
    return Object.fromEntries(found.map(([name, value]) => [name.slice(prefix.length).toLowerCase(), String(value)]));
  }

  async read(): Promise<null> {
    return null;
  }

  async write(): Promise<never> {
    throw onlyRead();
  }

  async remove(): Promise<void> {
    // Nothing is kept.
  }

  async list(): Promise<[]> {
    return [];
  }

  /** Asked once for all that want to know in the same moment. */
  private values(): Promise<Readonly<Record<string, unknown>>> {
    this.told ??= this.resolved().finally(() => {
      this.told = null;
    });
    return this.told;
  }

  private async resolved(): Promise<Readonly<Record<string, unknown>>> {
    const program = join(dirname(require.resolve('varlock')), '..', 'bin', 'cli.js');
    try {
      const args = [program, 'load', '--format', 'json', '--path', join(this.folder, '/')];
      const { stdout } = await run(process.execPath, args, { cwd: this.folder, timeout: ANSWER_MS });
      return Values.parse(JSON.parse(stdout));
    } catch {
      // What it says may hold values: whoever set it up asks it again.
      throw new CredentialsUnreadable(
        `varlock cannot resolve the schema in ${this.folder}: run \`varlock load\` there.`,
      );
    }
  }
}

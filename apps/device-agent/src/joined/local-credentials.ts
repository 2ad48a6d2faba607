import { hash, randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { Timestamp } from '@workspace-graph/contracts';
import { newId, replaceText } from '@workspace-graph/platform';
import { z } from 'zod';
import { readTokenFile, storeToken } from '../workspace/token-file.js';
import type { WorkspacePaths } from '../workspace/workspace-paths.js';

/** A credential that works at this workstation alone. Only the hash of its secret is kept. */
const LocalCredential = z.strictObject({
  id: z.uuid(),
  kind: z.enum(['workspace', 'page']),
  sha256: z.string(),
  label: z.string(),
  made_at: Timestamp,
  expires_at: Timestamp,
  /** The one that it is to take the place of; both work until then. */
  replaces: z.uuid().optional(),
});
export type LocalCredential = z.infer<typeof LocalCredential>;

const DAY_MS = 86_400_000;
const WORKSPACE_DAYS = 3_650;
const PAGE_DAYS = 30;
/** The oldest one makes room. */
const MOST_PAGES = 50;

type Files = Pick<WorkspacePaths, 'own' | 'token' | 'localCredentials'>;

/**
 * The credentials with which programs and pages on this machine use a joined workspace. They are worth nothing at the centre,
 * which knows the device by its own token.
 */
export class LocalCredentials {
  private writing: Promise<unknown> = Promise.resolve();

  private constructor(
    private readonly paths: Files,
    private held: readonly LocalCredential[],
  ) {}

  /** Reads them, and makes the one of the workspace if its file does not hold it. */
  static async open(paths: Files): Promise<LocalCredentials> {
    const credentials = new LocalCredentials(paths, await readHeld(paths.localCredentials));
    const secret = await readTokenFile(paths);
    const isKept = secret !== null && credentials.find(hashOf(secret))?.kind === 'workspace';
    if (!isKept) await storeToken(paths, await credentials.renew());
    return credentials;
  }

  /** The credential with this hash, unless it has ended. */
  find(sha256: string): LocalCredential | null {
    const found = this.held.find((each) => each.sha256 === sha256);
    return found && Date.parse(found.expires_at) > Date.now() ? found : null;
  }

  /** Whether it is the one of the workspace itself, or its successor. */
  isOfWorkspace(id: string): boolean {
    return this.held.some((each) => each.id === id && each.kind === 'workspace');
  }

  /** The secret of a credential for a browser. */
  async makePage(label: string): Promise<string> {
    const { credential, secret } = made('page', label, PAGE_DAYS);
    await this.change((held) => {
      const pages = held.filter(({ kind }) => kind === 'page').slice(-(MOST_PAGES - 1));
      return [...held.filter(({ kind }) => kind !== 'page'), ...pages, credential];
    });
    return secret;
  }

  /** A successor of the workspace's credential; both work until it is completed. */
  async makeSuccessor(): Promise<{ readonly credential: LocalCredential; readonly secret: string }> {
    const successor = made('workspace', 'Workspace', WORKSPACE_DAYS);
    await this.change((held) => {
      const current = held.find(({ kind, replaces }) => kind === 'workspace' && replaces === undefined);
      const others = held.filter(({ replaces }) => replaces === undefined);
      return [...others, { ...successor.credential, ...(current ? { replaces: current.id } : {}) }];
    });
    return successor;
  }

  /** Ends what a credential was made to replace. Answers the id of that, null for one that replaces none. */
  async complete(id: string): Promise<string | null> {
    const replaced = this.held.find((each) => each.id === id)?.replaces;
    if (replaced === undefined) return null;
    await this.change((held) =>
      held.flatMap(({ replaces, ...each }) => {
        if (each.id === replaced) return [];
        return [each.id === id || replaces === undefined ? each : { ...each, replaces }];
      }),
    );
    return replaced;
  }

  async end(id: string): Promise<void> {
    await this.change((held) => held.filter((each) => each.id !== id));
  }

  /** Another credential for the workspace, in the place of all that it had. */
  private async renew(): Promise<string> {
    const { credential, secret } = made('workspace', 'Workspace', WORKSPACE_DAYS);
    await this.change((held) => [...held.filter(({ kind }) => kind !== 'workspace'), credential]);
    return secret;
  }

  /** On disk before it is true here. */
  private change(next: (held: readonly LocalCredential[]) => readonly LocalCredential[]): Promise<void> {
    const work = this.writing.then(async () => {
      const held = next(this.held.filter(({ expires_at }) => Date.parse(expires_at) > Date.now()));
      await replaceText(this.paths.localCredentials, `${JSON.stringify(held, null, 2)}\n`);
      this.held = held;
    });
    this.writing = work.catch(() => undefined);
    return work;
  }
}

export function hashOf(secret: string): string {
  return hash('sha256', secret, 'hex');
}

function made(kind: LocalCredential['kind'], label: string, days: number) {
  const secret = `${kind === 'page' ? 'svc_pat_' : 'svc_dev_'}${randomBytes(32).toString('base64url')}`;
  const now = Date.now();
  const credential: LocalCredential = {
    id: newId(),
    kind,
    sha256: hashOf(secret),
    label,
    made_at: new Date(now).toISOString(),
    expires_at: new Date(now + days * DAY_MS).toISOString(),
  };
  return { credential, secret };
}

/** What cannot be read is worth nothing: whoever had one signs in again. */
async function readHeld(path: string): Promise<readonly LocalCredential[]> {
  const text = await readFile(path, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '[]';
    throw error;
  });
  try {
    return z.array(LocalCredential).parse(JSON.parse(text));
  } catch {
    return [];
  }
}

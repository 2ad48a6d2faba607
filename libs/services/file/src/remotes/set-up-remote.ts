import {
  type OutputOf,
  type ParsedInputOf,
  type RawJson,
  type RemoteGrade,
  type RemoteSettings,
  type setupRemote,
  validationFailed,
} from '@workspace-graph/contracts';
import { type Database, runCommand, type Transaction } from '@workspace-graph/database';
import { newId, type OperationContext } from '@workspace-graph/platform';
import { gradeRemote, onlyRead, type Remote, type RemoteCredentials } from '@workspace-graph/remotes';
import { authorOf } from '../shared/caller.js';
import { removeUnused } from './credential-sweep.js';
import { readSettings } from './read-settings.js';
import { onRemote } from './refusals.js';
import { FIND_REMOTE, LOCK_REMOTE, type RemoteRow, SAVE_REMOTE } from './remote.statements.js';
import type { RemoteParts } from './remote-parts.js';
import { markRoot, readRoot } from './remote-root.js';

type Input = ParsedInputOf<typeof setupRemote>;
type Output = OutputOf<typeof setupRemote>;

/** Sets a remote up: it is opened, its root looked at and its guarantees tried before anything is stored. */
export class RemoteSetup {
  constructor(
    private readonly database: Database,
    private readonly parts: RemoteParts,
    private readonly context: OperationContext,
  ) {}

  async run(input: Input): Promise<Output | RawJson> {
    const { name } = input;
    const [known] = await this.database.rows<RemoteRow & Record<string, unknown>>(FIND_REMOTE, [name]);
    const settings = await onRemote(name, () => this.settingsOf(input, known));
    return onRemote(name, async () => {
      await using remote = await this.parts.open(settings);
      return await this.store(input, settings, { remote, known });
    });
  }

  private async store(
    { name, confirmed }: Input,
    settings: RemoteSettings,
    { remote, known }: { readonly remote: Remote; readonly known: RemoteRow | undefined },
  ): Promise<Output | RawJson> {
    const found = await readRoot(this.database, remote, name);
    const isKnown = found !== null && (known === undefined || found === known.root_marker);
    const grade = await gradeRemote(remote);
    const told = (applied: boolean, files: number): Output => ({
      applied,
      remote: { name, type: settings.type, authenticated: true, grade },
      root: isKnown ? 'known' : 'new',
      files,
    });
    // Files that are recorded there would be looked for in the new root.
    if (known && known.files > 0 && !isKnown && !confirmed) return told(false, known.files);
    const marker = found ?? (await markRoot(this.database, remote));
    return this.withCredentials(settings, known, (secretId) =>
      runCommand(this.database, this.withoutCredentials(), async (tx) => {
        const previous = await tx.row<RemoteRow>(LOCK_REMOTE, [name]);
        await save(tx, { name, settings, grade, secretId, marker, previous });
        return told(true, previous?.files ?? 0);
      }),
    );
  }

  /** Credentials that are left out are those that there are, of the same type. */
  private async settingsOf(input: Input, known: RemoteRow | undefined): Promise<RemoteSettings> {
    const { type, config, credentials, service_account_json } = input;
    if (service_account_json !== undefined && type !== 'drive')
      throw validationFailed([{ path: 'service_account_json', message: 'is for remotes of the type drive' }]);
    const given = { ...credentials, ...(service_account_json === undefined ? {} : { service_account_json }) };
    const isGiven = credentials !== undefined || service_account_json !== undefined;
    if (isGiven && this.parts.credentials.given) throw onlyRead();
    return readSettings({ type, config, credentials: isGiven ? given : await this.kept(input, known) });
  }

  private async kept({ name, type }: Input, known: RemoteRow | undefined): Promise<RemoteCredentials> {
    const { credentials: store } = this.parts;
    if (store.given) return store.given(name);
    return (known?.type === type && known.secret_id && (await store.read(known.secret_id))) || {};
  }

  /** New credentials are there before the remote names them, and those that it had before until it does not any more. */
  private async withCredentials<T>(
    { credentials }: RemoteSettings,
    known: RemoteRow | undefined,
    save: (secretId: string | null) => Promise<T>,
  ): Promise<T> {
    const store = this.parts.credentials;
    const secretId = !store.given && Object.keys(credentials).length > 0 ? newId() : null;
    if (secretId !== null) await store.write(secretId, credentials);
    const result = await save(secretId);
    await removeUnused(
      this.database,
      store,
      [secretId, known?.secret_id].filter((id) => typeof id === 'string'),
    );
    return result;
  }

  /** What is kept of a call tells nothing of them, not even their hash. */
  private withoutCredentials(): OperationContext {
    const { credentials: _credentials, service_account_json: _json, ...input } = this.context.input as Input;
    return { ...this.context, input };
  }
}

interface SavedRemote {
  readonly name: string;
  readonly settings: RemoteSettings;
  readonly grade: RemoteGrade;
  readonly secretId: string | null;
  readonly marker: string;
  readonly previous: RemoteRow | null;
}

async function save(
  tx: Transaction,
  { name, settings, grade, secretId, marker, previous }: SavedRemote,
): Promise<void> {
  const { type, config } = settings;
  const saved = await tx.row<{ id: string }>(SAVE_REMOTE, [
    newId(),
    name,
    type,
    JSON.stringify(config),
    secretId,
    marker,
    JSON.stringify(grade),
    authorOf(tx.context.caller),
  ]);
  tx.audit({
    action: 'setup_remote',
    targetKind: 'remote',
    targetId: saved?.id ?? null,
    ...(previous && { before: { name, type: previous.type, config: previous.config, grade: previous.grade } }),
    after: { name, type, config, grade },
  });
}

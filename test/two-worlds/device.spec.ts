import type { VersionNegotiationMode } from '@modelcontextprotocol/client';
import type { Operation } from '@workspace-graph/contracts';
import { newId } from '@workspace-graph/platform';
import { baselineSql, veiledKey } from './baseline.js';
import {
  type AskBytes,
  type AskOperation,
  changeFiles,
  type Hidden,
  layFiles,
  layHiddenFiles,
  readFiles,
  stirHiddenFiles,
} from './files-story.js';
import { McpSpeaker } from './mcp-speaker.js';
import { expectSame, inBothWorlds, type RunningWorld, type Speaker } from './running-world.js';
import { noSecrets, plantSecrets, stirSecrets } from './secrets.js';
import { Transcript } from './transcript.js';

/** One role speaks the protocols with a handshake, the other the newest. */
const MODES: Readonly<Record<Speaker, VersionNegotiationMode>> = {
  reader: 'legacy',
  writer: { pin: '2026-07-28' },
  person: 'legacy',
};
const ROLES: readonly Speaker[] = ['reader', 'writer', 'person'];
/** Differ between any two answers, whoever asks. */
const PASSING_HEADERS = ['date', 'connection', 'keep-alive'];
const PASSING_TIME = /(last-modified: ).*/;
const CURSOR = /("next_cursor":\s*")([^"]+)"/g;
/** Any folder may be looked at at any moment. */
const LOOKED_AT = /"state":(\s*)"scanning"/g;
const PROJECTION = /projections\/[0-9a-f]{32}/g;
const BYTES = { 'x-request-id': 'request', 'accept-encoding': 'identity' };

describe('to those who may not see their nodes, folders with files', () => {
  it('change nothing in any answer on folders, files, search, trash, status and bytes, over REST and MCP [access.hidden.nowhere] [access.hidden.two-worlds] [access.hidden.paths] [access.hidden.indistinguishable-from-absent] [files.search.permission-only]', async () => {
    const told = await inBothWorlds(tell);
    expect(told[0].length).toBeGreaterThan(400);
    expect(told[0].some((line) => line.includes('«zebra»'))).toBe(true);
    expectSame(told);
    // The worlds differ in the key of an organization that only who manages sees, and a path of its node is told.
    expect(told[0].some((line) => line.includes('areas/tau-area/wip/tau.md'))).toBe(true);
    for (const line of told.flat()) expect(line).not.toMatch(/veiled|shrouded/i);
  }, 300_000);
});

async function tell(world: RunningWorld, withSecrets: boolean): Promise<readonly string[]> {
  await world.sql(baselineSql(withSecrets));
  const surface = { sql: (text: string) => world.sql(text), manage: world.manage, tell: () => Promise.reject(NOBODY) };
  const secrets = withSecrets ? await plantSecrets(surface) : noSecrets();
  await layFiles(world, veiledKey(withSecrets));
  const files = withSecrets ? await layHiddenFiles(world, secrets) : neverWere();
  await world.sql(TIMES_BY_PATH);
  const transcript = new Transcript({ ...secrets, ...files });
  for (const role of ROLES) {
    await using asking = await Asking.of(world, role, transcript);
    const hidden: Hidden = { secrets, files };
    if (role === 'reader') await readFiles(asking.ask, asking.fetch, hidden);
    if (withSecrets && role === 'reader') await stirSecrets(surface, secrets);
    if (withSecrets) await stirHiddenFiles(world);
    await changeFiles(asking.ask, asking.fetch, hidden);
    await readFiles(asking.ask, asking.fetch, hidden);
  }
  return transcript.lines;
}

/** Folders are scanned beside each other: which file was taken in first is no difference between the worlds. */
const TIMES_BY_PATH = `
  UPDATE file.record SET updated_at = '2024-06-01T00:00:00Z'::timestamptz
    + ('x' || substr(md5(node_id::text || path), 1, 6))::bit(24)::int * interval '1 second'`;

const NOBODY = new Error('Nobody asks through this one');

function neverWere(): Hidden['files'] {
  return { tracked: newId(), trashed: newId(), entry: newId() };
}

/** Asks in one role over every surface, and writes down all that is answered. */
class Asking implements AsyncDisposable {
  private constructor(
    private readonly world: RunningWorld,
    private readonly role: Speaker,
    private readonly transcript: Transcript,
    private readonly speaker: McpSpeaker,
  ) {}

  static async of(world: RunningWorld, role: Speaker, transcript: Transcript): Promise<Asking> {
    const speaker = await McpSpeaker.connect(world.client(role), MODES[role]);
    return new Asking(world, role, transcript, speaker);
  }

  readonly ask: AskOperation = async (operation: Operation, input) => {
    let value: unknown;
    const asked = JSON.stringify({ ...input, ...('cursor' in input ? { cursor: '…' } : {}) });
    if (operation.mcp) {
      const told = await this.speaker.callTool(operation, input);
      this.add(`tool ${operation.name}`, `${asked}\n${told.text}`);
      value = told.value;
    }
    if (operation.rest) {
      const response = await this.world.client(this.role).send(operation, input, BYTES);
      const text = await this.whole(`${operation.name} ${asked}`, response);
      value = response.ok ? JSON.parse(text) : value;
    }
    return value;
  };

  readonly fetch: AskBytes = async (path, init = {}) => {
    const headers = new Headers(init.headers);
    for (const [name, value] of Object.entries(BYTES)) headers.set(name, value);
    await this.whole(
      `${init.method ?? 'GET'} ${path}`,
      await this.world.client(this.role).fetch(path, { ...init, headers }),
    );
  };

  async [Symbol.asyncDispose](): Promise<void> {
    await this.speaker[Symbol.asyncDispose]();
  }

  private async whole(label: string, response: Response): Promise<string> {
    const text = await response.text();
    const headers = [...response.headers].filter(([name]) => !PASSING_HEADERS.includes(name));
    const told = headers.map(([name, value]) => `${name}: ${value}`.replace(PASSING_TIME, '$1<now>'));
    this.add('rest', `${label}\n${response.status}\n${told.join('\n')}\n${text}`);
    return text;
  }

  /** Without what each run has anew: the folder of the workspace, and names of projections. */
  private add(label: string, text: string): void {
    const plain = text
      .replace(CURSOR, (_, start: string, cursor: string) => `${start.replace('cursor', 'page')}${readable(cursor)}"`)
      .replace(LOOKED_AT, '"state":$1"ready"')
      .replaceAll(this.world.root, '<root>')
      .replace(PROJECTION, 'projections/<session>');
    this.transcript.add(`${this.role}: ${label}`, plain);
  }
}

/** Some cursors are ids, others are JSON. */
function readable(cursor: string): string {
  const decoded = Buffer.from(cursor, 'base64url').toString();
  return decoded.startsWith('[') || decoded.startsWith('{') ? decoded : cursor;
}

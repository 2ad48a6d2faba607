import { chmod, mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { createMirror, removeMirror } from '@workspace-graph/contracts';
import { newId } from '@workspace-graph/platform';
import fc from 'fast-check';
import { parse } from 'smol-toml';
import { type DeviceFixture, startDevice } from '../../testing/device.fixture.js';
import { AGENT_FILES, homeUrl } from './agent-files.js';
import { MirrorConfigs } from './mirror-configs.js';
import type { Edited, Ownership } from './owned-text.js';

const CLAUDE = '.mcp.json';
const CODEX = '.codex/config.toml';
const VIBE = '.vibe/agents/workspace-graph.toml';
/** The person's own, which Vibe reads instead of the one in their home. */
const VIBE_WHOLE = '.vibe/config.toml';
/** Files of somebody else that are tried with each client; SVC_PROPERTY_RUNS makes them more. */
const RUNS = Number(process.env['SVC_PROPERTY_RUNS'] ?? 300);
const NONE: Ownership = { hashes: [], made: null };
const URL_ONE = homeUrl('http://127.0.0.1:4011/mcp', newId());

let port: number;
let device: DeviceFixture;
let folder: string;
let nodeId: string;
const put = async (path: string, text: string): Promise<void> => {
  await mkdir(dirname(join(folder, path)), { recursive: true });
  await writeFile(join(folder, path), text);
};
const text = (path: string): Promise<string> => readFile(join(folder, path), 'utf8');
const states = async (): Promise<Record<string, string>> => {
  const { scope_config: files } = await device.call(createMirror, { node_id: nodeId });
  return Object.fromEntries(files.map(({ path, state }) => [path, state]));
};

describe('the configuration of agent clients', () => {
  beforeEach(async () => {
    port = 4011;
    device = await startDevice({ settings: { mcpUrl: () => `http://127.0.0.1:${port}/mcp` } });
    nodeId = device.records.node({ name: 'Alpha' });
    folder = join(device.root, 'acme', 'projects', 'alpha');
  });
  afterEach(() => device.close());

  it('names the address with the home node for three of them, and the credential by its variable [mirrors.client-config.three-agents]', async () => {
    await states();
    const url = `http://127.0.0.1:4011/mcp?home_node_id=${nodeId}`;
    expect(JSON.parse(await text(CLAUDE))).toEqual({
      mcpServers: {
        // biome-ignore lint/suspicious/noTemplateCurlyInString: the client puts the variable in
        'workspace-graph': { type: 'http', url, headers: { Authorization: 'Bearer ${SVC_TOKEN}' } },
      },
    });
    expect(parse(await text(CODEX))).toEqual({
      mcp_servers: { 'workspace-graph': { url, bearer_token_env_var: 'SVC_TOKEN' } },
    });
    expect(parse(await text(VIBE))).toEqual({
      mcp_servers: [{ name: 'workspace-graph', transport: 'streamable-http', url, api_key_env: 'SVC_TOKEN' }],
    });
  });

  it('holds no credential anywhere in the folder [mirrors.client-config.no-literal-token]', async () => {
    const secret = `svc_${'s3cr3t'.repeat(6)}`;
    const before = process.env['SVC_TOKEN'];
    process.env['SVC_TOKEN'] = secret;
    try {
      await writeFile(join(device.root, '.svc', 'token'), secret);
      await states();
    } finally {
      if (before === undefined) delete process.env['SVC_TOKEN'];
      else process.env['SVC_TOKEN'] = before;
    }
    const names = await readdir(folder, { recursive: true, withFileTypes: true });
    const files = names.filter((entry) => entry.isFile());
    expect(files.length).toBeGreaterThanOrEqual(4);
    for (const entry of files) expect(await readFile(join(entry.parentPath, entry.name), 'utf8')).not.toContain(secret);
  });

  it('is written anew when the address changes, and only then', async () => {
    await states();
    const before = await stat(join(folder, CLAUDE), { bigint: true });
    const configs = device.module.get(MirrorConfigs);
    configs.refreshInBackground();
    await configs.settled();
    expect((await stat(join(folder, CLAUDE), { bigint: true })).ino).toBe(before.ino);
    port = 5022;
    configs.refreshInBackground();
    await configs.settled();
    for (const path of [CLAUDE, CODEX, VIBE]) {
      expect(await text(path)).toContain('http://127.0.0.1:5022/mcp?home_node_id=');
      expect(await text(path)).not.toContain(':4011');
    }
    expect(await states()).toEqual({
      [CLAUDE]: 'unchanged',
      [CODEX]: 'unchanged',
      [VIBE]: 'unchanged',
      'SVC_SCOPE.md': 'unchanged',
    });
  });

  it('comes beside entries of others, which stay as they are, and goes without them [mirrors.client-config.foreign-untouched]', async () => {
    const claude = '{\n\t"mcpServers": {\n\t\t"other":   {"command":"x"}\n\t},\n\t"last": [1,  2]\n}';
    const codex = '# mine\nmodel = "o"   # why\n\n[mcp_servers.other]\ncommand = "x"\r\n[tools]\nweb = true';
    const vibe = 'theme = "dark"\n\n[[mcp_servers]]\nname = "other"\ntransport = "stdio"\ncommand = "x"\n';
    await put(CLAUDE, claude);
    await put(CODEX, codex);
    await put(VIBE, vibe);
    await chmod(join(folder, CODEX), 0o600);
    expect(await states()).toEqual({
      [CLAUDE]: 'written',
      [CODEX]: 'written',
      [VIBE]: 'written',
      'SVC_SCOPE.md': 'written',
    });
    expect(await text(CLAUDE)).toContain('"other":   {"command":"x"}');
    expect(Object.keys(JSON.parse(await text(CLAUDE)).mcpServers)).toEqual(['other', 'workspace-graph']);
    expect(await text(CODEX)).toContain(codex);
    expect((await stat(join(folder, CODEX))).mode & 0o777).toBe(0o600);
    expect(await text(VIBE)).toContain(vibe);
    port = 5022;
    expect(await states()).toMatchObject({ [CLAUDE]: 'written', [CODEX]: 'written', [VIBE]: 'written' });
    await device.call(removeMirror, { node_id: nodeId });
    expect([await text(CLAUDE), await text(CODEX), await text(VIBE)]).toEqual([claude, codex, vibe]);
  });

  it('leaves an entry of our name alone that somebody else made, and one of ours that was changed [mirrors.client-config.foreign-untouched]', async () => {
    const foreign = {
      [CLAUDE]: '{"mcpServers":{"workspace-graph":{"type":"http","url":"https://example.org/mcp"}}}',
      [CODEX]: '[mcp_servers.workspace-graph]\nurl = "https://example.org/mcp"\n',
      [VIBE]: '[[mcp_servers]]\nname = "workspace-graph"\ntransport = "http"\nurl = "https://example.org/mcp"\n',
      'SVC_SCOPE.md': '# My own notes\n',
    };
    const allForeign = { [CLAUDE]: 'foreign', [CODEX]: 'foreign', [VIBE]: 'foreign', 'SVC_SCOPE.md': 'foreign' };
    for (const [path, content] of Object.entries(foreign)) await put(path, content);
    expect(await states()).toEqual(allForeign);
    for (const [path, content] of Object.entries(foreign)) {
      expect(await text(path)).toBe(content);
      await rm(join(folder, path));
    }
    await states();
    const changed: Record<string, string> = {};
    for (const [path, from, to] of [
      [CLAUDE, '"type": "http"', '"type": "http", "mine": true'],
      [CODEX, 'bearer_token_env_var', 'enabled = false\nbearer_token_env_var'],
      [VIBE, 'transport', 'disabled = true\ntransport'],
      ['SVC_SCOPE.md', '# Alpha', '# Alpha, with notes of mine'],
    ] as const) {
      changed[path] = (await text(path)).replace(from, to);
      await put(path, changed[path]);
    }
    port = 5022;
    expect(await states()).toEqual(allForeign);
    await device.call(removeMirror, { node_id: nodeId });
    for (const [path, content] of Object.entries(changed)) expect(await text(path)).toBe(content);
  });

  it('takes the place of nobody’s configuration of Vibe, and joins one that lies in the folder [mirrors.client-config.foreign-untouched]', async () => {
    expect(Object.keys(await states())).toEqual([CLAUDE, CODEX, VIBE, 'SVC_SCOPE.md']);
    expect(await readdir(join(folder, '.vibe'))).toEqual(['agents']);
    const own = 'active_model = "mine"\n';
    await put(VIBE_WHOLE, own);
    expect(await states()).toMatchObject({ [VIBE]: 'unchanged', [VIBE_WHOLE]: 'written' });
    expect(parse(await text(VIBE_WHOLE))).toMatchObject({
      active_model: 'mine',
      mcp_servers: [{ name: 'workspace-graph' }],
    });
    await device.call(removeMirror, { node_id: nodeId });
    expect(await text(VIBE_WHOLE)).toBe(own);
    expect(await readdir(join(folder, '.vibe'))).toEqual(['config.toml']);
  });

  it('takes back a whole configuration of Vibe that an earlier version wrote', async () => {
    await states();
    await put(VIBE_WHOLE, await text(VIBE));
    expect(Object.keys(await states())).not.toContain(VIBE_WHOLE);
    expect(await readdir(join(folder, '.vibe'))).toEqual(['agents']);
    await device.call(removeMirror, { node_id: nodeId });
    expect(await readdir(folder)).not.toContain('.vibe');
  });

  it('is not added to files that it could not be added to without harm', async () => {
    const target = join(device.root, 'target.json');
    await writeFile(target, '{}');
    const cases: readonly (readonly [string, string])[] = [
      [CLAUDE, ''],
      [CLAUDE, '{ // comment\n}'],
      [CLAUDE, '{"a":1,}'],
      [CLAUDE, '[]'],
      [CLAUDE, '{"mcpServers":[]}'],
      [CLAUDE, '{"mcpServers":{},"mcpServers":{}}'],
      [CLAUDE, '\uFEFF{}'],
      [CODEX, 'mcp_servers = { other = { command = "x" } }\n'],
      [CODEX, 'mcp_servers = 1\n'],
      [CODEX, 'a = \n'],
      [VIBE, 'mcp_servers = []\n'],
      [VIBE, '[mcp_servers]\n'],
    ];
    for (const [path, content] of cases) {
      await put(path, content);
      expect([content, (await states())[path]]).toEqual([content, 'foreign']);
      expect(await text(path)).toBe(content);
    }
    await rm(join(folder, CLAUDE));
    await symlink(target, join(folder, CLAUDE));
    await rm(join(folder, '.codex'), { recursive: true });
    await symlink(device.root, join(folder, '.codex'));
    expect(await states()).toMatchObject({ [CLAUDE]: 'foreign', [CODEX]: 'foreign' });
    expect(await readFile(target, 'utf8')).toBe('{}');
    expect(await readdir(device.root)).not.toContain('config.toml');
    await rm(join(folder, CLAUDE));
    await writeFile(join(folder, CLAUDE), Buffer.from([0x7b, 0xff, 0x7d]));
    expect(await states()).toMatchObject({ [CLAUDE]: 'foreign' });
  });

  it('is ours after a process that ended between its note and the file, and the note alone claims nothing', async () => {
    const entry = AGENT_FILES[0]?.entry(homeUrl('http://127.0.0.1:4011/mcp', nodeId));
    const note = join(device.root, '.svc', 'mirrors', `${nodeId}.json`);
    await mkdir(dirname(note), { recursive: true });
    await writeFile(note, JSON.stringify({ hashes: [entry?.hash], made: 'file' }));
    expect(await states()).toMatchObject({ [CLAUDE]: 'written' });
    const ours = await text(CLAUDE);
    await put(CLAUDE, '{"mcpServers":{"workspace-graph":{"command":"mine"}}}');
    expect(await states()).toMatchObject({ [CLAUDE]: 'foreign' });
    await put(CLAUDE, ours);
    await rm(note);
    expect(await states()).toMatchObject({ [CLAUDE]: 'foreign' });
    expect(await text(CLAUDE)).toBe(ours);
  });
});

describe('whatever somebody else has in a file', () => {
  const json = fc
    .tuple(
      fc.dictionary(fc.string({ maxLength: 6 }), fc.jsonValue({ maxDepth: 2 }), { maxKeys: 4 }),
      fc.option(fc.dictionary(fc.string({ maxLength: 6 }), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 3 }), {
        nil: undefined,
      }),
      fc.constantFrom('', ' ', '  ', '    ', '\t'),
      fc.constantFrom('\n', '\r\n'),
      fc.constantFrom('', '\n', ' \n\n'),
    )
    .map(([others, servers, indent, eol, tail]) => {
      const content = servers === undefined ? others : { ...others, mcpServers: servers };
      return JSON.stringify(content, null, indent).replaceAll('\n', eol) + tail;
    });
  const line = fc.oneof(
    fc
      .tuple(
        fc.stringMatching(/^[a-z]{1,8}$/),
        fc.oneof(fc.integer(), fc.boolean(), fc.string({ unit: 'grapheme-ascii' })),
      )
      .map(([key, value]) => `${key} = ${JSON.stringify(value)}`),
    fc.stringMatching(/^[a-z]{1,5}$/).map((name) => `[${name}]`),
    fc.stringMatching(/^[a-z]{1,5}$/).map((name) => `[mcp_servers.${name}]`),
    fc.string({ unit: 'grapheme-ascii', maxLength: 10 }).map((words) => `# ${words}`),
    fc.constant('[[mcp_servers]]\nname = "x"'),
    fc.constant(''),
  );
  const toml = fc
    .tuple(fc.array(line, { maxLength: 8 }), fc.constantFrom('\n', '\r\n'), fc.constantFrom('', '\n', '\n\n'))
    .map(([lines, eol, tail]) => lines.join(eol) + tail);

  it.each(AGENT_FILES.map((file) => [file.path, file] as const))(
    'survives our entry in %s: writing, another address, removing [mirrors.client-config.foreign-untouched]',
    (path, file) => {
      let kept = 0;
      fc.assert(
        fc.property(path === CLAUDE ? json : toml, fc.boolean(), (before, changes) => {
          const first = file.entry(URL_ONE);
          const written = first.write(before, NONE);
          if (written === 'foreign') return;
          kept += 1;
          const own = ownership(written, first.hash);
          expect(first.write(textOf(written), own)).toMatchObject({ text: textOf(written) });
          const second = file.entry(URL_ONE.replace('4011', '5022'));
          const last = changes ? second.write(textOf(written), own) : written;
          const removed = second.remove(textOf(last), ownership(last, changes ? second.hash : first.hash));
          expect(textOf(removed)).toBe(before);
        }),
        { numRuns: RUNS },
      );
      expect(kept).toBeGreaterThan(20);
    },
  );

  function textOf(edited: Edited): string {
    if (edited === 'foreign' || edited.text === null) throw new Error(`no text: ${JSON.stringify(edited)}`);
    return edited.text;
  }

  function ownership(edited: Edited, hash: string | null): Ownership {
    return { hashes: hash === null ? [] : [hash], made: edited === 'foreign' ? null : edited.made };
  }
});

import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Caller, createMirror } from '@workspace-graph/contracts';
import { newId } from '@workspace-graph/platform';
import { type DeviceFixture, startDevice } from '../testing/device.fixture.js';
import { isOwnText } from './marked-text.js';

const AT = '2026-05-04T10:00:00.000Z';

let device: DeviceFixture;
let nodeId: string;
let path: string;
beforeEach(async () => {
  device = await startDevice();
  nodeId = device.records.node({ name: 'Alpha' });
  path = join(device.root, 'acme', 'projects', 'alpha');
});
afterEach(() => device.close());

const scope = async (caller?: Caller): Promise<string> => {
  await device.call(createMirror, { node_id: nodeId }, caller);
  return readFile(join(path, 'SVC_SCOPE.md'), 'utf8');
};
const event = (content: string, occurredAt = AT) => ({
  id: newId(),
  node_id: nodeId,
  kind: 'decision' as const,
  status: 'active' as const,
  content,
  occurred_at: occurredAt,
  logged_at: AT,
  logged_by: 'Ann',
  resolution: null,
  resolved_at: null,
  resolved_by: null,
  supersedes_id: null,
  superseded_by_id: null,
  version: 1,
});

describe('SVC_SCOPE.md', () => {
  it('says what sets the credential, for an agent that is not let in', async () => {
    const told = await scope();
    expect(told).toContain('from the variable SVC_TOKEN');
    expect(told).toContain('eval "$(svc agent env)"');
  });

  it('tells what the node is about, who answers for what, what happened and where to save what [mirrors.scope-file]', async () => {
    const near = newId();
    device.graph.details.set(nodeId, {
      name: 'Alpha',
      organization: { id: newId(), type: 'organization', name: 'Acme' },
      health: 'at_risk',
      health_report: { value: 'at_risk', note: 'late', by: 'Ann', at: AT },
      owner: { id: newId(), type: 'person', name: 'Ann' },
      description: 'What it is.\nIn two lines.',
      goal: 'To be done.',
      responsibilities: [
        {
          id: newId(),
          title: 'Plan',
          description: 'the budget',
          assignees: [{ id: near, type: 'person', name: 'Bob' }],
        },
        { id: newId(), title: 'Report', description: '', assignees: [] },
      ],
      data_sources: [{ id: newId(), name: 'Ledger', url: 'https://example.org/a b' }],
      tools: [{ id: newId(), name: 'Sheet', url: null }],
      recent_events: [event('We chose the blue one.')],
      nodes: [
        {
          id: near,
          type: 'area',
          name: 'Finance',
          lifecycle: 'active',
          health: null,
          health_note: null,
          depth: 1,
          via: [{ from: nodeId, relation: 'belongs_to', direction: 'outgoing' }],
          owner: null,
        },
      ],
    });
    const text = await scope();
    for (const line of [
      '# Alpha',
      '- Type: project',
      '- Organization: Acme',
      '- Lifecycle: in_progress',
      '- Health: at_risk (late)',
      '- Owner: Ann',
      `- Node id: ${nodeId}`,
      '> What it is.',
      '> In two lines.',
      '> To be done.',
      `- belongs to: Finance (area, active, ${near})`,
      '- Plan: the budget (Bob)',
      '- Report (nobody yet)',
      '- Ledger: <https://example.org/a%20b>',
      '- Sheet',
      '- 2026-05-04, decision, active: We chose the blue one.',
      '- `wip/`: work in progress',
      '- `outputs/`: finished results that others use',
      '- `resources/`: reference material',
    ])
      expect(text.split('\n')).toContain(line);
    expect(text).toContain('`HANDOFF.md`');
    expect(text).not.toContain('## Handoff');
  });

  it('points to a handoff that is there [mirrors.scope-file]', async () => {
    const caller = device.caller();
    await scope(caller);
    await writeFile(join(path, 'HANDOFF.md'), 'Go on here.');
    expect(await scope(caller)).toContain(
      '## Handoff\n\nEarlier work left a handoff: read HANDOFF.md in this folder first.',
    );
  });

  it('points to the handoffs that sessions left, to the text of one where it lies in the folder [mirrors.scope-file]', async () => {
    const caller = device.caller();
    const session = (name: string, handoff: string | null) => ({
      ...{ id: newId(), name, handoff, state: 'suspended' as const, at: AT, changes: {} },
    });
    const [here, elsewhere] = [session('Alpha · Draft', 'Draft is *ready*'), session('Alpha', 'Go on')];
    device.graph.details.set(nodeId, { recent_sessions: [here, elsewhere, session('Without', null)] });
    await scope(caller);
    await mkdir(join(path, '.svc/handoffs'), { recursive: true });
    await writeFile(join(path, `.svc/handoffs/${here.id}.md`), '# Draft');
    expect(await scope(caller)).toContain(
      [
        '## Handoff\n\nSessions that worked here left:\n',
        `- Draft is \\*ready\\* (session Alpha · Draft): read .svc/handoffs/${here.id}.md in this folder`,
        `- Go on (session Alpha): svc_list_session_events with session_id ${elsewhere.id}`,
        '',
      ].join('\n'),
    );
  });

  it('keeps what people wrote from being markup, and stays below 32 KB', async () => {
    device.graph.details.set(nodeId, {
      name: '# <b>*x*</b>\n## Ignore this',
      description: `<!-- -->\n# Heading\n\u2028# Another\n${'ž'.repeat(19_000)}`,
      goal: '`code` [link](https://example.org) ![image](x)',
      recent_events: Array.from({ length: 20 }, () => event(`a\n# b\n${'🙂'.repeat(2_000)}`)),
      responsibilities: Array.from({ length: 300 }, (_, index) => ({
        id: newId(),
        title: `Duty ${index}`,
        description: 'ž'.repeat(5_000),
        assignees: [],
      })),
    });
    const text = await scope();
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(32 * 1024);
    expect(Buffer.byteLength(text)).toBeGreaterThan(16 * 1024);
    expect(text.isWellFormed()).toBe(true);
    const headings = text.split('\n').filter((line) => line.startsWith('#'));
    expect(headings.slice(0, 3)).toEqual([
      '# \\# \\<b\\>\\*x\\*\\</b\\> \\#\\# Ignore this',
      '## Where to save what',
      '## Description',
    ]);
    expect(headings.every((line) => /^##? (\\#|Where|Desc|Goal|Resp|Recent)/.test(line))).toBe(true);
    expect(text).toContain('The rest is omitted');
    expect(text.indexOf('-->')).toBe(text.lastIndexOf('-->'));
    expect(isOwnText(text)).toBe(true);
  });

  it('is never written anew for somebody who may see more than the one it was made for', async () => {
    const writer = device.caller('write');
    const first = await scope(writer);
    device.graph.details.set(nodeId, { description: 'changed' });
    expect(await scope(device.caller('write'))).toBe(first);
    expect(await scope(device.caller('manage'))).toBe(first);
    expect(await scope({ ...writer, scope: 'manage' })).toContain('> changed');
    expect(device.graph.askers.at(-1)).toMatchObject({ user_id: writer.user_id, scope: 'write' });
    device.graph.details.set(nodeId, { description: 'once more' });
    expect(await scope(writer)).toContain('> once more');
  });
});

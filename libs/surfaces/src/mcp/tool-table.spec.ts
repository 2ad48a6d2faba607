import { centralOperationsOf, OPERATIONS, type Operation, query } from '@workspace-graph/contracts';
import { SERVICES } from '@workspace-graph/platform';
import { z } from 'zod';
import { buildGuides } from './guides/guides.js';
import { instructionsFor } from './instructions.js';
import { ToolTable } from './tool-table.js';

const table = new ToolTable(OPERATIONS.values());

function tool(change: Partial<Operation>): Operation {
  const operation = query({
    name: 'try_out',
    owner: 'graph',
    tier: 'read',
    reach: {},
    doc: 'Try something out.',
    input: z.strictObject({}),
    output: z.strictObject({}),
    mcp: { tool: 'svc_try_out', title: 'Try out' },
  });
  return { ...operation, ...change };
}

describe('the tools', () => {
  it('say truthfully what they do to the graph [mcp.tools.annotations]', () => {
    const told = table.all().map(({ tool: { name, annotations }, scope }) => {
      const hints = [
        annotations?.readOnlyHint ? 'reads' : 'writes',
        ...(annotations?.destructiveHint ? ['destructive'] : []),
        ...(annotations?.idempotentHint ? ['idempotent'] : []),
        ...(annotations?.openWorldHint ? ['open world'] : []),
      ];
      return `${name} (${scope}): ${hints.join(', ')}`;
    });
    expect(told.sort()).toMatchSnapshot();
  });

  it('are destructive by the definition of the protocol: all that change something, but for those that only add [mcp.tools.annotations]', () => {
    const changing = table.all().filter(({ tool: { annotations } }) => !annotations?.readOnlyHint);
    const adding = changing.filter(({ tool: { annotations } }) => annotations?.destructiveHint === false);
    expect(adding.map(({ tool: { name } }) => name).sort()).toEqual([
      'svc_add_data_source',
      'svc_add_responsibility',
      'svc_add_tool',
      'svc_adopt_files',
      'svc_connect',
      'svc_create_actor',
      'svc_create_file',
      'svc_create_node',
      'svc_expand_scope',
      'svc_log',
      'svc_mirror',
      'svc_request_access',
      'svc_session_init',
      'svc_session_log',
      'svc_snapshot',
    ]);
    for (const {
      tool: { annotations },
    } of table.all()) {
      if (annotations?.readOnlyHint) expect(annotations.destructiveHint).toBe(false);
    }
  });

  it('are listed by scope, each scope including the weaker ones', () => {
    const sizes = (['read', 'write', 'manage'] as const).map((scope) => table.listFor(scope).length);
    expect(sizes).toEqual([...sizes].sort((a, b) => a - b));
    expect(table.listFor('manage')).toHaveLength(table.size);
    expect(table.listFor('read')).toBe(table.listFor('read'));
  });

  it('speak of each other by the names that an agent calls', () => {
    const told = JSON.stringify(
      table.all().map(({ tool: { description, inputSchema } }) => [description, inputSchema]),
    );
    for (const { name, mcp } of OPERATIONS.values()) {
      if (mcp && name.includes('_')) expect(told).not.toMatch(new RegExp(`[ (]${name}\\b`));
    }
    expect(told).toContain('svc_restore_node restores its previous lifecycle');
  });

  it.each([
    ['no scope', { tier: undefined }, 'declares no scope'],
    ['the scope of our own processes', { tier: 'internal' } as const, 'declares no scope'],
    ['no word on what it does', { doc: ' ' }, 'has no description'],
    ['a result that is no object', { output: z.array(z.string()) }, 'must be an object'],
  ])('stop the process from starting when one has %s [mcp.tools.scope-declared]', (_what, change, message) => {
    expect(() => new ToolTable([tool(change)])).toThrow(message);
  });

  it('stop the process from starting when two have one name', () => {
    expect(() => new ToolTable([tool({}), tool({ name: 'try_again' })])).toThrow('two operations');
  });
});

describe('the guides [mcp.resources.model]', () => {
  const text = buildGuides(table)
    .map((guide) => guide.text)
    .join('\n');

  it('name every tool, and name no tool that does not exist', () => {
    for (const {
      tool: { name },
    } of table.all())
      expect(text).toContain(`\`${name}\``);
    const named = new Set(text.match(/svc_[a-z_]+/g));
    for (const name of named) expect(table.find(name)?.tool.name).toBe(name);
  });

  it('and the instructions tell of folders only where there are folders, and of files everywhere', () => {
    const central = new ToolTable(centralOperationsOf(SERVICES.gateway.calls));
    const told = [instructionsFor(central), ...buildGuides(central).map((guide) => guide.text)].join('\n');
    for (const name of ['svc_sync_health', 'svc_mirror', 'svc_restore_trash']) {
      expect(told).not.toContain(name);
      expect(text).toContain(name);
    }
    for (const name of told.match(/svc_[a-z_]+/g) ?? [])
      expect([name, central.find(name)?.tool.name]).toEqual([name, name]);
    for (const name of ['svc_read_file', 'svc_list_files', 'svc_write_file', 'svc_status'])
      expect(told).toContain(name);
    expect(Buffer.byteLength(instructionsFor(central))).toBeLessThan(2_048);
  });

  it('read as Markdown tables with as many cells in each row', () => {
    const tables = text.split('\n\n').filter((block) => block.startsWith('| '));
    expect(tables.length).toBeGreaterThan(5);
    for (const block of tables) {
      const widths = block
        .trim()
        .split('\n')
        .map((row) => row.replaceAll('\\|', '').split('|').length);
      expect(new Set(widths).size).toBe(1);
    }
  });
});

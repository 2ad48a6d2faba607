import {
  listRoutingRules,
  NODE_TYPES,
  type NodeType,
  type RoutingRule,
  setRoutingPolicy,
} from '@workspace-graph/contracts';
import { inRoutingOrder } from '@workspace-graph/domain';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { type ConfirmOptions, confirmed, YES } from '../confirm.js';
import { type Output, table } from '../output.js';
import { readJson } from '../read-json.js';
import { runs } from '../run-command.js';
import { connect, type WorkspaceClient } from '../workspace-client.js';

interface AddOptions {
  readonly type?: NodeType;
  readonly organization?: string;
  readonly priority: number;
}
interface Policy {
  readonly rules: readonly RoutingRule[];
}

interface Replaced extends Policy {
  readonly applied: boolean;
}

const USUAL_PRIORITY = 100;

/** `svc remote route list|add|set`: which nodes keep their files on which remote. */
export function routeCommands(remote: Command): void {
  const route = remote.command('route').description('which storage holds the files of which nodes (needs manage)');
  runs(route.command('list').description('list the rules in the order in which they are tried'), async ({ out }) =>
    show(out, await (await connect()).call(listRoutingRules, {})),
  );
  addCommand(route);
  setCommand(route);
}

function addCommand(route: Command): void {
  runs<AddOptions>(
    route
      .command('add')
      .description('add a rule to those that there are')
      .argument('<remote>', 'name of the remote')
      .addOption(new Option('--type <type>', 'only nodes of this type').choices(NODE_TYPES))
      .option('--organization <key>', 'only nodes of the organization with this key')
      .option('--priority <number>', 'the lowest wins', priority, USUAL_PRIORITY),
    async ({ out, args: [remote_name = ''], options }) => {
      const client = await connect();
      const { rules } = await client.call(listRoutingRules, {});
      const { type: node_type = null, organization: org_slug = null, priority: rank } = options;
      await store(client, out, { rules: [...rules, { priority: rank, node_type, org_slug, remote_name }] });
    },
  );
}

function setCommand(route: Command): void {
  runs<ConfirmOptions>(
    route
      .command('set')
      .description('replace all rules by those of a file')
      .argument('<file>', 'JSON array of rules (priority, node_type, org_slug, remote_name), - for standard input')
      .option(...YES),
    async ({ out, args: [file = '-'], options }) => {
      const rules = await readJson<RoutingRule[]>(file);
      const client = await connect();
      const current = (applied: boolean) => async (): Promise<Replaced> => ({
        applied,
        ...(await client.call(listRoutingRules, {})),
      });
      const apply = async (): Promise<Replaced> => {
        await client.call(setRoutingPolicy, { rules });
        return current(true)();
      };
      const describe = (policy: Replaced): string[] => [
        policy.applied ? 'The rules are now:' : `${rules.length} rules replace all of these:`,
        ...lines(policy),
      ];
      await confirmed<Replaced>(out, { preview: current(false), apply, describe }, options);
    },
  );
}

async function store(client: WorkspaceClient, out: Output, policy: Policy): Promise<void> {
  await client.call(setRoutingPolicy, { rules: [...policy.rules] });
  show(out, { rules: inRoutingOrder(policy.rules) });
}

function show(out: Output, policy: Policy): void {
  out.result(policy, lines(policy));
}

function lines({ rules }: Policy): string[] {
  const rows = rules.map(({ priority: rank, node_type, org_slug, remote_name }) => [
    String(rank),
    node_type ?? 'any',
    org_slug ?? 'any',
    remote_name,
  ]);
  return table([['PRIORITY', 'TYPE', 'ORGANIZATION', 'REMOTE'], ...rows]);
}

function priority(text: string): number {
  const value = Number(text);
  if (text.trim() === '' || !Number.isInteger(value)) throw new InvalidArgumentError('must be a whole number.');
  return value;
}

import {
  listRemotes,
  type OutputOf,
  REMOTE_TYPES,
  type RemoteSummary,
  type RemoteType,
  removeRemote,
  setupRemote,
  testRemote,
} from '@workspace-graph/contracts';
import { type Command, Option } from 'commander';
import { type ConfirmOptions, confirmed, YES, YES_FLAGS } from '../confirm.js';
import { table } from '../output.js';
import { readJson } from '../read-json.js';
import { runs } from '../run-command.js';
import { connect } from '../workspace-client.js';
import { collect, credentialsOf, readFields } from './remote-fields.js';
import { routeCommands } from './remote-routes.js';

interface AddOptions extends ConfirmOptions {
  readonly type: RemoteType;
  readonly set: readonly string[];
  readonly credentials?: string;
}

/** `svc remote add|list|test|remove|route`: storages of the organisation that a central workspace keeps files on. */
export function remoteCommands(program: Command): void {
  const remote = program.command('remote').description('set up, try and route to storages of a central workspace');
  addCommand(remote);
  listCommand(remote);
  testCommand(remote);
  removeCommand(remote);
  routeCommands(remote);
}

function addCommand(remote: Command): void {
  runs<AddOptions>(
    remote
      .command('add')
      .description('set up a storage, or replace its configuration, after trying what it guarantees (needs manage)')
      .argument('<name>', 'name of the remote')
      .addOption(new Option('--type <type>', 'kind of storage').choices(REMOTE_TYPES).makeOptionMandatory())
      .option('--set <field=value>', 'a field of its configuration; may be repeated', collect, [])
      .option(
        '--credentials <file>',
        'JSON object with its credentials, or the key that Google gave out; - for standard input; default: those it has',
      )
      .option(YES_FLAGS, 'take another root although files are recorded on the remote'),
    async ({ out, args: [name = ''], options }) => {
      const { type, set, credentials, yes = false } = options;
      const config = readFields(type, set);
      const given = credentials === undefined ? {} : credentialsOf(type, await readJson(credentials));
      const client = await connect();
      out.note('Trying the storage …');
      const answer = await client.call(setupRemote, { name, type, config, ...given, confirmed: yes });
      out.result(answer, describeSetup(answer));
    },
  );
}

function listCommand(remote: Command): void {
  runs(remote.command('list').description('list the storages, and what each guarantees'), async ({ out }) => {
    const answer = await (await connect()).call(listRemotes, {});
    const rows = answer.remotes.map(rowOf);
    out.result(answer, table([['NAME', 'TYPE', 'CREDENTIALS', 'CONDITIONS', 'LISTING', 'HASHES', 'TRIED'], ...rows]));
  });
}

function testCommand(remote: Command): void {
  runs(
    remote
      .command('test')
      .description('try what a storage guarantees, and store it (needs manage)')
      .argument('<name>', 'name of the remote'),
    async ({ out, args: [name = ''] }) => {
      const answer = await (await connect()).call(testRemote, { name });
      out.result(answer, describeRemote(answer));
    },
  );
}

function removeCommand(remote: Command): void {
  runs<ConfirmOptions>(
    remote
      .command('remove')
      .description('forget a storage and its credentials; nothing on it is changed (needs manage)')
      .argument('<name>', 'name of the remote')
      .option(...YES),
    async ({ out, args: [name = ''], options }) => {
      const client = await connect();
      const remove = async (): Promise<{ removed: string | null }> => {
        await client.call(removeRemote, { name });
        return { removed: name };
      };
      const describe = ({ removed }: { removed: string | null }): string[] => [
        removed === null
          ? `The remote ${name} and its credentials are forgotten; what lies on the storage stays.`
          : `The remote ${removed} is forgotten.`,
      ];
      await confirmed(out, { preview: async () => ({ removed: null }), apply: remove, describe }, options);
    },
  );
}

function describeSetup({ applied, remote, root, files }: OutputOf<typeof setupRemote>): string[] {
  if (!applied)
    return [
      `${files} files are recorded on the remote ${remote.name}, and this is another root: they would be looked for there.`,
      'Nothing was changed: add --yes to apply it.',
    ];
  const known = root === 'known' ? 'its root was known' : 'its root is new, and marked with .workspace-graph.json';
  return [`The remote ${remote.name} is set up; ${known}.`, ...describeRemote(remote)];
}

function describeRemote({ type, grade }: RemoteSummary): string[] {
  const conditions = {
    atomic: 'The storage itself refuses to overwrite what a writer has not seen.',
    captured: 'What a write displaces is compared, and put back where it is something else.',
    checked: 'It does not refuse to overwrite: writes to one file are let in one by one.',
  };
  return [
    `Type         ${type}`,
    `Conditions   ${grade.conditions}. ${conditions[grade.conditions]}`,
    `Listing      ${grade.listing}`,
    `Names        ${grade.case_sensitive ? 'differ by case' : 'do not differ by case'}`,
    `Hashes       ${grade.hashes.join(', ') || 'none'}`,
    `Trash        ${grade.trash_days === null ? 'none' : `${grade.trash_days} days`}`,
  ];
}

function rowOf({ name, type, authenticated, grade }: RemoteSummary): string[] {
  const hashes = grade.hashes.join(', ') || 'none';
  return [
    name,
    type,
    authenticated ? 'yes' : 'missing',
    grade.conditions,
    grade.listing,
    hashes,
    grade.graded_at.slice(0, 16),
  ];
}

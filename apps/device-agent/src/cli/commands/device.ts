import {
  type Device,
  inviteDevice,
  LIMITS,
  listDevices,
  revokeDevice,
  SCOPES,
  type Scope,
} from '@workspace-graph/contracts';
import { type Command, Option } from 'commander';
import { everyItem } from '../every-item.js';
import { table } from '../output.js';
import { wholeNumber } from '../parse-options.js';
import { runs } from '../run-command.js';
import { connect } from '../workspace-client.js';

interface InviteOptions {
  readonly scope?: Scope;
  readonly user?: string;
  readonly minutes?: number;
}
interface ListOptions {
  readonly all?: boolean;
  readonly everybody?: boolean;
}

/** `svc device invite|list|revoke`: workstations of a central workspace. */
export function deviceCommands(program: Command): void {
  const device = program
    .command('device')
    .alias('devices')
    .description('invite workstations to a central workspace, list and revoke them');
  inviteCommand(device);
  listCommand(device);
  revokeCommand(device);
}

function inviteCommand(device: Command): void {
  runs<InviteOptions>(
    device
      .command('invite')
      .description('make a code by which one workstation joins, once, and print it')
      .addOption(new Option('--scope <scope>', 'scope of the device; default: your own').choices(SCOPES))
      .option('--user <id>', 'for another user (needs manage)')
      .option(
        '--minutes <number>',
        `minutes for which the code works; default: ${LIMITS.invitationMinutesDefault}`,
        wholeNumber,
      ),
    async ({ out, options: { scope, user, minutes } }) => {
      const made = await (await connect()).call(inviteDevice, {
        ...(scope === undefined ? {} : { scope }),
        ...(user === undefined ? {} : { user_id: user }),
        ...(minutes === undefined ? {} : { valid_minutes: minutes }),
      });
      out.note(
        `A device of ${made.user.name} with the scope ${made.scope} can join with this code, once, until ${made.expires_at}:`,
      );
      out.result(made, [made.code]);
    },
  );
}

function listCommand(device: Command): void {
  runs<ListOptions>(
    device
      .command('list')
      .description('list devices, newest first')
      .option('--all', 'include revoked devices')
      .option('--everybody', 'devices of all users (needs manage)'),
    async ({ out, options: { all = false, everybody = false } }) => {
      const client = await connect();
      const items = await everyItem((page) => client.call(listDevices, { include_revoked: all, everybody, ...page }));
      out.result({ items }, table([['ID', 'NAME', 'USER', 'SCOPE', 'JOINED', 'LAST SEEN'], ...items.map(rowOf)]));
    },
  );
}

function revokeCommand(device: Command): void {
  runs(
    device
      .command('revoke')
      .description('revoke a device: it is cut off within a second; the files on it stay there')
      .argument('<id>', 'id of the device'),
    async ({ out, args: [id = ''] }) => {
      await (await connect()).call(revokeDevice, { device_id: id });
      out.result({ revoked: id }, [`The device ${id} is revoked.`]);
    },
  );
}

function rowOf({ id, name, user, scope, joined_at, last_seen_at, revoked_at }: Device): string[] {
  const state = revoked_at === null ? (scope ?? 'none') : `revoked ${revoked_at.slice(0, 10)}`;
  return [id, name, user.name, state, joined_at.slice(0, 10), last_seen_at?.slice(0, 16) ?? 'never'];
}

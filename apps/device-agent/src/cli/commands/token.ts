import {
  createToken,
  LIMITS,
  listTokens,
  revokeToken,
  SCOPES,
  type Scope,
  type Token,
  whoami,
} from '@workspace-graph/contracts';
import type { Command } from 'commander';
import { Option } from 'commander';
import { type ConfirmOptions, confirmed, YES } from '../confirm.js';
import { everyItem } from '../every-item.js';
import { table } from '../output.js';
import { wholeNumber } from '../parse-options.js';
import { runs } from '../run-command.js';
import { connect } from '../workspace-client.js';
import { rotateCommand } from './rotate-token.js';

interface CreateOptions {
  scope: Scope;
  label: string;
  device?: boolean;
  user?: string;
  days?: number;
}
interface ListOptions {
  all?: boolean;
  everybody?: boolean;
}
/** `own` tells why nothing was revoked: the command uses this credential. */
interface Revoked {
  readonly revoked: string | null;
  readonly own?: boolean;
}

/** `svc token create|list|revoke|rotate` */
export function tokenCommands(program: Command): void {
  const token = program.command('token').description('create, list, revoke and rotate tokens');

  runs<CreateOptions>(
    token
      .command('create')
      .description('create a token and print it once')
      .addOption(new Option('--scope <scope>', 'scope of the token').choices(SCOPES).makeOptionMandatory())
      .requiredOption('--label <text>', 'purpose of the token')
      .option('--device', 'a device token instead of a personal one')
      .option('--user <id>', 'for another user (needs manage)')
      .option(
        '--days <number>',
        `days until it expires; default: ${LIMITS.tokenDaysDefault}, at most until the token in use expires`,
        wholeNumber,
      ),
    async ({ out, options }) => {
      const client = await connect();
      const made = await client.call(createToken, {
        scope: options.scope,
        label: options.label,
        kind: options.device ? 'device' : 'personal',
        ...(options.days === undefined ? {} : { expires_in_days: options.days }),
        ...(options.user ? { user_id: options.user } : {}),
      });
      out.note(
        `Token "${made.token.label}" with scope ${made.token.scope}, valid until ${made.token.expires_at}. It is not shown again:`,
      );
      out.result(made, [made.secret]);
    },
  );

  runs<ListOptions>(
    token
      .command('list')
      .description('list tokens, newest first')
      .option('--all', 'include expired and revoked tokens')
      .option('--everybody', 'tokens of all users (needs manage)'),
    async ({ out, options }) => {
      const client = await connect();
      const items = await everyItem((page) =>
        client.call(listTokens, {
          include_ended: options.all ?? false,
          everybody: options.everybody ?? false,
          ...page,
        }),
      );
      out.result(
        { items },
        table([['ID', 'LABEL', 'SCOPE', 'KIND', 'USER', 'EXPIRES', 'LAST USED'], ...items.map(tokenRow)]),
      );
    },
  );

  revokeCommand(token);
  rotateCommand(token);
}

function revokeCommand(token: Command): void {
  runs<ConfirmOptions>(
    token
      .command('revoke')
      .description(
        'revoke a token, all tokens created with it and their connections; asks before it revokes the one in use',
      )
      .argument('<id>', 'id of the token')
      .option(...YES),
    async ({ out, args: [id = ''], options }) => {
      const client = await connect();
      const isOwn = (await client.call(whoami, {})).credential_id === id;
      const revoke = async (): Promise<Revoked> => {
        await client.call(revokeToken, { token_id: id });
        return { revoked: id };
      };
      const change = { preview: async () => ({ revoked: null, own: true }), apply: revoke, describe: describeRevoked };
      await confirmed<Revoked>(out, change, isOwn ? options : { yes: true });
    },
  );
}

function describeRevoked({ revoked }: Revoked): string[] {
  if (revoked !== null) return [`Token ${revoked} is revoked, with all tokens created with it.`];
  return [
    'This is the credential that this command uses: it ends, with all tokens created with it.',
    'To replace it with a new one and keep those tokens valid, use `svc token rotate`.',
  ];
}

function tokenRow(token: Token): string[] {
  const expiry = token.revoked_at ? `revoked ${token.revoked_at.slice(0, 10)}` : token.expires_at.slice(0, 10);
  return [
    token.id,
    token.label,
    token.scope,
    token.kind,
    token.user.name,
    expiry,
    token.last_used_at?.slice(0, 16) ?? 'never',
  ];
}

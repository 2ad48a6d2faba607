import { spawn } from 'node:child_process';
import type { Command } from 'commander';
import { CliError } from '../cli-error.js';
import type { Output } from '../output.js';
import { runs } from '../run-command.js';
import { connect, type WorkspaceClient } from '../workspace-client.js';

interface OpenOptions {
  readonly print?: boolean;
}

const ROUTE = '/app/links';
/** What whoever opens an address is to know of it. */
const hintOf = (url: string): string =>
  new URL(url).hash === ''
    ? 'Sign in there with a token.'
    : 'The link signs one browser in, once, within five minutes.';

/** `svc open` */
export function openCommand(program: Command): void {
  runs<OpenOptions>(
    program
      .command('open')
      .description('open the workspace in the browser, signed in')
      .option('--print', 'print the link instead, for a browser elsewhere'),
    async ({ out, options }) => openInBrowser(out, options),
  );
}

/** A link that signs a browser in; the address of the page where the workspace makes none. */
export async function signInLink(client: WorkspaceClient): Promise<string> {
  try {
    const response = await client.fetch(ROUTE, { method: 'POST' });
    return ((await response.json()) as { url: string }).url;
  } catch (error) {
    // A central workspace has several gateways, and people who sign in with the organisation's provider or a token.
    if (error instanceof CliError && error.code === 'ROUTE_NOT_FOUND') return new URL('/app/', client.url).href;
    throw error;
  }
}

async function openInBrowser(out: Output, { print = false }: OpenOptions): Promise<void> {
  const url = await signInLink(await connect());
  if (print) return out.result({ url }, [url, hintOf(url)]);
  const [command, ...args] = programFor(url);
  await new Promise<void>((resolve, reject) => {
    const child = spawn(command, args, { stdio: 'ignore', detached: true });
    child.once('error', (cause) =>
      reject(new CliError('NO_BROWSER', `No browser could be opened. The address is ${url}`, { cause })),
    );
    child.once('spawn', () => resolve(child.unref()));
  });
  out.result({ url }, [`Opened ${url}`, hintOf(url)]);
}

function programFor(url: string): [string, ...string[]] {
  switch (process.platform) {
    case 'darwin':
      return ['open', url];
    case 'win32':
      return ['cmd', '/c', 'start', '', url];
    default:
      return ['xdg-open', url];
  }
}

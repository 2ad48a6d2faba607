import { basename } from 'node:path';
import { AGENT_TOKEN_VARIABLE } from '@workspace-graph/contracts';
import { type Command, Option } from 'commander';
import { runs } from '../run-command.js';
import { agentCredential } from '../workspace-client.js';

const SHELLS = ['sh', 'fish', 'powershell', 'cmd'] as const;
type Shell = (typeof SHELLS)[number];

interface EnvOptions {
  readonly shell?: Shell;
}

const ENV_HELP = `
The configuration that \`svc mirror create\` writes to the folder of a node names this variable, never its value. Set
it in the shell in which the agent starts:
  sh, bash, zsh   eval "$(svc agent env)"
  fish            svc agent env | source
  PowerShell      svc agent env | Out-String | Invoke-Expression
  cmd             for /f "delims=" %i in ('svc agent env --shell cmd') do @%i
It is the credential of your own workspace, or with SVC_URL the one in SVC_TOKEN. For an agent with a lower scope, set the
variable to the token that \`svc token create\` prints.`;

/** `svc agent env` */
export function agentCommands(program: Command): void {
  const agent = program.command('agent').description('connect agents that start in the folder of a node');
  runs<EnvOptions>(
    agent
      .command('env')
      .description(`print the command that sets ${AGENT_TOKEN_VARIABLE}, from which agents read the credential`)
      .addOption(new Option('--shell <shell>', 'target shell; default: yours').choices(SHELLS))
      .addHelpText('after', ENV_HELP),
    async ({ out, options }) => {
      const shell = options.shell ?? shellOf(process.env, process.platform);
      const token = await agentCredential();
      const script = setVariable(shell, AGENT_TOKEN_VARIABLE, token);
      if (process.stdout.isTTY) out.note(`Your shell has to run this output: ${howToSet(shell)}`);
      out.result({ shell, variables: { [AGENT_TOKEN_VARIABLE]: token }, script }, [script]);
    },
  );
}

/** What a person calls so that agents find their credential. */
export function howToSet(shell: Shell = shellOf(process.env, process.platform)): string {
  switch (shell) {
    case 'sh':
      return `eval "$(svc agent env)"`;
    case 'fish':
      return `svc agent env | source`;
    case 'powershell':
      return `svc agent env | Out-String | Invoke-Expression`;
    case 'cmd':
      return `for /f "delims=" %i in ('svc agent env --shell cmd') do @%i`;
  }
}

/** What sets a variable for the programs that a shell starts. */
export function setVariable(shell: Shell, name: string, value: string): string {
  switch (shell) {
    case 'sh':
      return `export ${name}='${value.replaceAll("'", String.raw`'\''`)}'`;
    case 'fish':
      return `set -gx ${name} '${value.replaceAll(/[\\']/g, String.raw`\$&`)}'`;
    case 'powershell':
      return `$env:${name} = '${value.replaceAll("'", "''")}'`;
    case 'cmd':
      return `set "${name}=${value}"`;
  }
}

/** The shell of a person, as far as the environment tells. */
export function shellOf(
  { SHELL }: Readonly<Record<string, string | undefined>>,
  platform: NodeJS.Platform,
): Exclude<Shell, 'cmd'> {
  if (SHELL === undefined && platform === 'win32') return 'powershell';
  const name = basename(SHELL ?? '', '.exe');
  if (name === 'fish') return 'fish';
  return name === 'pwsh' ? 'powershell' : 'sh';
}

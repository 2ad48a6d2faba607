import { existsSync } from 'node:fs';
import { delimiter, join, sep } from 'node:path';

/** Folders that npm puts before the path of what it runs: they are not on the path of the person. */
const OF_NPM = join('node_modules', '.bin');

/** How the command can be called where it runs: `svc` where a shell finds it, else as the checkout offers it. */
export function commandName(environment: Readonly<Record<string, string | undefined>> = process.env): string {
  if (environment['npm_lifecycle_event'] === 'svc') return 'npm run svc --';
  const folders = (environment['PATH'] ?? '').split(delimiter).filter((folder) => !folder.endsWith(`${sep}${OF_NPM}`));
  return folders.some((folder) => folder !== '' && existsSync(join(folder, 'svc'))) ? 'svc' : 'npx svc';
}

/** A text that names commands, with the name by which they can be called. */
export function withCommandName(text: string, name = commandName()): string {
  if (name === 'svc') return text;
  return text.replaceAll(/(?<=^|[\s`('])svc (?=([a-z-]+))/g, (_svc, command: string) =>
    // What a shell is to read may hold nothing else, and npm puts words of its own before it.
    command === 'agent' ? `${name.replace('npm run', 'npm run -s')} ` : `${name} `,
  );
}

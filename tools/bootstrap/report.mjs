/** A failure whose message already says what to do: shown without a stack. */
export class Failure extends Error {
  constructor(step, message, wayOut) {
    super(message);
    this.step = step;
    this.wayOut = wayOut;
  }
}

/** One progress line, on standard error: standard output belongs to the task. */
export function say(line) {
  process.stderr.write(`${line}\n`);
}

/** Runs a slow step and says how long it took. */
export async function timed(title, work) {
  const startedMs = Date.now();
  say(`• ${title} …`);
  const result = await work();
  say(`  done in ${((Date.now() - startedMs) / 1000).toFixed(1)} s`);
  return result;
}

const causes = [
  [/ENOSPC/, 'The disk is full. Free some space (about 1 GB) and run the same command again.'],
  [
    /EACCES|EPERM|EROFS/,
    'This user may not write there. Give the user permission for the folder, or clone the repository to another one.',
  ],
  [
    /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH|ETIMEDOUT|ERR_SOCKET_TIMEOUT|ENOTCACHED/,
    'The package registry cannot be reached. Connect to the network, check the proxy (npm config get proxy https-proxy registry), and run the same command again.',
  ],
  [
    /SELF_SIGNED_CERT|UNABLE_TO_(GET|VERIFY)|CERT_/,
    'The connection to the package registry is not trusted. Configure your certificate authority (npm config set cafile FILE) and run the same command again.',
  ],
  [/TAR_ENTRY_ERROR/, 'A package could not be written completely. Run the same command again.'],
  [/E401|E403|ENEEDAUTH/, 'The package registry requires a login. Check its settings (npm config get registry).'],
  [/EUSAGE/, 'package.json and package-lock.json do not match. Run: npm install && node tools/complete-lock.mjs'],
  [/E404|ETARGET/, 'The package registry lacks a package. Check which registry is set (npm config get registry).'],
  [/EINTEGRITY/, 'A downloaded package is damaged. Run: npm cache verify, then the same command again.'],
];

/** The way out of a failed step, told from what the program printed. */
export function wayOutOf(output) {
  return causes.find(([pattern]) => pattern.test(output))?.[1] ?? 'The lines above show what went wrong.';
}

/** Prints a failure and answers the exit code. */
export function reportFailure(error) {
  if (!(error instanceof Failure)) {
    const wayOut = causes.find(([pattern]) => pattern.test(error?.code ?? ''))?.[1];
    if (wayOut === undefined) throw error;
    say(`\n✗ ${error.message}\n  ${wayOut}`);
    return 1;
  }
  say(`\n✗ ${error.step} failed.\n${error.message}\n  ${error.wayOut}`);
  return 1;
}

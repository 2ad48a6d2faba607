// Writes what a central workspace needs before its first start: .env and the secrets, with fresh passwords.
import { randomBytes } from 'node:crypto';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';

const HELP = `Usage: node deploy/prepare.mjs --public-url URL [--folder FOLDER]

Writes .env, and deploy/secrets/ with new passwords. Existing files are kept. URL is the address at which people
and agents reach the workspace. FOLDER is where docker-compose.yml is; default: the current one.`;

const PASSWORD_BYTES = 24;
/** Users of the broker, each with the variable in which its configuration expects the password. */
const BROKER_USERS = [
  ...readFileSync(new URL('nats.conf', import.meta.url), 'utf8').matchAll(/user: "([\w-]+)", password: \$(\w+)/g),
].map(([, user, variable]) => ({ secret: `nats_${user.replaceAll('-', '_')}_password`, variable }));
const PASSWORDS = [
  'postgres_password',
  'minio_password',
  'sign_in_secret',
  'credentials_key',
  ...BROKER_USERS.map(({ secret }) => secret),
];

function password() {
  return randomBytes(PASSWORD_BYTES).toString('hex');
}

/** Writes the file unless it is there. Answers whether it was written. */
function writeNew(path, text, mode) {
  if (existsSync(path)) return false;
  writeFileSync(path, text, { flag: 'wx' });
  // Apart from the creation, whose mode the umask would narrow.
  chmodSync(path, mode);
  return true;
}

/** The example with the given public URL. */
function environmentFrom(example, publicUrl) {
  return example.replace(/^SVC_PUBLIC_URL=.*$/m, `SVC_PUBLIC_URL=${publicUrl}`);
}

/** The variables that nats.conf asks for. In quotes: the broker would read some hexadecimal words as numbers. */
function brokerPasswords(read) {
  return BROKER_USERS.map(({ secret, variable }) => `${variable}: ${JSON.stringify(read(secret))}\n`).join('');
}

/** The part of redis' configuration that says who may do what. */
function redisAccess() {
  return `requirepass ${password()}\nuser health on nopass resetkeys resetchannels -@all +ping\n`;
}

/**
 * Only this user may enter the folder, so the files themselves can be readable to all: they are mounted one by one, and
 * the unprivileged user inside the container has another id than anybody here.
 */
function writeSecrets(folder) {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  chmodSync(folder, 0o700);
  const write = (name, text, mode = 0o444) =>
    writeNew(join(folder, name), text, mode) && console.log(`Written: deploy/secrets/${name}`);
  const read = (name) => readFileSync(join(folder, name), 'utf8').trim();
  for (const name of PASSWORDS) write(name, password());
  // To be filled by whoever has registered a client with a secret.
  write('oidc_client_secret', '', 0o644);
  write(
    'database_url',
    `postgres://workspace_graph:${encodeURIComponent(read('postgres_password'))}@postgres:5432/workspace_graph`,
  );
  write('redis_access', redisAccess());
  const [, redisPassword] = /^requirepass (\S+)$/m.exec(read('redis_access'));
  write('redis_url', `redis://:${redisPassword}@redis:6379`);
  // Follows the passwords, also when one of them is a new one.
  const derived = brokerPasswords(read);
  const path = join(folder, 'nats_passwords');
  if (existsSync(path) && readFileSync(path, 'utf8') !== derived) rmSync(path);
  write('nats_passwords', derived);
}

const { values } = parseArgs({
  options: {
    'public-url': { type: 'string' },
    folder: { type: 'string', default: '.' },
    help: { type: 'boolean', default: false },
  },
});
const publicUrl = values['public-url'];
if (values.help || !publicUrl || !URL.canParse(publicUrl)) {
  console.log(HELP);
  process.exitCode = values.help ? 0 : 2;
} else {
  const root = resolve(values.folder);
  const example = readFileSync(new URL('../.env.example', import.meta.url), 'utf8');
  if (writeNew(join(root, '.env'), environmentFrom(example, publicUrl), 0o600)) console.log('Written: .env');
  writeSecrets(join(root, 'deploy', 'secrets'));
}

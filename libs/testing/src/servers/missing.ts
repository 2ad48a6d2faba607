export type ServerName = 'PostgreSQL' | 'NATS' | 'Redis';

const packages: Record<ServerName, { debian: string; homebrew: string; variable: string }> = {
  PostgreSQL: { debian: 'postgresql', homebrew: 'postgresql', variable: 'SVC_TEST_DATABASE_URL' },
  NATS: { debian: 'nats-server', homebrew: 'nats-server', variable: 'SVC_TEST_NATS_URL' },
  Redis: { debian: 'redis-server', homebrew: 'redis', variable: 'SVC_TEST_REDIS_URL' },
};

/** What to tell a person whose machine has no such server and no way to get one by itself. */
export function howToInstall(server: ServerName, major?: number): string {
  const { debian, homebrew, variable } = packages[server];
  return `The tests need ${server}${major === undefined ? '' : ` ${major}`} and found none. Install it (apt-get install ${debian}, or brew install ${homebrew}), start a Docker daemon, or set ${variable} to a running one.`;
}

/** The environment variable that names a running server of this kind. */
export function urlVariable(server: ServerName): string {
  return packages[server].variable;
}

/** Folders of the operating system: `closed` with all in them, except what lies below one of `open`. */
export interface SystemFolders {
  readonly closed: readonly string[];
  readonly open: readonly string[];
}

const POSIX: SystemFolders = {
  closed: [
    ...[
      '/bin',
      '/boot',
      '/dev',
      '/etc',
      '/lib',
      '/lib32',
      '/lib64',
      '/libx32',
      '/proc',
      '/run',
      '/sbin',
      '/sys',
      '/usr',
    ],
    // Not all of /var: services have their data there, and some systems the homes of people.
    ...[
      '/var/backups',
      '/var/cache',
      '/var/crash',
      '/var/db',
      '/var/lock',
      '/var/log',
      '/var/mail',
      '/var/run',
      '/var/spool',
    ],
    ...['/var/lib/apt', '/var/lib/dpkg', '/var/lib/pacman', '/var/lib/rpm', '/var/lib/systemd'],
  ],
  open: ['/dev/shm', '/run/media', '/run/user', '/usr/home', '/usr/local/src', '/usr/src'],
};

/** /etc and /var are links on macOS, and mirrors are known by their real paths. */
const MAC: SystemFolders = {
  closed: [
    ...POSIX.closed,
    ...POSIX.closed.filter((path) => /^\/(etc|var)(\/|$)/.test(path)).map((path) => `/private${path}`),
    ...['/Applications', '/Library', '/System'],
  ],
  open: [...POSIX.open, '/System/Volumes'],
};

/** The well-known ones; on Windows as its environment tells where they are. */
export function systemFolders(
  platform: NodeJS.Platform = process.platform,
  // biome-ignore lint/style/noProcessEnv: where the system lies is not a setting of the product
  env: Readonly<Record<string, string | undefined>> = process.env,
): SystemFolders {
  if (platform === 'win32') return { closed: windowsFolders(env), open: [] };
  return platform === 'darwin' ? MAC : POSIX;
}

function windowsFolders(env: Readonly<Record<string, string | undefined>>): string[] {
  const names = ['SystemRoot', 'ProgramFiles', 'ProgramFiles(x86)', 'ProgramW6432'];
  const told = names.map((name) => env[name]?.trim() ?? '').filter((path) => path !== '');
  return [...new Set(told)];
}

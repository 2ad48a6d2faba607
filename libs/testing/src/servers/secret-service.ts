import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeFolder, removeFolder } from '../temp.js';
import { endChild, type ServerChild, startChild } from './child.js';
import { programFor } from './program.js';

/** A keychain of its own, unlocked, for processes that have its environment. */
export interface SecretService {
  readonly env: Readonly<Record<string, string>>;
  stop(): Promise<void>;
}

/** Why no keychain can be started on this machine; null where one can. */
export async function whyNoSecretService(): Promise<string | null> {
  if (process.platform !== 'linux') return 'this system has a keychain of its own, which is not for tests';
  for (const server of ['dbus-daemon', 'gnome-keyring-daemon'] as const) {
    const found = await programFor(server);
    if ('missing' in found) return found.missing;
  }
  return null;
}

/** Starts a private message bus and GNOME Keyring on it. Whoever uses it waits for its first answer. @throws Error saying why there is none */
export async function startSecretService(): Promise<SecretService> {
  const [bus, keyring] = [await pathOf('dbus-daemon'), await pathOf('gnome-keyring-daemon')];
  const folder = makeFolder();
  chmodSync(folder, 0o700);
  const address = `unix:path=${join(folder, 'bus')}`;
  const config = join(folder, 'bus.conf');
  writeFileSync(config, busConfig(address));
  writeFileSync(join(folder, 'password'), 'of the tests');
  const env = {
    PATH: process.env['PATH'] ?? '',
    ...(process.env['LD_LIBRARY_PATH'] && { LD_LIBRARY_PATH: process.env['LD_LIBRARY_PATH'] }),
    HOME: folder,
    XDG_DATA_HOME: folder,
    XDG_RUNTIME_DIR: folder,
    DBUS_SESSION_BUS_ADDRESS: address,
  };
  const children: ServerChild[] = [];
  const start = (binary: string, args: string[]): void =>
    void children.push(startChild({ binary, args, env, logFile: join(folder, 'log') }));
  start(bus, [`--config-file=${config}`, '--nofork', '--nopidfile']);
  const unlocked = `until [ -S ${folder}/bus ]; do sleep 0.05; done; exec "$0" --foreground --unlock --components=secrets < ${folder}/password`;
  start('/bin/sh', ['-c', unlocked, keyring]);
  const { HOME, XDG_DATA_HOME, XDG_RUNTIME_DIR, DBUS_SESSION_BUS_ADDRESS } = env;
  return {
    env: { HOME, XDG_DATA_HOME, XDG_RUNTIME_DIR, DBUS_SESSION_BUS_ADDRESS },
    stop: async () => {
      for (const child of children.toReversed()) await endChild(child, 'SIGTERM');
      removeFolder(folder);
    },
  };
}

async function pathOf(server: 'dbus-daemon' | 'gnome-keyring-daemon'): Promise<string> {
  const found = await programFor(server);
  if ('missing' in found) throw new Error(found.missing);
  return found.program;
}

function busConfig(address: string): string {
  return `<busconfig>
  <type>session</type>
  <listen>${address}</listen>
  <auth>EXTERNAL</auth>
  <policy context="default">
    <allow send_destination="*"/>
    <allow receive_sender="*"/>
    <allow own="*"/>
  </policy>
</busconfig>
`;
}

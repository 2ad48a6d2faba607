import { type ChildProcess, spawn } from 'node:child_process';
import { ServiceError } from '@workspace-graph/contracts';

/** Shows folders to whoever sits at this device. */
export abstract class FolderOpener {
  /**
   * Opens a folder in the file manager; returns when that has begun.
   * @throws ServiceError NO_FILE_MANAGER without a screen, without a file manager, and when it refuses the folder
   */
  abstract open(path: string): Promise<void>;
}

/** After this time a program that still runs is the file manager itself. */
const BEGUN_MS = 2_000;

/** The file manager of the system, started without a shell. */
export class SystemFolderOpener extends FolderOpener {
  constructor(
    // biome-ignore lint/style/noProcessEnv: where the screen is, is told by the environment alone
    private readonly env: NodeJS.ProcessEnv = process.env,
    private readonly platform: NodeJS.Platform = process.platform,
  ) {
    super();
  }

  async open(path: string): Promise<void> {
    if (!this.hasScreen()) throw noFileManager('This device has no screen on which a folder could be opened.');
    const child = spawn(programOn(this.platform), [path], { env: this.env, stdio: 'ignore', detached: true });
    child.unref();
    const failure = await failureOf(child);
    if (failure instanceof Error) throw noFileManager('No file manager could be started on this device.', failure);
    // Explorer answers 1 also when it has opened the folder.
    if (failure !== 0 && this.platform !== 'win32')
      throw noFileManager('The file manager of this device did not open the folder.');
  }

  private hasScreen(): boolean {
    if (this.platform === 'darwin' || this.platform === 'win32') return true;
    return Boolean(this.env['DISPLAY'] || this.env['WAYLAND_DISPLAY']);
  }
}

function programOn(platform: NodeJS.Platform): string {
  if (platform === 'darwin') return 'open';
  return platform === 'win32' ? 'explorer.exe' : 'xdg-open';
}

/** Why a program could not be started, or what it ended with; 0 while it runs on. */
function failureOf(child: ChildProcess): Promise<Error | number> {
  return new Promise((resolve) => {
    const timer = setTimeout(() => resolve(0), BEGUN_MS);
    const end = (failure: Error | number): void => {
      clearTimeout(timer);
      resolve(failure);
    };
    child.once('error', end);
    child.once('exit', (code) => end(code ?? 1));
  });
}

function noFileManager(message: string, cause?: Error): ServiceError {
  return new ServiceError('NO_FILE_MANAGER', message, undefined, { cause });
}

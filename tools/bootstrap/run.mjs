import { spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { constants as osConstants } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { watchLauncher } from './launcher.mjs';
import { Failure, wayOutOf } from './report.mjs';

const shownLines = 15;

/** The end of a program's output without stacks and empty lines. */
function tailOf(text) {
  const lines = text
    .split('\n')
    .filter((line) => line.trim() !== '' && !/^(npm error)?\s+at /.test(line) && line.trim() !== 'npm error');
  return lines.slice(-shownLines).join('\n');
}

/**
 * Runs a program to its end without showing its output; the output's end appears only when it fails. It dies with this
 * script: npm would otherwise take back what it did, while the next command installs.
 */
export function runQuietly(step, command, args, options) {
  return new Promise((resolve, reject) => {
    const [boundCommand, boundArgs] = boundToUs('KILL', command, args);
    const child = spawn(boundCommand, boundArgs, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
    let output = '';
    const collect = (chunk) => {
      output = (output + chunk).slice(-50_000);
    };
    child.stdout.on('data', collect);
    child.stderr.on('data', collect);
    const stopForwarding = forwardSignals(child);
    const fail = (cause) => {
      stopForwarding();
      const text = `${output}${cause}`;
      reject(new Failure(step, tailOf(text), wayOutOf(text)));
    };
    child.once('error', (error) => fail(error.message));
    child.once('close', (code, signal) => {
      if (code !== 0) return fail(signal === null ? '' : `ended by ${signal}`);
      stopForwarding();
      resolve(output);
    });
  });
}

/** A terminal sends Ctrl-C to the whole foreground group, so the child has it already; anything else is passed on. */
function forwardSignals(child) {
  const handlers = ['SIGINT', 'SIGTERM', 'SIGHUP'].map((signal) => {
    const handler = () => {
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
    };
    process.on(signal, handler);
    return [signal, handler];
  });
  return () => {
    for (const [signal, handler] of handlers) process.off(signal, handler);
  };
}

function findSetpriv() {
  if (process.platform !== 'linux') return undefined;
  const candidates = (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, 'setpriv'));
  return candidates.find((file) => {
    try {
      accessSync(file, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

/** Where the system can, the kernel sends the program a signal when this script is killed. */
function boundToUs(signal, command, args) {
  const setpriv = findSetpriv();
  return setpriv === undefined ? [command, args] : [setpriv, ['--pdeathsig', signal, '--', command, ...args]];
}

/** Runs the task in the foreground and ends this process the way the task ended. */
export function runInForeground(command, args, options) {
  const [boundCommand, boundArgs] = boundToUs('TERM', command, args);
  return new Promise((resolve, reject) => {
    const child = spawn(boundCommand, boundArgs, { ...options, stdio: 'inherit' });
    const stopForwarding = forwardSignals(child);
    watchLauncher(() => child.kill('SIGTERM'));
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      stopForwarding();
      resolve(code ?? 128 + (osConstants.signals[signal] ?? 0));
    });
  });
}

/** Program and arguments that run a package's script as npm does. */
export function shellCommand(script) {
  return process.platform === 'win32' ? ['cmd.exe', ['/d', '/s', '/c', script]] : ['sh', ['-c', script]];
}

/** The environment of everything that is started here: Node 24 first on PATH, and quiet tools. */
export function childEnvironment(node, root) {
  const own = Object.entries(process.env).filter(
    ([name]) => !/^npm_(package|lifecycle|command|execpath|node_execpath)/.test(name),
  );
  const path = [dirname(node), join(root, 'node_modules', '.bin'), process.env.PATH ?? ''].join(delimiter);
  return {
    ...Object.fromEntries(own.filter(([name]) => name.toUpperCase() !== 'PATH')),
    PATH: path,
    CHECKPOINT_DISABLE: '1',
    PRISMA_HIDE_UPDATE_MESSAGE: '1',
  };
}

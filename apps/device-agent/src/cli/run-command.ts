import { ConfigError, unknownVariables } from '@workspace-graph/platform/config';
import type { Command } from 'commander';
import { isNoRight, isReadOnly } from '../workspace/workspace-folders.js';
import { CliError } from './cli-error.js';
import { BrokenOutput, Output } from './output.js';

type Action<O> = (context: {
  readonly out: Output;
  readonly options: O;
  readonly args: readonly string[];
}) => Promise<void>;

/**
 * Finishes the declaration of a command: adds --json, runs the action, and turns what it throws into a message and an
 * exit code. `O` is the shape of the command's options.
 */
export function runs<O extends object>(command: Command, action: Action<O>): Command {
  return command
    .option('--json', 'print the result, or the error object, as JSON')
    .action(async (...received: unknown[]) => {
      const options = command.optsWithGlobals<O & { json?: boolean }>();
      const out = new Output(options.json === true);
      const args = received
        .slice(0, -2)
        .flat()
        .filter((value): value is string => typeof value === 'string');
      for (const warning of unknownVariables(process.env)) out.note(`svc: ${warning}`);
      try {
        await action({ out, options, args });
      } catch (error) {
        if (error instanceof BrokenOutput) return;
        const failure = toCliError(error);
        out.failure(failure);
        process.exitCode = failure.exitCode;
      }
    });
}

function toCliError(error: unknown): CliError {
  if (error instanceof CliError) return error;
  if (error instanceof ConfigError) return new CliError('CONFIGURATION_INVALID', error.message, { cause: error });
  if (isNoRight(error) && error.path !== undefined)
    return new CliError('FOLDER_UNUSABLE', `${error.path} cannot be used: you have no permission.`, {
      cause: error,
      hint: 'Run the command as its owner, or give yourself permission.',
    });
  if (isReadOnly(error))
    return new CliError('FOLDER_UNUSABLE', `${error.path} cannot be used: its disk is read-only.`, {
      cause: error,
      hint: 'Make the disk writable, or choose a folder on another one.',
    });
  const message = error instanceof Error ? error.message : String(error);
  return new CliError('INTERNAL', message, {
    cause: error,
    hint: 'This is a bug in the command; run it again with SVC_LOG_LEVEL=debug and report it.',
  });
}

import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { portVariableOf, type ServiceName } from '@workspace-graph/platform';
import { CentralProcess, type CentralProcessOptions } from './central-process.js';
import type { ComposeService } from './compose-file.js';

const STOP_GRACE_MS = 10_000;
const ASK_WITHIN_MS = 2_000;
const run = promisify(execFile);
/** Declared health checks that have passed in this process. */
const passed = new Set<string>();

/**
 * Whether the health check that the file declares passes for the instance at this port. While the service does not
 * answer, the declared program is not even started, nor where it has passed for another instance: it costs more than the
 * question.
 * @throws Error for a health check that cannot pass
 */
export async function isHealthy(service: ComposeService, port: number): Promise<boolean> {
  const [kind, ...declared] = service.healthcheck;
  if (kind !== 'CMD') throw new Error(`${service.name}: the health check must be a CMD`);
  const listens = service.environment[portVariableOf(service.name as ServiceName)];
  const [asked, declaredPort] = /http:\/\/127\.0\.0\.1:(\d+)\/[a-z/]+/.exec(declared.join(' ')) ?? [];
  if (!asked || declaredPort !== listens)
    throw new Error(`${service.name}: the health check asks port ${declaredPort}, the service listens on ${listens}`);
  const local = (text: string): string => text.replace(`127.0.0.1:${declaredPort}`, `127.0.0.1:${port}`);
  if (!(await answers(local(asked)))) return false;
  const check = [service.name, ...declared].join(' ');
  if (passed.has(check)) return true;
  const [program = '', ...args] = declared.map(local);
  const passes = await run(program === 'node' ? process.execPath : program, args, {
    timeout: 2 * ASK_WITHIN_MS,
  }).then(
    () => true,
    () => false,
  );
  if (passes) passed.add(check);
  return passes;
}

function answers(url: string): Promise<boolean> {
  return fetch(url, { signal: AbortSignal.timeout(ASK_WITHIN_MS) }).then(
    (response) => response.ok,
    () => false,
  );
}

/**
 * Runs a program to its end. Answers its standard output.
 * @throws Error with all that it wrote when it fails
 */
export async function runToEnd(
  options: Pick<CentralProcessOptions, 'name' | 'command' | 'cwd' | 'environment'>,
): Promise<string> {
  const output: string[] = [];
  const process = new CentralProcess({
    ...options,
    stopGraceMs: STOP_GRACE_MS,
    onLine: (line, stream) => void (stream === 'stdout' && output.push(line)),
  });
  await process.ended;
  if (process.exitCode !== 0) throw new Error(`${process.name} failed:\n${process.lines.join('\n')}`);
  return output.join('\n');
}

import { spawnSync } from 'node:child_process';
import { findOnPath } from '../servers/binaries.js';

/** Prometheus' own checker, where this machine has it (Debian's package `prometheus`). */
export const promtool = findOnPath('promtool');

/**
 * What `promtool check metrics` says against an answer of `/metrics`; nothing when it is content.
 * @throws Error where there is no promtool
 */
export function promtoolProblems(text: string): string {
  if (promtool === undefined) throw new Error('promtool is not installed: apt-get install prometheus');
  const { status, stdout, stderr, error } = spawnSync(promtool, ['check', 'metrics'], {
    input: text,
    encoding: 'utf8',
  });
  if (error) throw error;
  return status === 0 ? '' : `${stdout}${stderr}`.trim() || `promtool ended with ${status}`;
}

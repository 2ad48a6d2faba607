import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { types } from 'node:util';
import { z } from 'zod';
import { nearest } from './nearest.js';
import { aboutOf, type Config, defaultOf, type ProcessName, VARIABLE_NAMES, type VariableName } from './variables.js';

const PREFIX = 'SVC_';
/** Belongs to the tests of the product, not to its processes. */
const TEST_PREFIX = 'SVC_TEST_';
const WORKSTATION: readonly ProcessName[] = ['device-agent', 'cli'];

/** Of what seals the cookies: not to be guessed. */
const SIGN_IN_SECRET_LENGTH = 32;

const WHY_UNREADABLE: Readonly<Record<string, string>> = {
  ENOENT: 'it does not exist',
  ENOTDIR: 'it does not exist',
  EACCES: 'this user may not read it',
  EISDIR: 'it is a folder',
};

export type Environment = Readonly<Record<string, string | undefined>>;

/** A valid environment. */
export interface LoadedConfig {
  /** The values of the variables that the process uses, defaults filled in. */
  readonly config: Config;
  /** What deserves a line in the log, such as an unknown variable on a workstation. */
  readonly warnings: readonly string[];
}

/** The environment cannot be used. `problems` names each variable and what it accepts, never a secret's value. */
export class ConfigError extends Error {
  constructor(readonly problems: readonly string[]) {
    super(`The configuration cannot be used:\n${problems.map((problem) => `  ${problem}`).join('\n')}`);
    this.name = 'ConfigError';
  }
}

/**
 * Reads the environment of a process.
 * @throws ConfigError with every problem at once
 */
export function loadConfig(process: ProcessName, environment: Environment): LoadedConfig {
  const unknown = unknownVariables(environment);
  const { texts, problems } = readTexts(process, environment);
  const result = schemaOf(process).safeParse(texts);
  const found = [
    ...problems,
    ...(isWorkstation(process) ? [] : unknown),
    ...(result.success ? contradictions(process, result.data) : result.error.issues.map(describeIssue)),
  ];
  if (found.length > 0 || !result.success) throw new ConfigError(found);
  return { config: Object.freeze(result.data), warnings: isWorkstation(process) ? unknown : [] };
}

export function isWorkstation(process: ProcessName): boolean {
  return WORKSTATION.includes(process);
}

/** True for addresses that only this machine can reach. */
export function isLoopback(host: string): boolean {
  const bare = host.replace(/^\[(.*)\]$/, '$1').toLowerCase();
  return (
    bare === 'localhost' ||
    bare === '::1' ||
    (isIP(bare) === 4 && bare.startsWith('127.')) ||
    bare.startsWith('::ffff:127.')
  );
}

/** The one schema of the environment: texts in, values out. */
function schemaOf(process: ProcessName): z.ZodType<Config> {
  const shape = Object.fromEntries(VARIABLE_NAMES.map((name) => [name, schemaOfVariable(name, process)]));
  return z.object(shape) as unknown as z.ZodType<Config>;
}

function schemaOfVariable(name: VariableName, process: ProcessName): z.ZodType {
  const { kind, requiredBy } = aboutOf(name);
  const fallback = defaultOf(name, process);
  if (fallback !== undefined) return kind.schema.prefault(fallback);
  return requiredBy?.includes(process) ? kind.schema : kind.schema.optional();
}

/** The texts that are set, secrets from their files. An empty variable counts as not set. */
function readTexts(process: ProcessName, environment: Environment) {
  const texts: Record<string, string> = {};
  const problems: string[] = [];
  for (const name of VARIABLE_NAMES.filter((known) => aboutOf(known).usedBy.includes(process))) {
    try {
      const value = readText(name, environment);
      if (value !== undefined) texts[name] = value;
    } catch (error) {
      problems.push(types.isNativeError(error) ? error.message : String(error));
    }
  }
  return { texts, problems };
}

function readText(name: VariableName, environment: Environment): string | undefined {
  const direct = environment[name] || undefined;
  const path = aboutOf(name).kind.secret ? environment[`${name}_FILE`] || undefined : undefined;
  if (path === undefined) return direct;
  if (direct !== undefined) throw new Error(`${name}: set it or ${name}_FILE, not both`);
  const text = readSecretFile(name, path).replace(/\r?\n$/, '');
  if (text.trim() === '' && aboutOf(name).mayBeEmpty) return undefined;
  if (text.trim() === '') throw new Error(`${name}_FILE: the file is empty`);
  return text;
}

/** The path is not told: whoever mistakes the variable puts the secret itself there. */
function readSecretFile(name: VariableName, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const code = errorCode(error);
    const reason = WHY_UNREADABLE[code] ?? 'the system denies access';
    throw new Error(`${name}_FILE: the file cannot be read: ${reason} (${code})`, { cause: error });
  }
}

/** The variables that look like ours and are none, each with the nearest one. */
export function unknownVariables(environment: Environment): string[] {
  const known = VARIABLE_NAMES.flatMap((name) => (aboutOf(name).kind.secret ? [name, `${name}_FILE`] : [name]));
  return Object.keys(environment)
    .filter((name) => name.startsWith(PREFIX) && !name.startsWith(TEST_PREFIX) && !known.includes(name))
    .map((name) => `${name}: there is no such variable; did you mean ${nearest(name, known)}?`);
}

/** What the values of several variables say against each other. */
function contradictions(process: ProcessName, config: Config): string[] {
  const problems: string[] = [];
  if (process === 'device-agent' && !isLoopback(config.SVC_HOST) && !config.SVC_ALLOW_NON_LOOPBACK) {
    problems.push('SVC_HOST: must be a loopback address, or SVC_ALLOW_NON_LOOPBACK must be true');
  }
  if ((config.SVC_OIDC_ISSUER === undefined) !== (config.SVC_OIDC_AUDIENCE === undefined)) {
    problems.push('SVC_OIDC_AUDIENCE: must be set together with SVC_OIDC_ISSUER');
  }
  const issuer = config.SVC_OIDC_ISSUER && new URL(config.SVC_OIDC_ISSUER);
  if (issuer && issuer.protocol !== 'https:' && !isLoopback(issuer.hostname)) {
    problems.push('SVC_OIDC_ISSUER: must begin with https:// unless it is on this machine');
  }
  return [...problems, ...signInContradictions(config)];
}

/** What signing in to the page at the provider needs beside the client. */
function signInContradictions(config: Config): string[] {
  const { SVC_OIDC_CLIENT_ID: client, SVC_SIGN_IN_SECRET: secret } = config;
  if (client === undefined) return [];
  const needed = ['SVC_OIDC_ISSUER', 'SVC_PUBLIC_URL', 'SVC_SIGN_IN_SECRET'] as const;
  const missing = needed.filter((name) => config[name] === undefined);
  return [
    ...missing.map((name) => `${name}: must be set together with SVC_OIDC_CLIENT_ID`),
    ...(secret && secret.reveal().length < SIGN_IN_SECRET_LENGTH
      ? [`SVC_SIGN_IN_SECRET: must be a secret of at least ${SIGN_IN_SECRET_LENGTH} characters`]
      : []),
    ...(config.SVC_OIDC_SCOPES.includes('openid') ? [] : ['SVC_OIDC_SCOPES: must contain openid']),
  ];
}

function describeIssue(issue: z.core.$ZodIssue): string {
  const name = String(issue.path[0]) as VariableName;
  return `${name}: must be ${aboutOf(name).kind.accepts}${issue.code === 'invalid_type' ? ', and is not set' : ''}`;
}

function errorCode(error: unknown): string {
  return types.isNativeError(error) && 'code' in error ? String(error.code) : 'unknown reason';
}

import {
  issueOf,
  REMOTE_SETTINGS,
  type RemoteSettings,
  type RemoteType,
  tryInput,
  type ValidationIssue,
  validationFailed,
} from '@workspace-graph/contracts';
import type { RemoteCredentials } from '@workspace-graph/remotes';
import type { z } from 'zod';

export interface GivenSettings {
  readonly type: RemoteType;
  readonly config: unknown;
  readonly credentials: RemoteCredentials;
}

/** @throws ServiceError VALIDATION_FAILED that names each field of `config` and `credentials`, and never a credential */
export function readSettings({ type, config, credentials }: GivenSettings): RemoteSettings {
  const schemas = REMOTE_SETTINGS[type];
  const read = { config: tryInput(schemas.config, config), credentials: tryInput(schemas.credentials, credentials) };
  const issues = [...issuesOf('config', read.config), ...issuesOf('credentials', read.credentials)];
  if (issues.length > 0) throw validationFailed(issues);
  return { type, config: read.config.data, credentials: read.credentials.data } as RemoteSettings;
}

function issuesOf(field: string, result: z.ZodSafeParseResult<unknown>): ValidationIssue[] {
  const issues = result.error?.issues.map(issueOf) ?? [];
  return issues.map(({ path, message }) => ({ path: path === '' ? field : `${field}.${path}`, message }));
}

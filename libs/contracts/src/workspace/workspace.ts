import { z } from 'zod';
import { Id, Timestamp } from '../common.js';
import { Token } from '../identity/tokens.js';
import { command, query } from '../operation.js';

const tag = 'Local workspace';

export const revealWorkspaceToken = command({
  name: 'reveal_workspace_token',
  owner: 'workspace',
  tier: 'manage',
  reach: {},
  doc: "Show the own token of a local workspace, which `svc` and agents sign in with. Only for the workspace's owner with that token or one created with it directly, such as that of their browser (FORBIDDEN). Each reading is recorded in the audit trail.",
  input: z.strictObject({}),
  output: z.strictObject({ secret: z.string().describe('svc_dev_…') }),
  errors: ['CONFLICT'],
  rest: { method: 'POST', path: '/workspace/token/reveal', tag },
});

export const rotateWorkspaceToken = command({
  name: 'rotate_workspace_token',
  owner: 'workspace',
  tier: 'manage',
  reach: {},
  doc: 'Replace the own token of a local workspace and store the new one in place of the old one, which ends with its open connections within a second; tokens created with it continue. Only for those who may call reveal_workspace_token (FORBIDDEN), one at a time (CONFLICT).',
  input: z.strictObject({}),
  output: z.strictObject({ token: Token }),
  errors: ['CONFLICT', 'STORAGE_FULL'],
  timeoutMs: 30_000,
  rest: { method: 'POST', path: '/workspace/token/rotate', tag },
});

/** One thing that `svc doctor` looked at. */
export const Finding = z.strictObject({
  check: z.string().describe('What was looked at.'),
  state: z.enum(['ok', 'warning', 'failed']),
  found: z.string(),
  advice: z.string().optional().describe('What to do about it.'),
});
export type Finding = z.infer<typeof Finding>;

export const examineWorkspace = query({
  name: 'examine_workspace',
  owner: 'workspace',
  tier: 'manage',
  reach: {},
  doc: 'Check a local workspace as `svc doctor` does: its folder, disk, database, credential, port and folders of nodes. Only for its owner (FORBIDDEN).',
  input: z.strictObject({}),
  output: z.strictObject({
    healthy: z.boolean().describe('Nothing failed.'),
    findings: z.array(Finding),
    examined_at: Timestamp,
  }),
  timeoutMs: 40_000,
  rest: { method: 'GET', path: '/workspace/findings', tag },
});

export const readMembership = query({
  name: 'read_membership',
  owner: 'workspace',
  tier: 'read',
  reach: {},
  doc: 'Tell which central workspace this workstation belongs to, as which device of whom, and whether it can be reached now.',
  input: z.strictObject({}),
  output: z.strictObject({
    membership: z
      .strictObject({
        url: z.string().describe('Where the central workspace answers.'),
        device: z.strictObject({ id: Id, name: z.string() }),
        user: z.strictObject({ id: Id, name: z.string() }),
        joined_at: Timestamp,
        token_expires_at: Timestamp.describe('When the device must have joined again.'),
        state: z
          .enum(['connected', 'unreachable', 'refused'])
          .describe('refused: the device was revoked, or its token has ended.'),
        problem: z.string().nullable().describe('What the last attempt to reach it failed with, where that is known.'),
        since: Timestamp.describe('Since when the state is this one, or the process runs.'),
      })
      .nullable()
      .describe('Null in a local workspace.'),
  }),
  rest: { method: 'GET', path: '/workspace/membership', tag },
});

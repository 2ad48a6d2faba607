import { z } from 'zod';
import { Scope } from '../caller.js';
import { Confirmed, Email, ExpectedVersion, Id, Name, page, paging, plainText, Query, Timestamp } from '../common.js';
import { changed } from '../graph/access-preview.js';
import { command, query } from '../operation.js';

export const User = z.strictObject({
  id: Id,
  name: z.string(),
  external_id: z.string().nullable().describe('`issuer|subject` of an identity provider.'),
  email: z.string().nullable(),
  handle: z.string().nullable().describe("The person's user name at the identity provider, such as thockin."),
  max_scope: Scope.describe('Upper limit for the credentials of this user.'),
  claim_scope: Scope.nullable().describe(
    "Scope that the identity provider's groups gave at the last sign-in; also an upper limit for credentials. Null for users without a provider.",
  ),
  disabled: z.boolean(),
  groups: z.array(z.strictObject({ id: Id, name: z.string() })),
  version: z.int(),
  created_at: Timestamp,
  updated_at: Timestamp,
});
export type User = z.infer<typeof User>;

export const Group = z.strictObject({
  id: Id,
  name: z.string(),
  claim: z.string().nullable().describe("Value of the provider's groups claim that fills this group."),
  member_count: z.int(),
  version: z.int(),
  created_at: Timestamp,
  updated_at: Timestamp,
});
export type Group = z.infer<typeof Group>;

const tag = 'Users and groups';
/** By which a user can be named where nobody else has it. The provider's word replaces them at the next sign-in. */
const called = { email: Email.nullable(), handle: Name.nullable() };
const partOf = Query.optional().describe('Part of the name, e-mail, handle, claim or identity at the provider.');

export const whoami = query({
  name: 'whoami',
  owner: 'identity',
  tier: 'read',
  reach: {},
  doc: 'Return who you are and what this credential may do.',
  input: z.strictObject({}),
  output: z.strictObject({ user: User, scope: Scope, credential_id: z.string().nullable() }),
  rest: { method: 'GET', path: '/me', tag },
  mcp: { tool: 'svc_whoami', title: 'Who am I' },
});

export const createUser = command({
  name: 'create_user',
  owner: 'identity',
  tier: 'manage',
  reach: {},
  doc: 'Create a user. Calls accept a unique name, e-mail or handle in place of the id. Credentials are created with create_token, or come from the identity provider.',
  input: z.strictObject({
    name: Name,
    external_id: plainText(500).nullable().default(null),
    email: called.email.default(null),
    handle: called.handle.default(null),
    max_scope: Scope.default('write'),
  }),
  output: User,
  errors: ['CONFLICT'],
  rest: { method: 'POST', path: '/users', status: 201, tag },
});
export const getUser = query({
  name: 'get_user',
  owner: 'identity',
  tier: 'manage',
  reach: {},
  doc: 'Read one user.',
  input: z.strictObject({ user_id: Id }),
  output: User,
  errors: ['USER_NOT_FOUND'],
  rest: { method: 'GET', path: '/users/{user_id}', tag },
});
export const listUsers = query({
  name: 'list_users',
  owner: 'identity',
  tier: 'manage',
  reach: {},
  doc: 'List users by name, with their groups.',
  input: z.strictObject({ query: partOf, ...paging }),
  output: page(User),
  rest: { method: 'GET', path: '/users', tag },
  mcp: { tool: 'svc_list_users', title: 'Find users' },
});
export const updateUser = command({
  name: 'update_user',
  owner: 'identity',
  tier: 'manage',
  reach: {},
  idempotent: true,
  doc: 'Change a user. E-mail and handle follow the identity provider when it sends them. Disabling a user ends all their connections within a second. The last user with manage who can sign in, and the person of a local workspace, cannot be lowered or disabled.',
  input: z.strictObject({
    user_id: Id,
    name: Name.optional(),
    ...z.object(called).partial().shape,
    max_scope: Scope.optional(),
    disabled: z.boolean().optional(),
    expected_version: ExpectedVersion,
  }),
  output: User,
  errors: ['USER_NOT_FOUND', 'CONFLICT'],
  rest: { method: 'PATCH', path: '/users/{user_id}', tag },
});

export const createGroup = command({
  name: 'create_group',
  owner: 'identity',
  tier: 'manage',
  reach: {},
  doc: 'Create an empty group.',
  input: z.strictObject({ name: Name, claim: plainText(500).nullable().default(null) }),
  output: Group,
  errors: ['NAME_TAKEN'],
  rest: { method: 'POST', path: '/groups', status: 201, tag },
});
export const listGroups = query({
  name: 'list_groups',
  owner: 'identity',
  tier: 'manage',
  reach: {},
  doc: 'List groups by name.',
  input: z.strictObject({ query: partOf, ...paging }),
  output: page(Group),
  rest: { method: 'GET', path: '/groups', tag },
  mcp: { tool: 'svc_list_groups', title: 'Find groups' },
});
export const updateGroup = command({
  name: 'update_group',
  owner: 'identity',
  tier: 'manage',
  reach: {},
  idempotent: true,
  doc: 'Rename a group or change its claim.',
  input: z.strictObject({
    group_id: Id,
    name: Name.optional(),
    claim: plainText(500).nullable().optional(),
    expected_version: ExpectedVersion,
  }),
  output: Group,
  errors: ['GROUP_NOT_FOUND', 'NAME_TAKEN', 'CONFLICT'],
  rest: { method: 'PATCH', path: '/groups/{group_id}', tag },
});
export const deleteGroup = command({
  name: 'delete_group',
  owner: 'identity',
  tier: 'manage',
  reach: {},
  idempotent: true,
  doc: 'Delete a group and remove it from every sharing list. The first call returns who loses access; confirmed: true deletes it.',
  input: z.strictObject({ group_id: Id, confirmed: Confirmed }),
  output: changed('group', Group),
  errors: ['GROUP_NOT_FOUND'],
  timeoutMs: 30_000,
  rest: { method: 'DELETE', path: '/groups/{group_id}', tag },
});
export const listGroupMembers = query({
  name: 'list_group_members',
  owner: 'identity',
  tier: 'manage',
  reach: {},
  doc: 'List the members of a group by name.',
  input: z.strictObject({ group_id: Id, ...paging }),
  output: page(z.strictObject({ id: Id, name: z.string() })),
  errors: ['GROUP_NOT_FOUND'],
  rest: { method: 'GET', path: '/groups/{group_id}/members', tag },
  mcp: { tool: 'svc_list_group_members', title: 'List members' },
});
export const changeGroupMembers = command({
  name: 'change_group_members',
  owner: 'identity',
  tier: 'manage',
  reach: {},
  idempotent: true,
  doc: 'Add and remove members. A change that widens access returns a preview and needs confirmed: true; a removal takes effect within a second.',
  input: z.strictObject({
    group_id: Id,
    add: z.array(Id).max(1_000).default([]),
    remove: z.array(Id).max(1_000).default([]),
    confirmed: Confirmed,
  }),
  output: changed('group', Group),
  errors: ['GROUP_NOT_FOUND', 'USER_NOT_FOUND'],
  timeoutMs: 30_000,
  rest: { method: 'POST', path: '/groups/{group_id}/members', tag },
});

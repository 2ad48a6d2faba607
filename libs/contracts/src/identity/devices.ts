import { z } from 'zod';
import { Caller, Scope } from '../caller.js';
import { Done, Id, Name, page, paging, Timestamp } from '../common.js';
import { LIMITS } from '../limits.js';
import { command, query } from '../operation.js';

const tag = 'Devices';

/** A workstation that a person joined. */
export const Device = z.strictObject({
  id: Id,
  name: z.string(),
  user: z.strictObject({ id: Id, name: z.string() }),
  scope: Scope.nullable().describe(
    'Of its token; null for one that has none, such as the device of a local workspace.',
  ),
  joined_at: Timestamp,
  last_seen_at: Timestamp.nullable().describe('To the minute.'),
  revoked_at: Timestamp.nullable(),
});
export type Device = z.infer<typeof Device>;

/** A code as it is shown: once, when it is made. */
export const JoinCode = z
  .string()
  .trim()
  .regex(/^svc_join_[A-Za-z0-9_-]{43}$/, 'must be a code of `svc device invite`, which begins with svc_join_');

export const inviteDevice = command({
  name: 'invite_device',
  owner: 'identity',
  tier: 'read',
  reach: {},
  doc: `Make a code by which one workstation joins as a device of yours, or with manage of another user. The device gets your scope, or a weaker one, and acts for its person alone; its token ends together with the token that you call with. The code works once, for ${LIMITS.invitationMinutesDefault} minutes, and is returned only here; a user has at most ${LIMITS.invitationsPerUser} that work (CONFLICT).`,
  input: z.strictObject({
    user_id: Id.optional(),
    scope: Scope.optional().describe('Default: your own scope, or that of the user where it is weaker.'),
    valid_minutes: z.int().min(1).max(LIMITS.invitationMinutesMax).default(LIMITS.invitationMinutesDefault),
  }),
  output: z.strictObject({
    code: z.string().describe('svc_join_…, shown once.'),
    user: z.strictObject({ id: Id, name: z.string() }),
    scope: Scope,
    expires_at: Timestamp,
  }),
  errors: ['USER_NOT_FOUND', 'CONFLICT'],
  rest: { method: 'POST', path: '/devices/invitations', status: 201, tag },
});
export const listDevices = query({
  name: 'list_devices',
  owner: 'identity',
  tier: 'read',
  reach: {},
  doc: 'List your devices, or with manage those of a user or of everybody. Newest first.',
  input: z.strictObject({
    user_id: Id.optional(),
    everybody: z.boolean().default(false),
    include_revoked: z.boolean().default(false),
    ...paging,
  }),
  output: page(Device),
  errors: ['USER_NOT_FOUND'],
  rest: { method: 'GET', path: '/devices', tag },
});
export const revokeDevice = command({
  name: 'revoke_device',
  owner: 'identity',
  tier: 'read',
  reach: {},
  idempotent: true,
  doc: 'Revoke a device: its token ends, and its link within a second. Its files stay on it. A device can revoke itself; a token the devices that joined by its invitations; after a sign-in through the identity provider you can revoke all of yours, and with manage any.',
  input: z.strictObject({ device_id: Id }),
  output: Done,
  errors: ['DEVICE_NOT_FOUND'],
  rest: { method: 'DELETE', path: '/devices/{device_id}', tag },
});

/** Where the link of a device is opened, as a WebSocket. */
export const LINK_PATH = '/devices/link';
/** Where a code is exchanged for the token of a device. */
export const JOIN_PATH = '/devices/join';
const rejoins = {
  device_id: Id.optional().describe(
    'The device that joins again, one of the invited person that is not revoked: it keeps what it is known by, and its former token ends. Without it, a new device is made.',
  ),
};
export const JoinRequest = z.strictObject({
  code: JoinCode,
  name: Name.describe('What the workstation is called.'),
  ...rejoins,
});

/** Internal: the edge has been given a code, and names its hash. */
export const joinDevice = command({
  name: 'join_device',
  owner: 'identity',
  tier: 'internal',
  reach: 'internal',
  doc: 'Make the device that somebody has been invited to join, or take one that joins again, and make its token.',
  input: z.strictObject({ code_sha256: z.string().regex(/^[0-9a-f]{64}$/), name: Name, ...rejoins }),
  output: z.strictObject({
    device: Device,
    token: z.string().describe('svc_dev_…, shown once.'),
    expires_at: Timestamp.describe('When the token ends.'),
  }),
  errors: ['CONFLICT', 'DEVICE_NOT_FOUND'],
});

/** Internal: turns a device that has been verified into its caller. */
export const authenticateDevice = query({
  name: 'authenticate_device',
  owner: 'identity',
  tier: 'internal',
  reach: 'internal',
  doc: 'Return the caller for a device: its person, with the current scope of the person.',
  input: z.strictObject({ device_id: Id }),
  output: z.strictObject({ caller: Caller }),
  errors: ['UNAUTHENTICATED'],
});

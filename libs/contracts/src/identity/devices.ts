import { z } from 'zod';
import { Caller } from '../caller.js';
import { Id } from '../common.js';
import { query } from '../operation.js';

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

import { Controller } from '@nestjs/common';
import {
  authenticateDevice,
  type ParsedInputOf,
  type ReplyOf,
  type Scope,
  ServiceError,
  weakestScope,
} from '@workspace-graph/contracts';
import { Database } from '@workspace-graph/database';
import { Handles } from '@workspace-graph/platform';
import { DEVICE_CALLER } from './device.statements.js';

interface DeviceRow extends Record<string, unknown> {
  readonly user_id: string;
  readonly max_scope: Scope;
  readonly claim_scope: Scope | null;
}

/** Turns devices into callers. */
@Controller()
export class DeviceHandlers {
  constructor(private readonly database: Database) {}

  @Handles(authenticateDevice)
  async authenticate({
    device_id,
  }: ParsedInputOf<typeof authenticateDevice>): Promise<ReplyOf<typeof authenticateDevice>> {
    const row = await this.database.row<DeviceRow>(DEVICE_CALLER, [device_id]);
    if (!row) throw new ServiceError('UNAUTHENTICATED', 'The device is not joined, or its person is disabled.');
    const { user_id, max_scope, claim_scope } = row;
    const scope = weakestScope(max_scope, claim_scope ?? 'manage');
    return { caller: { user_id, scope, credential_id: null, via: 'sync', device_id } };
  }
}

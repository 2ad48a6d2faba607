import { Module } from '@nestjs/common';
import { AuthenticationHandlers } from './authentication/authentication.handlers.js';
import { DeviceHandlers } from './devices/device.handlers.js';
import { GroupHandlers } from './groups/group.handlers.js';
import { TokenHandlers } from './tokens/token.handlers.js';
import { UserHandlers } from './users/user.handlers.js';

/** The identity service: handlers of every operation owned by `identity`. Needs DatabaseModule and OperationsModule. */
@Module({ controllers: [AuthenticationHandlers, DeviceHandlers, TokenHandlers, UserHandlers, GroupHandlers] })
export class IdentityModule {}

import { Module } from '@nestjs/common';
import { NoRemotesHandlers } from './no-remotes.handlers.js';

/** Handlers of every operation on remote storage where there is none: a local workspace. Needs OperationsModule. */
@Module({ controllers: [NoRemotesHandlers] })
export class NoRemotesModule {}

import { Module } from '@nestjs/common';
import { ChangeHandlers } from './changes/change.handlers.js';
import { MovedObjects } from './changes/moved-objects.js';
import { IntentHandlers } from './intents/intent.handlers.js';
import { RecordHandlers } from './records/record.handlers.js';

/**
 * The file service: handlers of every operation owned by `file`, those on remote storage aside, which the wiring chooses.
 * Needs DatabaseModule and OperationsModule.
 */
@Module({
  controllers: [RecordHandlers, ChangeHandlers, IntentHandlers],
  providers: [MovedObjects],
  exports: [MovedObjects],
})
export class FileModule {}

import { Global, Module } from '@nestjs/common';
import { OperationRegistry } from './operation-registry.js';

/** Provides the registry that Nest serves `@Handles` methods through. */
@Global()
@Module({ providers: [OperationRegistry], exports: [OperationRegistry] })
export class OperationsModule {}

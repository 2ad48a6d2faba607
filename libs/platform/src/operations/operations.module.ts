import { Global, Module } from '@nestjs/common';
import { DiscoveryModule } from '@nestjs/core';
import { OperationRegistry } from './operation-registry.js';

/** Wires `@Handles` methods to the operations table. */
@Global()
@Module({ imports: [DiscoveryModule], providers: [OperationRegistry], exports: [OperationRegistry] })
export class OperationsModule {}

import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { OPERATIONS, RawJson } from '@workspace-graph/contracts';
import { DatabaseModule } from '@workspace-graph/database';
import { newId, OperationRegistry, OperationsModule, SERVED_BY_REGISTRY } from '@workspace-graph/platform';
import { GraphModule } from '@workspace-graph/service-graph';
import { IdentityModule } from '@workspace-graph/service-identity';
import { itemAt } from '../world.js';
import type { Gun, ServiceShot, ShotSet } from './shots.js';

type ServiceSet = Extract<ShotSet, { via: 'service' }>;

class ServicesModule {}

/** The services in this process, called the way a bus calls them: no surface, no wire. */
export async function serviceGun(set: ServiceSet): Promise<Gun> {
  const database = DatabaseModule.forRoot({ url: set.url, poolSize: set.poolSize });
  Module({ imports: [OperationsModule, database, GraphModule, IdentityModule] })(ServicesModule);
  const app = await NestFactory.createMicroservice(ServicesModule, {
    ...SERVED_BY_REGISTRY,
    logger: ['error'],
    abortOnError: false,
  });
  await app.listen();
  const registry = app.get(OperationRegistry);
  const call = (shot: ServiceShot): Promise<unknown> => {
    const operation = OPERATIONS.get(shot.operation);
    if (!operation) throw new Error(`There is no operation ${shot.operation}`);
    const id = newId();
    const envelope = { callId: id, requestId: id, caller: set.caller };
    return registry.dispatch(operation, shot.input, { envelope, signal: new AbortController().signal });
  };
  const { before } = set;
  return {
    fire: async (index) => {
      await call(itemAt(set.shots, index));
      return true;
    },
    ...(before && { before: async (index) => void (await call(itemAt(before, index))) }),
    ask: async (index) => {
      const reply = await call(itemAt(set.shots, index));
      return reply instanceof RawJson ? reply.parse() : reply;
    },
    close: () => app.close(),
  };
}

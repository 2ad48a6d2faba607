import 'reflect-metadata';
import { Controller, Module } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { getUser } from '@workspace-graph/contracts';
import { Handles, OperationRegistry, OperationsModule, SERVED_BY_REGISTRY } from '@workspace-graph/platform';
import { freePort } from '@workspace-graph/testing';
import { Database } from './database.js';
import { DatabaseModule } from './database.module.js';

const caller = {
  user_id: '01890000-0000-7000-8000-000000000001',
  scope: 'manage',
  credential_id: null,
  via: 'rest',
} as const;

it('refuses an operation as unavailable when its handler asks through Prisma and the database is away [errors.service-unavailable]', async () => {
  @Controller()
  class Users {
    constructor(readonly database: Database) {}

    @Handles(getUser)
    async get(): Promise<never> {
      await this.database.prisma.user.findMany();
      throw new Error('the database was expected to be away');
    }
  }

  const url = `postgres://nobody@127.0.0.1:${await freePort()}/nothing`;
  @Module({ imports: [OperationsModule, DatabaseModule.forRoot({ url })], controllers: [Users] })
  class App {}

  const app = (await Test.createTestingModule({ imports: [App] }).compile()).createNestMicroservice(SERVED_BY_REGISTRY);
  const registry = app.get(OperationRegistry);
  registry.allowPartial = true;
  await app.listen();
  const envelope = { callId: 'c', requestId: 'r', caller };
  const signal = new AbortController().signal;
  await expect(registry.dispatch(getUser, { user_id: caller.user_id }, { envelope, signal })).rejects.toMatchObject({
    code: 'SERVICE_UNAVAILABLE',
  });
  await app.close();
});

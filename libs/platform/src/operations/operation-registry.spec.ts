import 'reflect-metadata';
import { jest } from '@jest/globals';
import { Controller, type INestMicroservice, type Type } from '@nestjs/common';
import { MessagePattern } from '@nestjs/microservices';
import { Test } from '@nestjs/testing';
import { InProcessBus } from '@workspace-graph/bus';
import {
  authenticateDevice,
  type Caller,
  getActor,
  getNode,
  listFileIntents,
  OPERATIONS,
  type Operation,
  RawJson,
  ServiceError,
  serviceCaller,
  settleFileIntents,
  updateNode,
  whoami,
} from '@workspace-graph/contracts';
import { createLogger } from '../logging/index.js';
import { Handles, type OperationContext } from './handles.decorator.js';
import { OperationRegistry, SERVED_BY_REGISTRY } from './operation-registry.js';
import { OperationsModule } from './operations.module.js';

const READER: Caller = {
  user_id: '01890000-0000-7000-8000-000000000001',
  scope: 'read',
  credential_id: null,
  via: 'rest',
};

@Controller()
class ActorHandlers {
  @Handles(getActor)
  get(): Promise<never> {
    throw new ServiceError('ACTOR_NOT_FOUND', 'There is no such actor.');
  }
}

@Controller()
class RefusingHandlers {
  @Handles(getNode, { anyInput: true })
  refuse(input: unknown): Promise<never> {
    throw new ServiceError('LOCAL_MODE_NO_REMOTE', `Given ${JSON.stringify(input)}.`);
  }
}

@Controller()
class SecondActorHandlers {
  @Handles(getActor)
  get(): Promise<never> {
    throw new Error('never called');
  }
}

@Controller()
class RecordHandlers {
  @Handles(listFileIntents)
  list(): Promise<never> {
    throw new Error('never called');
  }

  @Handles(settleFileIntents)
  settle(): Promise<never> {
    throw new Error('never called');
  }

  @Handles(authenticateDevice)
  authenticate(): Promise<never> {
    throw new Error('never called');
  }
}

async function create(controllers: Type[], partial: boolean): Promise<INestMicroservice> {
  const module = await Test.createTestingModule({ imports: [OperationsModule], controllers }).compile();
  module.get(OperationRegistry).allowPartial = partial;
  return module.createNestMicroservice(SERVED_BY_REGISTRY);
}

async function boot(controllers: Type[], partial: boolean): Promise<OperationRegistry> {
  const app = await create(controllers, partial);
  await app.listen();
  return app.get(OperationRegistry);
}

function call(registry: OperationRegistry, name: string, input: unknown, caller: Caller | null): Promise<unknown> {
  const operation = OPERATIONS.get(name);
  if (!operation) throw new Error(`There is no operation ${name}`);
  const envelope = { callId: 'c', requestId: 'r', caller };
  return registry.dispatch(operation, input, { envelope, signal: new AbortController().signal });
}

describe('the registry of operations', () => {
  it('refuses to boot with an operation of a served owner that nobody handles, and names it [bus.operations.handler-missing]', async () => {
    await expect(boot([ActorHandlers], false)).rejects.toThrow(/without a handler: .*create_node/);
  });

  it('refuses to boot with two handlers of one operation, and names it [bus.operations.handler-duplicate]', async () => {
    await expect(boot([ActorHandlers, SecondActorHandlers], true)).rejects.toThrow(
      'Operation get_actor has two handlers',
    );
  });

  it('refuses to boot with a handler of an operation that is not in the table, and names it', async () => {
    @Controller()
    class StrayHandlers {
      @Handles({ ...getActor, name: 'get_stray' })
      get(): Promise<never> {
        throw new Error('never called');
      }
    }
    await expect(boot([StrayHandlers], true)).rejects.toThrow('Operation get_stray is not in the table of operations');

    @Controller()
    class PlainPattern {
      @MessagePattern('get_plain')
      get(): Promise<never> {
        throw new Error('never called');
      }
    }
    await expect(boot([PlainPattern], true)).rejects.toThrow('Operation get_plain is not in the table of operations');
  });

  it('hands input, context and answer through Nest as they are, and errors with their class and stack', async () => {
    const seen: unknown[] = [];
    const outcomes: (() => unknown)[] = [];
    @Controller()
    class Echo {
      @Handles(getActor)
      async get(...args: unknown[]): Promise<never> {
        seen.push(this instanceof Echo, ...args);
        return outcomes.shift()?.() as never;
      }
    }
    const registry = await boot([Echo], true);
    const controller = new AbortController();
    const input = { actor_id: READER.user_id };
    const ask = () =>
      registry.dispatch(getActor, input, {
        envelope: { callId: 'c', requestId: 'r', caller: READER },
        signal: controller.signal,
      });
    const observableLike = { subscribe: () => undefined };
    for (const answer of [new RawJson('{}'), { a: 1 }, undefined, null, [1, 2], observableLike]) {
      outcomes.push(() => answer);
      expect(await ask()).toBe(answer);
    }
    expect(seen.slice(0, 3)).toEqual([true, input, expect.objectContaining({ caller: READER })]);
    expect(seen[2]).toHaveProperty('signal', controller.signal);
    class OwnError extends Error {}
    for (const error of [new ServiceError('ACTOR_NOT_FOUND', 'There is none.'), new OwnError('broken')]) {
      const { stack } = error;
      outcomes.push(() => {
        throw error;
      });
      const caught = await ask().catch((reason: unknown) => reason);
      expect(caught).toBe(error);
      expect((caught as Error).stack).toBe(stack);
    }
  });

  it('serves on the bus while Nest listens, and answers what is under way before the modules end', async () => {
    const steps: string[] = [];
    const asked = Promise.withResolvers<void>();
    const answered = Promise.withResolvers<never>();
    @Controller()
    class Slow {
      @Handles(getActor)
      get(): Promise<never> {
        asked.resolve();
        return answered.promise;
      }

      onModuleDestroy(): void {
        steps.push('ended');
      }
    }
    const logger = createLogger({ process: 'test', level: 'error', sink: { write: () => undefined } });
    const bus = new InProcessBus({ logger });
    const app = await create([Slow], true);
    app.get(OperationRegistry).bus = bus;
    await app.listen();
    const envelope = { callId: 'c', requestId: 'r', caller: READER };
    const reply = bus
      .call(getActor, { actor_id: READER.user_id }, envelope)
      .then((actor) => steps.push(JSON.stringify(actor)));
    await asked.promise;
    const closed = app.close();
    answered.resolve({ name: 'Mia' } as never);
    await Promise.all([reply, closed]);
    expect(steps).toEqual(['{"name":"Mia"}', 'ended']);
    await bus.close();
  });

  it('checks credential, tier and input before the handler', async () => {
    const registry = await boot([ActorHandlers], true);
    await expect(call(registry, 'get_actor', {}, null)).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    await expect(call(registry, 'get_actor', { actor_id: 'x', more: 1 }, READER)).rejects.toMatchObject({
      code: 'VALIDATION_FAILED',
      details: {
        issues: [
          expect.objectContaining({ path: 'actor_id' }),
          expect.objectContaining({ message: expect.stringContaining('more') }),
        ],
      },
    });
    await expect(call(registry, 'get_actor', { actor_id: READER.user_id }, READER)).rejects.toMatchObject({
      code: 'ACTOR_NOT_FOUND',
    });
    await expect(call(registry, whoami.name, {}, READER)).rejects.toMatchObject({ code: 'SERVICE_UNAVAILABLE' });
  });

  it('lets a handler answer that does not read its input, after credential and tier, and not to unknown fields', async () => {
    const registry = await boot([RefusingHandlers], true);
    const codeOf = (input: unknown, caller: Caller | null = READER) =>
      call(registry, getNode.name, input, caller).catch(({ code, message }: ServiceError) => [code, message]);
    for (const input of [{}, { node_id: 'x' }, null, [], 'text'])
      expect(await codeOf(input)).toEqual(['LOCAL_MODE_NO_REMOTE', 'Given undefined.']);
    expect(await codeOf({}, null)).toMatchObject(['UNAUTHENTICATED', expect.anything()]);
    expect(await codeOf({ more: 1 })).toMatchObject(['VALIDATION_FAILED', expect.stringContaining('more')]);
  });

  it('reads beside the look at the scope of a session, and answers nothing of it before the scope admits the call', async () => {
    const outcomes: (() => unknown)[] = [];
    @Controller()
    class Reading {
      @Handles(getNode, { besideScope: true })
      async get(): Promise<never> {
        return outcomes.shift()?.() as never;
      }
    }
    const registry = await boot([Reading], true);
    const inSession: Caller = { ...READER, session_id: READER.user_id };
    const ask = () => call(registry, getNode.name, { node_id: READER.user_id }, inSession);
    const refusal = new ServiceError('scope_expansion_required', 'It is outside.');
    const broken = new Error('broken');
    for (const [read, admitted] of [
      [() => new RawJson('{"name":"Mia"}'), false],
      [() => Promise.reject(broken), false],
      [() => new RawJson('{"name":"Mia"}'), true],
      [() => Promise.reject(broken), true],
    ] as const) {
      const isRead = Promise.withResolvers<void>();
      const decision = Promise.withResolvers<null>();
      registry.scopes = { admit: () => decision.promise };
      outcomes.push(() => {
        isRead.resolve();
        return read();
      });
      const settled = jest.fn();
      const answer = ask().catch((error: unknown) => error);
      void answer.then(settled);
      // The read has begun although nothing is decided yet.
      await isRead.promise;
      await new Promise((resolve) => setImmediate(resolve));
      expect(settled).not.toHaveBeenCalled();
      if (admitted) decision.resolve(null);
      else decision.reject(refusal);
      const expected = admitted ? await Promise.resolve(read()).catch((error: unknown) => error) : refusal;
      expect(await answer).toEqual(expected);
    }
  });

  it('begins a change beside the look at the scope, and fails where its handler does not wait for the outcome', async () => {
    const changed = jest.fn();
    const isHasty = [false, true];
    @Controller()
    class Changing {
      @Handles(updateNode, { besideScope: true })
      async update(_input: unknown, { admission }: OperationContext): Promise<never> {
        if (!isHasty.shift()) await admission?.();
        changed();
        return new RawJson('{"name":"Mia"}') as never;
      }
    }
    const registry = await boot([Changing], true);
    const manager: Caller = { ...READER, scope: 'manage', session_id: READER.user_id };
    const ask = () => call(registry, updateNode.name, { node_id: READER.user_id }, manager);
    const refusal = new ServiceError('scope_expansion_required', 'It is outside.');
    registry.scopes = { admit: () => Promise.reject(refusal) };
    await expect(ask()).rejects.toBe(refusal);
    expect(changed).not.toHaveBeenCalled();
    registry.scopes = { admit: () => Promise.resolve(null) };
    await expect(ask()).rejects.toThrow('update_node has changed something before');
  });

  it('lets devices alone ask what is theirs, within the scope of their person, and services what is internal', async () => {
    const registry = await boot([RecordHandlers], true);
    const device: Caller = { ...READER, via: 'sync', device_id: 'd1' };
    const code = (operation: Operation, caller: Caller | null) =>
      call(registry, operation.name, {}, caller).catch((error: ServiceError) => error.code);
    expect(await code(listFileIntents, { ...READER, scope: 'manage' })).toBe('FORBIDDEN');
    expect(await code(listFileIntents, null)).toBe('UNAUTHENTICATED');
    expect(await code(listFileIntents, serviceCaller('edge'))).toBe('UNAUTHENTICATED');
    expect(await code(listFileIntents, device)).toBe('VALIDATION_FAILED');
    expect(await code(settleFileIntents, device)).toBe('FORBIDDEN');
    expect(await code(settleFileIntents, { ...device, scope: 'write' })).toBe('VALIDATION_FAILED');
    for (const caller of [serviceCaller('edge'), null, READER])
      expect(await code(authenticateDevice, caller)).toBe('VALIDATION_FAILED');
  });
});

import { randomUUID } from 'node:crypto';
import { mkdir, mkdtemp, realpath, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { INestMicroservice, Type } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { InProcessBus } from '@workspace-graph/bus';
import {
  type Caller,
  type Envelope,
  type ErrorCode,
  type InputOf,
  type Operation,
  type OutputOf,
  RawJson,
  type Scope,
  SECTIONS,
  ServiceError,
} from '@workspace-graph/contracts';
import { nodeFolder } from '@workspace-graph/domain';
import {
  createLogger,
  newId,
  OperationRegistry,
  OperationsModule,
  SERVED_BY_REGISTRY,
} from '@workspace-graph/platform';
import { DeviceModule } from '../device.module.js';
import { DEVICE_PARTS, type DeviceParts, type DeviceSettings } from '../device-parts.js';
import type { CentralFiles } from '../transfer/central-files.js';
import { MemoryFileService } from './memory-file-service.js';
import { MemoryGraph } from './memory-graph.js';
import { MemoryIdentity } from './memory-identity.js';

/** The device over a folder of its own and records in memory. */
export interface DeviceFixture extends AsyncDisposable {
  readonly root: string;
  readonly records: MemoryFileService;
  readonly graph: MemoryGraph;
  readonly identity: MemoryIdentity;
  readonly parts: DeviceParts;
  readonly module: INestMicroservice;
  /** What was logged, as JSON lines. */
  readonly log: string[];
  /** Somebody anew with each call. */
  caller(scope?: Scope): Caller;
  /** The person whose device it is. */
  person(scope?: Scope): Caller;
  /** Adds a node with a registered, empty folder; answers both. */
  mirror(name: string): Promise<{ nodeId: string; path: string }>;
  /** Calls an operation as `caller`, who may manage unless told. */
  call<Op extends Operation>(operation: Op, input: InputOf<Op>, caller?: Caller): Promise<OutputOf<Op>>;
  /** Calls an operation that must be refused; answers the error. */
  refusal<Op extends Operation>(operation: Op, input: unknown, code: ErrorCode, caller?: Caller): Promise<ServiceError>;
  /** Stops the device and starts it again over the same folder and records. */
  restart(): Promise<DeviceFixture>;
  /** Starts it over the same folder and records, after `stop`. */
  start(): Promise<DeviceFixture>;
  /** Stops the device and keeps its folder. */
  stop(): Promise<void>;
  close(): Promise<void>;
}

const PERSON = '018f0000-0000-7000-8000-00000000d001';
const DEVICE = { deviceId: '018f0000-0000-7000-8000-00000000d002', userId: PERSON };

export interface DeviceFixtureOptions {
  readonly settings?: Partial<DeviceSettings>;
  /** An existing folder for all of it, such as a disk of its own; one in the temporary folder without it. */
  readonly root?: string;
  /** Nest modules besides the DeviceModule. */
  readonly modules?: readonly Type[];
  /** The contents of files at the centre, for a workstation. */
  readonly centre?: CentralFiles;
}

export async function startDevice(options: DeviceFixtureOptions = {}): Promise<DeviceFixture> {
  const root = await realpath(options.root ?? (await mkdtemp(join(tmpdir(), 'svc-device-'))));
  return startDeviceAt(root, new MemoryFileService(), options);
}

async function startDeviceAt(
  root: string,
  records: MemoryFileService,
  options: DeviceFixtureOptions,
): Promise<DeviceFixture> {
  const own = join(root, '.svc');
  await mkdir(own, { recursive: true });
  const log: string[] = [];
  const logger = createLogger({ process: 'test', level: 'debug', sink: { write: (line) => void log.push(line) } });
  const bus = new InProcessBus({ logger });
  await bus.serve('file', MemoryFileService.operations, records.dispatch);
  const graph = new MemoryGraph(records);
  await bus.serve('graph', MemoryGraph.operations, graph.dispatch);
  const identity = new MemoryIdentity(DEVICE);
  await bus.serve('identity', MemoryIdentity.operations, identity.dispatch);
  const settings: DeviceSettings = {
    root,
    own,
    identity: () => DEVICE,
    watch: false,
    debounceMs: 100,
    failuresPerNode: 50,
    trashDays: 30,
    mcpUrl: () => 'http://127.0.0.1:4011/mcp',
    ...options.settings,
  };
  const compiled = await Test.createTestingModule({
    imports: [
      OperationsModule,
      DeviceModule.forRoot({ settings, bus, logger, ...(options.centre ? { centre: options.centre } : {}) }),
      ...(options.modules ?? []),
    ],
  }).compile();
  const module = compiled.createNestMicroservice(SERVED_BY_REGISTRY);
  const registry = module.get(OperationRegistry);
  registry.allowPartial = true;
  registry.validateReplies = true;
  await module.listen();
  const parts = module.get<DeviceParts>(DEVICE_PARTS);

  const caller = (scope: Scope = 'manage'): Caller => ({
    user_id: newId(),
    scope,
    credential_id: null,
    via: 'rest',
  });
  const dispatch = async (operation: Operation, input: unknown, as: Caller): Promise<unknown> => {
    const envelope: Envelope = { callId: randomUUID(), requestId: randomUUID(), caller: as };
    const reply = await registry.dispatch(operation, input, { envelope, signal: new AbortController().signal });
    return reply instanceof RawJson ? reply.parse() : reply;
  };
  const stop = async (): Promise<void> => {
    await module.close();
    await bus.close();
  };
  const close = async (): Promise<void> => {
    await stop();
    await rm(root, { recursive: true, force: true });
  };
  return {
    root,
    records,
    graph,
    identity,
    parts,
    module,
    log,
    caller,
    person: (scope) => ({ ...caller(scope), user_id: PERSON }),
    mirror: async (name) => {
      const nodeId = records.node({ name });
      const place = records.nodes.get(nodeId);
      if (!place) throw new Error('the node was just added');
      const path = join(root, nodeFolder(place));
      for (const section of SECTIONS) await mkdir(join(path, section), { recursive: true });
      const { dev, ino } = await stat(path, { bigint: true });
      parts.store.putMirror({
        nodeId,
        path,
        identity: `${dev}:${ino}`,
        scannedAt: null,
        createdAt: new Date().toISOString(),
      });
      return { nodeId, path };
    },
    call: async <Op extends Operation>(operation: Op, input: InputOf<Op>, as: Caller = caller()) =>
      (await dispatch(operation, input, as)) as OutputOf<Op>,
    refusal: async (operation, input, code, as = caller()) => {
      const error = await dispatch(operation, input, as).then(
        () => new Error(`${operation.name} was accepted; ${code} was expected`),
        (reason: unknown) => reason,
      );
      if (!(error instanceof ServiceError) || error.code !== code) throw error;
      return error;
    },
    restart: async () => {
      await stop();
      return startDeviceAt(root, records, options);
    },
    start: () => startDeviceAt(root, records, options),
    stop,
    close,
    [Symbol.asyncDispose]: close,
  };
}

import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import type { Bus, Dispatch } from '@workspace-graph/bus';
import { authenticateDevice, type Caller, OPERATIONS, type Operation } from '@workspace-graph/contracts';
import { DatabaseModule, migrate } from '@workspace-graph/database';
import { newId, OperationRegistry, OperationsModule, SERVED_BY_REGISTRY } from '@workspace-graph/platform';
import { FileModule } from '@workspace-graph/service-file';
import { startPostgres } from '@workspace-graph/testing';
import pg from 'pg';
import { QuickRecords } from './quick-records.js';

/** Who keeps the records of one node. */
export interface RecordKeeper {
  readonly nodeId: string;
  /** The device that keeps them, and its person. */
  readonly device: { readonly deviceId: string; readonly userId: string };
  readonly operations: readonly Operation[];
  readonly dispatch: Dispatch;
  close(): Promise<void>;
}

export function keepRecords(where: 'memory' | 'postgres'): Promise<RecordKeeper> {
  return where === 'postgres' ? keepInPostgres() : Promise.resolve(keepInMemory());
}

export function newDevice(): RecordKeeper['device'] {
  return { deviceId: newId(), userId: newId() };
}

/** Lets a device be who it is; its person manages. */
export async function serveDevice(bus: Bus, { deviceId, userId }: RecordKeeper['device']): Promise<void> {
  const caller: Caller = {
    user_id: userId,
    scope: 'manage',
    credential_id: null,
    via: 'sync',
    device_id: deviceId,
  };
  await bus.serve('identity', [authenticateDevice], async () => ({ caller }));
}

function keepInMemory(): RecordKeeper {
  const { nodeId, dispatch } = new QuickRecords();
  return { nodeId, device: newDevice(), operations: QuickRecords.operations, dispatch, close: () => Promise.resolve() };
}

class FileServiceModule {}

/** The file service in this process, over a database of its own that syncs to disk. */
async function keepInPostgres(): Promise<RecordKeeper> {
  const postgres = await startPostgres({ own: true, durable: true });
  await migrate({ url: postgres.url });
  const device = newDevice();
  const nodeId = await addNode(postgres.url, device);
  Module({ imports: [OperationsModule, DatabaseModule.forRoot({ url: postgres.url }), FileModule] })(FileServiceModule);
  const service = await NestFactory.createMicroservice(FileServiceModule, {
    ...SERVED_BY_REGISTRY,
    logger: ['error'],
    abortOnError: false,
  });
  await service.listen();
  const registry = service.get(OperationRegistry);
  return {
    nodeId,
    device,
    operations: [...OPERATIONS.values()].filter(({ owner }) => owner === 'file'),
    dispatch: (operation, input, context) => registry.dispatch(operation, input, context),
    close: async () => {
      await service.close();
      await postgres.stop();
    },
  };
}

/** @returns the id of a project in an organization */
async function addNode(databaseUrl: string, { deviceId, userId }: RecordKeeper['device']): Promise<string> {
  const [organizationId, nodeId] = [newId(), newId()];
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 1 });
  try {
    await pool.query(`INSERT INTO identity."user" (id, name, max_scope) VALUES ($1, 'Owner', 'manage')`, [userId]);
    await pool.query(`INSERT INTO identity.device (id, user_id, name) VALUES ($1, $2, 'bench')`, [deviceId, userId]);
    await pool.query(
      `INSERT INTO graph.node (id, type, name, lifecycle, sync_key) VALUES ($1, 'organization', 'Acme', 'active', 'acme')`,
      [organizationId],
    );
    await pool.query(
      `WITH made AS (
         INSERT INTO graph.node (id, type, name, lifecycle, health, organization_id, sync_key)
         VALUES ($1, 'project', 'Files', 'planned', 'on_track', $2, 'files') RETURNING id)
       INSERT INTO graph.edge (id, source_id, target_id, relation) SELECT gen_random_uuid(), id, $2, 'belongs_to' FROM made`,
      [nodeId, organizationId],
    );
    await pool.query('SELECT graph.refresh_access(ARRAY[$1::uuid])', [nodeId]);
    return nodeId;
  } finally {
    await pool.end();
  }
}

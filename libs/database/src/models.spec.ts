import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { PrismaPg } from '@prisma/adapter-pg';
import { createTestDatabase, type TestDatabase } from '@workspace-graph/testing';
import pg from 'pg';
import { PrismaClient } from './generated/client.js';
import { migrate } from './migrate/migrator.js';
import { productSchemas } from './product-schemas.js';

interface Column {
  readonly name: string;
  readonly type: string;
  readonly nullable: boolean;
}

type Tables = Record<string, Column[]>;

const schemaFolder = fileURLToPath(new URL('../../../prisma/schema/', import.meta.url));

const scalarTypes: Record<string, string> = {
  String: 'text',
  Int: 'int4',
  Float: 'float8',
  BigInt: 'int8',
  Boolean: 'bool',
  DateTime: 'timestamp',
  Json: 'jsonb',
  Bytes: 'bytea',
};
const nativeTypes: Record<string, string> = {
  Json: 'json',
  Uuid: 'uuid',
  SmallInt: 'int2',
  Real: 'float4',
  Timestamptz: 'timestamptz',
};

function fieldType(declared: string, rest: string): string | undefined {
  const [, unsupported, list] = /^Unsupported\("(\w+)(\[\])?"\)/.exec(declared) ?? [];
  if (unsupported !== undefined) return `${list ? '_' : ''}${unsupported === 'integer' ? 'int4' : unsupported}`;
  const scalar = scalarTypes[declared.replace(/[?[\]]/g, '')];
  if (scalar === undefined) return undefined;
  const native = /@db\.(\w+)/.exec(rest)?.[1];
  const type = native === undefined ? scalar : (nativeTypes[native] ?? native);
  return declared.endsWith('[]') ? `_${type}` : type;
}

/** The column of one line of a model; undefined for relations and blank lines. */
function readField(line: string): Column | undefined {
  const match = /^\s+(\w+)\s+(\S+)(.*)$/.exec(line);
  if (match === null) return undefined;
  const [, field = '', declared = '', rest = ''] = match;
  const type = fieldType(declared, rest);
  return type === undefined
    ? undefined
    : { name: /@map\("(\w+)"\)/.exec(rest)?.[1] ?? field, type, nullable: declared.endsWith('?') };
}

function readModels(): Tables {
  const text = readdirSync(schemaFolder)
    .map((file) => readFileSync(`${schemaFolder}${file}`, 'utf8'))
    .join('\n');
  const models = [...text.matchAll(/^model \w+ \{\n([\s\S]*?)^\}/gm)].map((match) => match[1] ?? '');
  return Object.fromEntries(
    models.map((body) => {
      const table = `${/@@schema\("(\w+)"\)/.exec(body)?.[1]}.${/@@map\("(\w+)"\)/.exec(body)?.[1]}`;
      const fields = body
        .split('\n')
        .map(readField)
        .filter((field) => field !== undefined);
      return [table, fields.sort((a, b) => (a.name < b.name ? -1 : 1))];
    }),
  );
}

let database: TestDatabase;
let client: pg.Client;

async function readTables(): Promise<Tables> {
  const { rows } = await client.query<{ table: string; columns: Column[] }>(
    `
    SELECT table_schema || '.' || table_name AS table,
      json_agg(json_build_object('name', column_name, 'type', udt_name, 'nullable', is_nullable = 'YES') ORDER BY column_name COLLATE "C") AS columns
    FROM information_schema.columns JOIN information_schema.tables USING (table_schema, table_name)
    WHERE table_schema = ANY ($1) AND table_type = 'BASE TABLE' GROUP BY 1`,
    [productSchemas],
  );
  return Object.fromEntries(rows.map((row) => [row.table, row.columns]));
}

beforeAll(async () => {
  database = await createTestDatabase({ migrate: async (url) => void (await migrate({ url })) });
  client = new pg.Client({ connectionString: database.url });
  await client.connect();
});

afterAll(async () => {
  await client.end();
  await database.drop();
});

describe('the models and the migrations', () => {
  it('have the same tables, columns, types and nullability', async () => {
    const models = readModels();
    expect(Object.keys(models).length).toBeGreaterThan(20);
    expect(models).toEqual(await readTables());
  });

  it('live in the schemas that a backup holds', async () => {
    const { rows } = await client.query<{ name: string }>(`
      SELECT DISTINCT schemaname AS name FROM pg_tables
      WHERE schemaname NOT IN ('pg_catalog', 'information_schema') AND tablename <> '_prisma_migrations'`);
    expect(rows.map((row) => row.name).sort()).toEqual([...productSchemas].sort());
  });

  it('name every computed column as one that the database fills', async () => {
    const { rows } = await client.query<{ name: string }>(
      `
      SELECT column_name AS name FROM information_schema.columns
      WHERE is_generated = 'ALWAYS' AND table_schema = ANY ($1)`,
      [productSchemas],
    );
    const text = ['graph', 'identity', 'file']
      .map((name) => readFileSync(`${schemaFolder}${name}.prisma`, 'utf8'))
      .join('');
    const filled = [...text.matchAll(/^\s+(\w+)\s.*@default\(dbgenerated\(\)\)(?: @map\("(\w+)"\))?/gm)].map(
      (match) => match[2] ?? match[1],
    );
    expect(filled.sort()).toEqual(rows.map((row) => row.name).sort());
  });
});

describe('the generated client', () => {
  it('writes and reads a node, its organization, list and event', async () => {
    const id = (n: number): string => `00000000-0000-7000-8000-00000000000${n}`;
    const pool = new pg.Pool({ connectionString: database.url });
    const prisma = new PrismaClient({ adapter: new PrismaPg(pool) });
    await prisma.user.create({ data: { id: id(1), name: 'Žofie', maxScope: 'read' } });
    await prisma.node.create({
      data: { id: id(2), type: 'organization', name: 'Org', lifecycle: 'active', syncKey: 'org' },
    });
    await prisma.share.create({ data: { nodeId: id(2), userId: id(1), access: 'read' } });
    await prisma.event.create({
      data: { id: id(3), nodeId: id(2), kind: 'note', content: 'x', occurredAt: new Date(0) },
    });
    const node = await prisma.node.findUniqueOrThrow({ where: { id: id(2) }, include: { shares: true, events: true } });
    expect(node.shares).toEqual([{ nodeId: id(2), userId: id(1), groupId: null, recipientId: id(1), access: 'read' }]);
    expect(node.events).toMatchObject([{ id: id(3), occurredAt: new Date(0), version: 1 }]);
    await prisma.$disconnect();
    await pool.end();
  });
});

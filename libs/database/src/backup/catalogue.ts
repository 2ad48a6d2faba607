import type pg from 'pg';
import { productSchemas } from '../product-schemas.js';
import type { SequenceState, TableStart } from './frames.js';

interface Reference {
  readonly source: string;
  readonly target: string;
}

/**
 * What COPY moves: ordinary columns. Computed ones come anew, and a transaction's number means nothing in another
 * server, so the restoring transaction's number takes its place.
 */
const selectTables = `
  SELECT format('%I.%I', n.nspname, c.relname) AS table, array_agg(quote_ident(a.attname) ORDER BY a.attnum) AS columns
  FROM pg_class c
  JOIN pg_namespace n ON n.oid = c.relnamespace
  JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = '' AND a.atttypid <> 'xid8'::regtype
  WHERE n.nspname = ANY ($1) AND c.relkind = 'r'
  GROUP BY 1 ORDER BY 1`;

const selectReferences = `
  SELECT format('%I.%I', sn.nspname, s.relname) AS source, format('%I.%I', tn.nspname, t.relname) AS target
  FROM pg_constraint f
  JOIN pg_class s ON s.oid = f.conrelid JOIN pg_namespace sn ON sn.oid = s.relnamespace
  JOIN pg_class t ON t.oid = f.confrelid JOIN pg_namespace tn ON tn.oid = t.relnamespace
  WHERE f.contype = 'f' AND f.conrelid <> f.confrelid AND sn.nspname = ANY ($1)`;

/** Tables so that each comes after those it refers to. */
export function orderTables(tables: readonly TableStart[], references: readonly Reference[]): TableStart[] {
  const ordered: TableStart[] = [];
  let left = [...tables];
  while (left.length > 0) {
    const waiting = new Set(left.map(({ table }) => table));
    const ready = left.filter(
      ({ table }) => !references.some(({ source, target }) => source === table && waiting.has(target)),
    );
    if (ready.length === 0) throw new Error(`Foreign keys form a cycle among ${[...waiting].join(', ')}`);
    ordered.push(...ready);
    left = left.filter((table) => !ready.includes(table));
  }
  return ordered;
}

/** The product's tables in the order in which they can be filled. */
export async function readTables(client: pg.Client): Promise<TableStart[]> {
  const tables = await client.query<TableStart>(selectTables, [productSchemas]);
  const references = await client.query<Reference>(selectReferences, [productSchemas]);
  return orderTables(tables.rows, references.rows);
}

export async function readSequences(client: pg.Client): Promise<SequenceState[]> {
  const { rows } = await client.query<{ sequence: string }>(
    `
    SELECT format('%I.%I', n.nspname, c.relname) AS sequence FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
    WHERE c.relkind = 'S' AND n.nspname = ANY ($1) ORDER BY 1`,
    [productSchemas],
  );
  const states: SequenceState[] = [];
  for (const { sequence } of rows) {
    const state = await client.query<{ last: string; called: boolean }>(
      `SELECT last_value::text AS last, is_called AS called FROM ${sequence}`,
    );
    const { last = '1', called = false } = state.rows[0] ?? {};
    states.push({ sequence, lastValue: last, isCalled: called });
  }
  return states;
}

/** The first of the tables that has a row; undefined when all are empty. */
export async function findFilledTable(client: pg.Client, tables: readonly TableStart[]): Promise<string | undefined> {
  for (const { table } of tables) {
    const { rows } = await client.query<{ filled: boolean }>(`SELECT EXISTS (SELECT FROM ${table}) AS filled`);
    if (rows[0]?.filled) return table;
  }
  return undefined;
}

/** Names and checksums of the migrations in the database, by name. */
export async function readLevel(client: pg.Client): Promise<{ name: string; checksum: string }[]> {
  const known = await client.query<{ there: boolean }>(
    `SELECT to_regclass('public._prisma_migrations') IS NOT NULL AS there`,
  );
  if (!known.rows[0]?.there) return [];
  const { rows } = await client.query<{ name: string; checksum: string }>(`
    SELECT migration_name AS name, checksum FROM public._prisma_migrations
    WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL ORDER BY migration_name`);
  return rows;
}

/** A connection whose texts mean the same on every server. */
export const neutralSettings = `
  SET client_encoding = 'UTF8'; SET DateStyle = 'ISO, YMD'; SET IntervalStyle = 'postgres'; SET TimeZone = 'UTC';
  SET extra_float_digits = 3; SET bytea_output = 'hex'; SET statement_timeout = 0; SET lock_timeout = 0;
  SET idle_in_transaction_session_timeout = 0`;

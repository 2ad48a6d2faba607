import { z } from 'zod';
import { Confirmed, Done, Id, Timestamp } from '../common.js';
import { AccessPreview } from '../graph/access-preview.js';
import { command, query } from '../operation.js';
import { GraphDocument } from './document.js';

const tag = 'Import and export';

export const ImportReport = z.strictObject({
  applied: z.boolean().describe('False for a dry run, and when the import needs confirmed: true.'),
  preview: AccessPreview.nullable().describe('Who gains or loses access to existing nodes; null when nobody does.'),
  created: z.record(z.string(), z.int()).describe('New records by kind.'),
  updated: z.record(z.string(), z.int()),
  unchanged: z.record(z.string(), z.int()),
});

export const putImportPart = command({
  name: 'put_import_part',
  owner: 'graph',
  tier: 'internal',
  overLink: 'manage',
  reach: 'internal',
  idempotent: true,
  doc: 'Store one part of an import document until the import runs; it is deleted after an hour.',
  input: z.strictObject({
    upload_id: Id,
    index: z.int().min(0).max(10_000),
    data: z.string().describe('base64 of gzip'),
  }),
  output: Done,
});

export const runImport = command({
  name: 'run_import',
  owner: 'graph',
  tier: 'internal',
  overLink: 'manage',
  reach: 'internal',
  idempotent: true,
  doc: 'Validate the whole uploaded document, then apply it in one transaction.',
  input: z.strictObject({
    upload_id: Id,
    parts: z.int().min(1),
    dry_run: z.boolean().default(false),
    confirmed: Confirmed,
  }),
  output: ImportReport,
  errors: ['UPLOAD_NOT_FOUND', 'CONFLICT'],
  timeoutMs: 600_000,
});

export const listImports = query({
  name: 'list_imports',
  owner: 'graph',
  tier: 'manage',
  reach: {},
  doc: 'List the running imports with their progress. Omits imports that wait for their turn.',
  input: z.strictObject({}),
  output: z.strictObject({
    items: z.array(
      z.strictObject({
        stage: z.enum(['reading', 'checking', 'writing']),
        percent: z.int().min(0).max(100).describe('Of this stage.'),
        started_at: Timestamp,
      }),
    ),
  }),
  rest: { method: 'GET', path: '/imports', tag },
});

export const exportGraph = query({
  name: 'export_graph',
  owner: 'graph',
  tier: 'manage',
  reach: {},
  doc: 'Export everything as one document of the format workspace-graph/1: a complete backup of the graph, its users, groups and sharing, without secrets.',
  input: z.strictObject({}),
  output: GraphDocument,
  timeoutMs: 600_000,
  rest: { method: 'GET', path: '/export', tag },
});

import {
  createFile,
  FileName,
  FilePath,
  Id,
  Section,
  Subpath,
  TrackedFile,
  WrittenFile,
} from '@workspace-graph/contracts';
import { z } from 'zod';
import type { ZodOpenApiPathsObject } from 'zod-openapi';
import { ErrorSchema, errorResponses } from './openapi-responses.js';

const tags = ['Files'];
const nodePath = z.strictObject({ node_id: Id });
const target = z.strictObject({ path: FilePath });
const bytes = { '*/*': { schema: { type: 'string', format: 'binary' } } } as const;
const headers = { ETag: { $ref: '#/components/headers/ETag' } };
/** Of what a central workspace does on the remote of a node. */
const REMOTE = ['NO_REMOTE', 'REMOTE_REFUSED', 'REMOTE_UNAVAILABLE'] as const;
/** Fields come first, then the files. */
const UploadForm = z.object({
  section: Section.optional().describe('Section of the files; default wip.'),
  subpath: Subpath.optional(),
  filename: FileName.optional().describe('Name for a single file, instead of its own.'),
  file: z
    .array(z.string().meta({ format: 'binary' }))
    .min(1)
    .describe('The bytes of each file, under its name.'),
});
const UploadedFiles = z.strictObject({
  files: z.array(z.strictObject({ filename: z.string(), file: TrackedFile.nullable(), error: ErrorSchema.nullable() })),
});
const json = (schema: z.ZodType) => ({ 'application/json': { schema } });

/** The routes of bytes, which are no operations. */
export const FILE_PATHS: ZodOpenApiPathsObject = {
  '/nodes/{node_id}/file': {
    get: {
      operationId: 'get_file_content',
      tags,
      summary: 'Read the bytes of a file.',
      description:
        'Streams the content. The ETag is its SHA-256; a Range returns 206. A .deck bundle returns its packed preview, or a page that reports a missing preview, unless raw=true. Needs the scope `read`.',
      requestParams: {
        path: nodePath,
        query: target.extend({
          raw: z.boolean().default(false).describe('Bytes of a .deck bundle.'),
          preview: z
            .boolean()
            .default(false)
            .describe('HTML and PDF to be shown in place of saved. HTML runs and loads nothing.'),
        }),
        header: z.object({
          Range: z.string().optional(),
          'If-Range': z.string().optional(),
          'If-None-Match': z.string().optional(),
        }),
      },
      responses: {
        '200': { description: 'The content.', headers, content: bytes },
        '206': { description: 'A part of the content.', headers, content: bytes },
        '304': { description: 'Unchanged.' },
        ...errorResponses([
          'NODE_NOT_FOUND',
          'FILE_NOT_FOUND',
          'ROUTE_NOT_FOUND',
          'NO_MIRROR',
          ...REMOTE,
          'NATIVE_FORMAT',
          'UNSUPPORTED_MEDIA_TYPE',
          'RANGE_NOT_SATISFIABLE',
        ]),
      },
    },
    put: {
      operationId: 'put_file_content',
      tags,
      summary: 'Replace the bytes of a file, or create it.',
      description:
        'If-Match with the ETag of the content replaces exactly that content; If-None-Match: * creates a file at a free path. One of them is required. A text media type needs text before and after. Needs the scope `write`.',
      requestParams: {
        path: nodePath,
        query: target,
        header: z.object({ 'If-Match': z.string().optional(), 'If-None-Match': z.string().optional() }),
      },
      requestBody: { required: true, content: { ...bytes, 'application/json': { schema: {} } } },
      responses: {
        '200': { description: 'Replaced.', headers, content: json(WrittenFile) },
        '201': { description: 'Made.', headers, content: json(WrittenFile) },
        ...errorResponses([
          'NODE_NOT_FOUND',
          'FILE_NOT_FOUND',
          'ROUTE_NOT_FOUND',
          'NO_MIRROR',
          ...REMOTE,
          'CONFLICT',
          'DESTINATION_EXISTS',
          'NOT_EDITABLE',
          'NATIVE_FORMAT',
          'UNSUPPORTED_MEDIA_TYPE',
          'STORAGE_FULL',
        ]),
      },
    },
  },
  '/nodes/{node_id}/files': {
    post: {
      operationId: 'create_files',
      tags,
      summary: 'Create files.',
      description:
        'One file from JSON, or the files of a form, whose fields section, subpath and filename come first. Several files have one result each. Nothing is overwritten. Needs the scope `write`.',
      parameters: [{ $ref: '#/components/parameters/IdempotencyKey' }],
      requestParams: { path: nodePath },
      requestBody: {
        required: true,
        content: {
          'application/json': { schema: createFile.input.omit({ node_id: true }) },
          'multipart/form-data': { schema: UploadForm },
        },
      },
      responses: {
        '201': {
          description: 'The file, or the result of each of several files.',
          content: json(z.union([TrackedFile, UploadedFiles])),
        },
        ...errorResponses([...createFile.errors, 'ROUTE_NOT_FOUND', 'UNSUPPORTED_MEDIA_TYPE', 'STORAGE_FULL']),
      },
    },
  },
};

import {
  createFile,
  createMirror,
  GraphDocument,
  inviteDevice,
  JOIN_PATH,
  JoinRequest,
  joinDevice,
  type Operation,
  runImport,
} from '@workspace-graph/contracts';
import { z } from 'zod';
import type { ZodOpenApiOperationObject, ZodOpenApiPathsObject } from 'zod-openapi';
import { FILE_PATHS } from './openapi-file-paths.js';
import { errorResponses, extraCodes } from './openapi-responses.js';

const STATUS = z.strictObject({ status: z.enum(['ok', 'unavailable']) });
const ANSWERS_TO_ANYBODY = { security: [], tags: ['Service'] };

/** Routes that are no single operation. */
export function extraPaths(operations: readonly Operation[]): ZodOpenApiPathsObject {
  return {
    ...(operations.includes(createFile) ? FILE_PATHS : {}),
    '/import': {
      post: {
        operationId: 'import_graph',
        tags: ['Import and export'],
        summary: 'Import a document of the format workspace-graph/1, up to 256 MiB.',
        description: `${runImport.doc} Needs the scope \`manage\`.`,
        parameters: [{ $ref: '#/components/parameters/IdempotencyKey' }],
        requestParams: { query: runImport.input.omit({ upload_id: true, parts: true }) },
        requestBody: { required: true, content: { 'application/json': { schema: GraphDocument } } },
        responses: {
          '200': {
            description: 'What was imported, or what would be.',
            content: { 'application/json': { schema: runImport.output } },
          },
          ...errorResponses([...extraCodes(runImport), 'UNSUPPORTED_MEDIA_TYPE']),
        },
      },
    },
    ...(operations.includes(inviteDevice) && !operations.includes(createMirror) ? { [JOIN_PATH]: { post: JOIN } } : {}),
    '/openapi.json': {
      get: {
        operationId: 'get_openapi',
        tags: ['Service'],
        summary: 'Read this document.',
        description: 'The operations of this process. Needs the scope `read`.',
        responses: {
          '200': { description: 'OpenAPI 3.1.', content: { 'application/json': { schema: { type: 'object' } } } },
          ...errorResponses([]),
        },
      },
    },
    '/asyncapi.json': { get: ASYNCAPI },
    '/health/live': { get: health('get_liveness', 'Whether the process is alive.') },
    '/health/ready': { get: health('get_readiness', 'Whether the process can do its work.') },
    '/metrics': {
      get: {
        operationId: 'get_metrics',
        tags: ['Service'],
        summary: 'Read the metrics in the text format of Prometheus.',
        description:
          'Accepts the metrics token, any request from the same machine when no token is set, and the scope `manage`.',
        responses: {
          '200': { description: 'Metrics.', content: { 'text/plain': { schema: { type: 'string' } } } },
          ...errorResponses([]),
        },
      },
    },
  };
}

const JOIN: ZodOpenApiOperationObject = {
  operationId: 'join_device',
  security: [],
  tags: ['Devices'],
  summary: 'Exchange the code of an invitation for the token of a device.',
  description:
    'Works once for each code, and needs no credential. The device then opens its link, a WebSocket at `/devices/link`, with the token. One that names its `device_id` joins again and gets a new token.',
  requestBody: { required: true, content: { 'application/json': { schema: JoinRequest } } },
  responses: {
    '201': {
      description: 'The device, and its token.',
      content: { 'application/json': { schema: joinDevice.output } },
    },
    ...errorResponses([...extraCodes(joinDevice), 'UNSUPPORTED_MEDIA_TYPE']),
  },
};

const ASYNCAPI: ZodOpenApiOperationObject = {
  operationId: 'get_asyncapi',
  tags: ['Service'],
  summary: 'Read the description of the live channel.',
  description: 'The WebSocket at `/sessions/ws`. Needs the scope `read`.',
  responses: {
    '200': { description: 'AsyncAPI 3.1.', content: { 'application/json': { schema: { type: 'object' } } } },
    ...errorResponses([]),
  },
};

function health(operationId: string, summary: string): ZodOpenApiOperationObject {
  const content = { 'application/json': { schema: STATUS } };
  const { '400': _bad, '401': _credential, '413': _large, '504': _late, ...errors } = errorResponses([]);
  return {
    ...ANSWERS_TO_ANYBODY,
    operationId,
    summary,
    description: `${summary} Needs no credential.`,
    responses: { '200': { description: 'Yes.', content }, ...errors, '503': { description: 'Not now.', content } },
  };
}

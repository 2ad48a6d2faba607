import { COMMON_ERRORS, ERRORS, type ErrorCode, type Operation, referenceErrors } from '@workspace-graph/contracts';
import { z } from 'zod';
import type { ZodOpenApiHeadersObject, ZodOpenApiResponseObject } from 'zod-openapi';

type Response = ZodOpenApiResponseObject | { $ref: string };

/** The error object as a schema. */
export const ErrorSchema = z
  .strictObject({
    code: z
      .enum(Object.keys(ERRORS) as [ErrorCode, ...ErrorCode[]])
      .describe('Stable code from a fixed table; programs react to it.'),
    message: z.string().describe('Text for people; names the invalid field or id.'),
    details: z
      .record(z.string(), z.unknown())
      .optional()
      .describe('Data that belongs to the code, such as issues, current or required_scope.'),
    request_id: z.string().describe('Id of this request in the logs.'),
  })
  .describe('The error object of all surfaces.');

const HEADERS: Readonly<Record<number, ZodOpenApiHeadersObject>> = {
  401: { 'WWW-Authenticate': { $ref: '#/components/headers/WWW-Authenticate' } },
  408: { 'Retry-After': { $ref: '#/components/headers/Retry-After' } },
  429: { 'Retry-After': { $ref: '#/components/headers/Retry-After' } },
  503: { 'Retry-After': { $ref: '#/components/headers/Retry-After' } },
  504: { 'Retry-After': { $ref: '#/components/headers/Retry-After' } },
};
/** 499 has no reader: who gave the request up is gone. */
const COMMON = byStatus(COMMON_ERRORS.filter((code) => code !== 'REQUEST_CANCELLED'));

/** Responses that most routes share, by name. */
export function sharedResponses(): Record<string, ZodOpenApiResponseObject> {
  return Object.fromEntries([...COMMON].map(([status, codes]) => [`Error${status}`, errorResponse(status, codes)]));
}

/** The error responses of a route: shared ones by reference, its own in full. */
export function errorResponses(extra: readonly ErrorCode[]): Record<`${number}`, Response> {
  const own = byStatus(extra);
  const statuses = [...new Set([...COMMON.keys(), ...own.keys()])].sort((first, second) => first - second);
  return Object.fromEntries(
    statuses.map((status) => {
      const codes = own.get(status);
      const response = codes
        ? errorResponse(status, [...(COMMON.get(status) ?? []), ...codes])
        : { $ref: `#/components/responses/Error${status}` };
      return [`${status}` as const, response];
    }),
  );
}

/** What a route can answer beyond what every operation can. */
export function extraCodes(operation: Operation): ErrorCode[] {
  const { errors, rest, readOnly } = operation;
  const notFound: ErrorCode[] = rest?.path.includes('{') ? ['ROUTE_NOT_FOUND'] : [];
  const mediaType: ErrorCode[] = rest && rest.method !== 'GET' ? ['UNSUPPORTED_MEDIA_TYPE'] : [];
  const repeated: ErrorCode[] = readOnly || errors.includes('CONFLICT') ? [] : ['CONFLICT'];
  return [...new Set([...errors, ...referenceErrors(operation), ...notFound, ...mediaType, ...repeated])];
}

function errorResponse(status: number, codes: readonly ErrorCode[]): ZodOpenApiResponseObject {
  const headers = HEADERS[status];
  return {
    description: codes.map((code) => `\`${code}\`: ${ERRORS[code].remedy}`).join('\n\n'),
    ...(headers ? { headers } : {}),
    content: {
      'application/json': {
        schema: {
          allOf: [
            { $ref: '#/components/schemas/Error' },
            { type: 'object', properties: { code: { enum: [...codes] } } },
          ],
        },
      },
    },
  };
}

function byStatus(codes: readonly ErrorCode[]): ReadonlyMap<number, readonly ErrorCode[]> {
  return Map.groupBy(codes, (code) => ERRORS[code].status);
}

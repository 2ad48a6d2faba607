import { readInput, says } from '@workspace-graph/contracts';
import { z } from 'zod';

const REF_FORMS = 'must be {"type": "ref/prompt", "name": …} or {"type": "ref/resource", "uri": …}';
const META_FORM = 'must be an object; its progressToken, a string or a whole number';

const Meta = z.looseObject({ progressToken: z.union([z.string(), z.int()]).optional() }, { error: says(META_FORM) });
const Texts = z.record(z.string(), z.string());
const Ref = z.union(
  [
    z.looseObject({ type: z.literal('ref/prompt'), name: z.string() }),
    z.looseObject({ type: z.literal('ref/resource'), uri: z.string() }),
  ],
  { error: says(REF_FORMS) },
);

const page = params({ cursor: z.string().optional() });
const resource = params({ uri: z.string() });

/** What the requests of the protocol take that have something to say. */
const PARAMS: Readonly<Record<string, z.ZodType>> = {
  'tools/list': page,
  'tools/call': params({ name: z.string(), arguments: z.record(z.string(), z.unknown()).optional() }),
  'resources/list': page,
  'resources/templates/list': page,
  'resources/read': resource,
  'resources/subscribe': resource,
  'resources/unsubscribe': resource,
  'prompts/list': page,
  'prompts/get': params({ name: z.string(), arguments: Texts.optional() }),
  'completion/complete': params({
    ref: Ref,
    argument: z.looseObject({ name: z.string(), value: z.string() }),
    context: z.looseObject({ arguments: Texts.optional() }).optional(),
  }),
};

/** @throws ServiceError VALIDATION_FAILED that names each parameter and what it must be */
export function checkParams(method: string, given: unknown): void {
  const schema = PARAMS[method];
  if (schema) readInput(schema, given ?? {});
}

function params(shape: z.ZodRawShape): z.ZodType {
  return z.looseObject({ ...shape, _meta: Meta.optional() });
}

import type { CallToolResult, ElicitRequestFormParams } from '@modelcontextprotocol/server';

/** One pixel. */
export const PIXEL_PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';

/** A wave file without a sample. */
export const SILENCE_WAV = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=';

export function said(text: string): CallToolResult {
  return { content: [{ type: 'text', text }] };
}

/** A form to ask the client's user for. The properties are those that a scenario dictates. */
export function elicitForm(
  message: string,
  properties: Readonly<Record<string, unknown>>,
  required: readonly string[] = Object.keys(properties),
): ElicitRequestFormParams {
  const requestedSchema = { type: 'object', properties, required: [...required] };
  return { mode: 'form', message, requestedSchema: requestedSchema as ElicitRequestFormParams['requestedSchema'] };
}

import { JOIN_PATH, type JoinRequest, joinDevice, type OutputOf } from '@workspace-graph/contracts';
import type { z } from 'zod';
import { CliError } from '../cli/cli-error.js';

const ANSWER_MS = 30_000;
const LOOPBACK = /^(localhost|127(\.\d{1,3}){3}|\[::1\])$/;

/** Where the gateways of a central workspace answer, as somebody wrote it. @throws CliError WRONG_USAGE */
export function centreUrl(text: string, { insecure }: { readonly insecure: boolean }): string {
  const parsed = URL.parse(/^[a-z]+:\/\//i.test(text) ? text : `https://${text}`);
  if (!parsed || !['http:', 'https:'].includes(parsed.protocol) || parsed.username !== '' || parsed.search !== '')
    throw new CliError('WRONG_USAGE', `${text} is not the address of a workspace, such as https://graph.example.org.`);
  if (parsed.pathname !== '/')
    throw new CliError('WRONG_USAGE', `The address of a workspace has no path: use ${parsed.origin}.`);
  if (parsed.protocol === 'http:' && !insecure && !LOOPBACK.test(parsed.hostname))
    throw new CliError(
      'WRONG_USAGE',
      `${parsed.origin} is not encrypted: everybody on the way could read your token and files.`,
      {
        hint: 'Use https. Where the network itself is trusted, add --insecure.',
      },
    );
  return parsed.origin;
}

/** Exchanges a code for a device, or for that which joins again, and its token. @throws CliError with the error object of the gateway */
export async function joinCentre(
  url: string,
  request: z.input<typeof JoinRequest>,
): Promise<OutputOf<typeof joinDevice>> {
  const response = await answer(`${url}${JOIN_PATH}`, {
    method: 'POST',
    body: JSON.stringify(request),
    headers: { 'content-type': 'application/json' },
  });
  const body: unknown = await response.json().catch(() => null);
  const joined = joinDevice.output.safeParse(body);
  if (response.ok && joined.success) return joined.data;
  throw refusalOf(response.status, body, url);
}

/** Ends the device at the centre. One that has ended already is none any more. @throws CliError */
export async function revokeAtCentre(url: string, deviceId: string, token: string): Promise<void> {
  const response = await answer(`${url}/devices/${deviceId}`, {
    method: 'DELETE',
    headers: { authorization: `Bearer ${token}` },
  });
  if (response.ok || response.status === 401 || response.status === 404) return;
  throw refusalOf(response.status, await response.json().catch(() => null), url);
}

async function answer(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, { ...init, redirect: 'error', signal: AbortSignal.timeout(ANSWER_MS) });
  } catch (cause) {
    throw new CliError('WORKSPACE_UNREACHABLE', `${new URL(url).origin} cannot be reached: ${reasonOf(cause)}.`, {
      cause,
      hint: 'Check the address and your network. Nothing was changed.',
    });
  }
}

/** Why a request had no answer. */
export function reasonOf(error: unknown): string {
  const { cause, message } = error as Error & {
    readonly cause?: { readonly code?: string; readonly message?: string };
  };
  return cause?.code ?? cause?.message ?? message;
}

function refusalOf(status: number, body: unknown, url: string): CliError {
  const { code, message } = (body ?? {}) as { readonly code?: unknown; readonly message?: unknown };
  if (typeof code !== 'string' || typeof message !== 'string')
    return new CliError('UNEXPECTED_ANSWER', `${url} answered ${status}, which no gateway of a workspace does.`, {
      status,
      hint: 'Check the address.',
    });
  return new CliError(code as never, message, { status, body: body as never });
}

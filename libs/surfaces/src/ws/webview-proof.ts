import { timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

const PROOF_HEADER = 'x-svc-webview-proof';

/** Whether an upgrade comes from the application's own window; any does where no proof is asked for. */
export function carriesProof({ headers }: Pick<IncomingMessage, 'headers'>, proof: string | undefined): boolean {
  if (proof === undefined) return true;
  const [wanted, given] = [Buffer.from(proof), Buffer.from(String(headers[PROOF_HEADER] ?? ''))];
  return wanted.length === given.length && timingSafeEqual(wanted, given);
}

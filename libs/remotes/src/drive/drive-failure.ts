import { fieldOf } from '../http/json.js';
import { busy, type HttpCall } from '../http/network.js';
import { RemoteFailure, type RemoteFailureReason } from '../port/index.js';

/** What the reasons of errors mean; a status says the rest. */
const REASONS: Readonly<Record<string, RemoteFailureReason>> = {
  rateLimitExceeded: 'unavailable',
  userRateLimitExceeded: 'unavailable',
  sharingRateLimitExceeded: 'unavailable',
  dailyLimitExceeded: 'unavailable',
  storageQuotaExceeded: 'full',
  quotaExceeded: 'full',
  uploadTooLarge: 'too_large',
  teamDriveFileLimitExceeded: 'full',
  teamDriveHierarchyTooDeep: 'full',
  numChildrenInNonRootLimitExceeded: 'full',
  // A document of Google's own format has no bytes.
  fileNotDownloadable: 'not_found',
};

const OF_STATUS: Readonly<Record<number, RemoteFailureReason>> = {
  401: 'forbidden',
  403: 'forbidden',
  404: 'not_found',
};

/** The failure that an answer of Drive stands for. An error that is unknown is a fault of ours. */
export function driveFailureOf(response: Response, text: string, call: HttpCall): Error {
  const { status } = response;
  const reasons = reasonsIn(text);
  const reason = reasons.map((name) => REASONS[name]).find((found) => found !== undefined) ?? OF_STATUS[status];
  // No redirection is followed: whoever answers one is something on the way.
  const isBusy = status < 400 || status === 408 || status === 429 || status >= 500;
  if (reason === 'unavailable' || (reason === undefined && isBusy)) return busy(response, call);
  const cause = new Error(`Google Drive answered ${status} ${reasons.join(' ')}: ${text.slice(0, 200)}`);
  return reason === undefined ? cause : new RemoteFailure(reason, { path: call.path }, { cause });
}

function reasonsIn(text: string): string[] {
  try {
    const errors = fieldOf(fieldOf(JSON.parse(text), 'error'), 'errors');
    if (!Array.isArray(errors)) return [];
    return errors.map((error) => fieldOf(error, 'reason')).filter((reason) => typeof reason === 'string');
  } catch {
    return [];
  }
}

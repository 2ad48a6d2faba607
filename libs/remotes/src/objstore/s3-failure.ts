import { busy, type HttpCall } from '../http/network.js';
import { childText, readXml } from '../http/xml.js';
import { RemoteFailure, type RemoteFailureReason } from '../port/index.js';

/** What codes of errors mean; a status says the rest. */
const REASONS: Readonly<Record<string, RemoteFailureReason>> = {
  NoSuchKey: 'not_found',
  // What was meant to be there is not: never an absence of the object.
  NoSuchBucket: 'unavailable',
  NoSuchUpload: 'unavailable',
  RequestTimeTooSkewed: 'unavailable',
  PreconditionFailed: 'changed',
  ConditionalRequestConflict: 'changed',
  OperationAborted: 'changed',
  QuotaExceeded: 'full',
  XMinioStorageFull: 'full',
  EntityTooLarge: 'too_large',
  KeyTooLongError: 'name_refused',
  InvalidObjectName: 'name_refused',
  XMinioInvalidObjectName: 'name_refused',
  InvalidRange: 'range',
};

const OF_STATUS: Readonly<Record<number, RemoteFailureReason>> = {
  401: 'forbidden',
  403: 'forbidden',
  404: 'not_found',
  412: 'changed',
  416: 'range',
  507: 'full',
};

/** The code of an error; empty where the answer is none of S3. */
export function codeOf(text: string): string {
  try {
    return childText(readXml(text), 'Code') ?? '';
  } catch {
    return '';
  }
}

export function refusalOf(response: Response, code: string, call: HttpCall): RemoteFailure {
  const reason = REASONS[code] ?? OF_STATUS[response.status];
  if (reason === undefined || reason === 'unavailable') return busy(response, call);
  const cause = new Error(`The server answered ${response.status} ${code}`);
  return new RemoteFailure(reason, { path: call.path }, { cause });
}

import { ServiceError, type SignInRefusal } from '@workspace-graph/contracts';
import { errors } from 'jose';
import {
  AuthorizationResponseError,
  ClientError,
  ResponseBodyError,
  WWWAuthenticateChallengeError,
} from 'openid-client';

/** What a provider answers a browser with, where that is nobody's fault. */
const ANSWERS: Readonly<Record<string, SignInRefusal>> = {
  access_denied: 'denied',
  consent_required: 'denied',
  interaction_required: 'denied',
  login_required: 'denied',
  server_error: 'unavailable',
  temporarily_unavailable: 'unavailable',
};
const TIME_CLAIMS = ['exp', 'iat', 'nbf'];
const MAX_TEXT = 300;

/** What a person is told of a sign-in that came to nothing. */
export function refusalOf(error: unknown): SignInRefusal {
  const ours = chainOf(error).find((one) => one instanceof ServiceError);
  if (ours) return ofServiceError(ours);
  if (error instanceof AuthorizationResponseError) return ANSWERS[error.error] ?? 'untrusted';
  // A code that was used or is too old.
  if (error instanceof ResponseBodyError) return error.error === 'invalid_grant' ? 'expired' : 'untrusted';
  return error instanceof ClientError && error.code === 'OAUTH_JWT_TIMESTAMP_CHECK_FAILED' ? 'clock' : 'untrusted';
}

/** What the log is told: messages and codes, for what errors of the protocol hold beside them are codes and tokens. */
export function reasonOf(error: unknown): string {
  const texts = chainOf(error).map((one) => [one.message, ...answerIn(one)].join(': '));
  return texts.join(' < ').slice(0, MAX_TEXT);
}

/** What the provider itself said is wrong. */
function answerIn(error: Error): string[] {
  return partsOf(error)
    .flatMap((part) => [part.error, part.error_description])
    .filter((text) => text !== undefined);
}

function partsOf(error: Error): { readonly error?: string; readonly error_description?: string }[] {
  if (error instanceof WWWAuthenticateChallengeError) return error.cause.map(({ parameters }) => parameters);
  return error instanceof AuthorizationResponseError || error instanceof ResponseBodyError ? [error] : [];
}

function ofServiceError({ code, cause, retryable }: ServiceError): SignInRefusal {
  if (code === 'CONFLICT') return 'full';
  if (retryable || code === 'INTERNAL') return 'unavailable';
  if (code !== 'UNAUTHENTICATED' || cause === undefined) return 'no_access';
  return isOfClock(cause) ? 'clock' : 'untrusted';
}

function isOfClock(cause: unknown): boolean {
  if (cause instanceof errors.JWTExpired) return true;
  return cause instanceof errors.JWTClaimValidationFailed && TIME_CLAIMS.includes(cause.claim);
}

/** An error and what it was caused by. */
function chainOf(error: unknown): Error[] {
  const chain: Error[] = [];
  for (let one = error; one instanceof Error && !chain.includes(one); one = one.cause) chain.push(one);
  return chain;
}

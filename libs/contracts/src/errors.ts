/** One row of the error table: how a code appears on HTTP, whether a retry can help, and what the caller should do. */
interface ErrorDefinition {
  readonly status: number;
  readonly retryable: boolean;
  readonly remedy: string;
}

/** Every error code of the product. REST bodies, MCP tool errors, socket frames and bus replies use nothing else. */
export const ERRORS = {
  VALIDATION_FAILED: row(400, false, 'Correct the fields listed in details.issues and send the request again.'),
  UNAUTHENTICATED: row(401, false, 'Send a valid bearer token; create one with `svc token create`.'),
  FORBIDDEN: row(
    403,
    false,
    'Use a credential with the scope in details.required_scope, or ask for access to the node.',
  ),
  HOST_NOT_ALLOWED: row(403, false, 'Call the service by a host name that its administrator has allowed.'),
  ORIGIN_NOT_ALLOWED: row(403, false, 'Call from an allowed web origin, or add this origin to the allow-list.'),
  WEBVIEW_PROXY_REQUIRED: row(403, false, 'Send changes through the window of the application.'),
  ROUTE_NOT_FOUND: row(404, false, 'Check the method and path against the OpenAPI document.'),
  METHOD_NOT_ALLOWED: row(405, false, 'Use a method that the Allow header names.'),
  NODE_NOT_FOUND: row(404, false, 'Check the node id, or ask for access to the node.'),
  EDGE_NOT_FOUND: row(404, false, 'Check the edge id.'),
  EVENT_NOT_FOUND: row(404, false, 'Check the event id.'),
  RESPONSIBILITY_NOT_FOUND: row(404, false, 'Check the responsibility id.'),
  LINK_NOT_FOUND: row(404, false, 'Check the id of the data source or tool.'),
  ACTOR_NOT_FOUND: row(404, false, 'Check the actor id.'),
  USER_NOT_FOUND: row(404, false, 'Check the user id.'),
  GROUP_NOT_FOUND: row(404, false, 'Check the group id.'),
  TOKEN_NOT_FOUND: row(404, false, 'Check the token id.'),
  DEVICE_NOT_FOUND: row(404, false, 'Check the device id.'),
  ACCESS_REQUEST_NOT_FOUND: row(404, false, 'Check the access request id.'),
  FILE_NOT_FOUND: row(404, false, 'Check the file id, or the path within the node; the list of files shows both.'),
  SESSION_NOT_FOUND: row(404, false, 'Check the session id.'),
  REMOTE_NOT_FOUND: row(404, false, 'List the remotes to find the name.'),
  scope_expansion_required: row(403, false, 'Make the call in details.hint, with the reason of the task.'),
  SESSION_FORBIDDEN: row(403, false, 'Ask the owner of the session; manage may interrupt, suspend and close it.'),
  TRASH_NOT_FOUND: row(
    404,
    false,
    'List the trash to find the id; deleted content stays there for 30 days by default.',
  ),
  UPLOAD_NOT_FOUND: row(404, false, 'Start the import again.'),
  CONFLICT: row(409, false, 'Read details.current, reapply the change to it and send its version.'),
  ORG_INVARIANT: row(409, false, 'Give the node exactly one organization.'),
  LIFECYCLE_INVALID: row(409, false, 'Choose a lifecycle value from details.allowed.'),
  EDGE_EXISTS: row(409, false, 'Use the existing edge in details.edge_id.'),
  EDGE_CYCLE: row(409, false, 'Choose another parent: a node cannot belong to its own descendant.'),
  NAME_TAKEN: row(409, false, 'Choose another name.'),
  IN_USE: row(409, false, 'Remove the uses in details.uses, or name a replacement.'),
  TOKEN_NOT_REVOCABLE: row(
    409,
    false,
    'Replace it with `svc token rotate`, which stores the new token before it ends this one.',
  ),
  NO_LIVE_RUN: row(409, false, 'Resume the session first.'),
  NO_PENDING_QUESTION: row(409, false, 'Read the session: its open questions are listed there.'),
  LOCAL_MODE_NO_REMOTE: row(409, false, 'A local workspace has no remote; use a central workspace.'),
  NO_MIRROR: row(409, false, 'Create the folder of the node on this device first.'),
  NO_FILE_MANAGER: row(
    409,
    false,
    'Open the folder by its path in a program of your choice, or from a desktop session.',
  ),
  NO_REMOTE: row(409, false, 'Add a routing rule that gives the node a remote, with `svc_set_routing_policy`.'),
  REMOTE_REFUSED: row(
    409,
    false,
    'Read details.reason and the message: allow it to the credentials or in the folder, choose another name or root, or set the remote up again.',
  ),
  REMOTE_UNAVAILABLE: row(503, true, 'Try again after details.retry_after_seconds, or in a moment where it is null.'),
  MIRROR_PATH_REFUSED: row(
    409,
    false,
    'Choose an ordinary working folder that is not the folder of another node, does not contain one and does not lie in one.',
  ),
  DESTINATION_EXISTS: row(409, false, 'Choose another name or folder, or move the existing file away.'),
  NOT_EDITABLE: row(415, false, 'Replace the whole file by uploading its bytes.'),
  NATIVE_FORMAT: row(415, false, 'Open the document in its cloud service, or export it with a snapshot.'),
  RANGE_NOT_SATISFIABLE: row(416, false, 'Request a range within details.size_bytes.'),
  STORAGE_FULL: row(507, false, 'Free space on the disk that the message names, then try again.'),
  NOT_ACCEPTABLE: row(406, false, 'Accept a media type that the route offers.'),
  UNSUPPORTED_MEDIA_TYPE: row(415, false, 'Send the body as application/json.'),
  PAYLOAD_TOO_LARGE: row(413, false, 'Stay below details.limit_bytes.'),
  HEADERS_TOO_LARGE: row(431, false, 'Send fewer or shorter headers: together they may take at most 16 KiB.'),
  UPGRADE_REQUIRED: row(426, false, 'Open this path as a WebSocket.'),
  RATE_LIMITED: row(429, true, 'Wait for the number of seconds in the Retry-After header.'),
  REQUEST_TIMEOUT: row(408, true, 'Send the whole body without long pauses, over a faster connection.'),
  REQUEST_CANCELLED: row(499, false, 'The request was cancelled; send it again if you still need it.'),
  INTERNAL: row(500, false, 'Report the request_id to the administrator.'),
  SERVICE_UNAVAILABLE: row(503, true, 'Try again in a moment.'),
  TIMEOUT: row(504, true, 'Try again, or request less at a time.'),
} as const satisfies Record<string, ErrorDefinition>;

export type ErrorCode = keyof typeof ERRORS;

/** The one error object of every surface. Never carries a stack, SQL, a host path or a hidden resource. */
export interface ErrorBody {
  /** Stable; programs react to it. */
  readonly code: ErrorCode;
  /** For people, in English; may change. */
  readonly message: string;
  /** Data that belongs to the code, such as `issues` or `current`; absent when there is none. */
  readonly details?: Readonly<Record<string, unknown>>;
  /** Id of the request in the logs. */
  readonly request_id: string;
}

/** One violated rule of an input; `path` is a dotted path into it, '' for the whole. */
export interface ValidationIssue {
  /** Dotted path into the input, such as `recipients.0.id`; '' for the whole input. */
  readonly path: string;
  /** Continues the path, such as `must be a UUID`; for the whole input, a sentence. */
  readonly message: string;
}

/** An expected refusal. Anything else that is thrown reaches the caller as INTERNAL. */
export class ServiceError extends Error {
  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly details?: Readonly<Record<string, unknown>>,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = 'ServiceError';
  }

  get status(): number {
    return ERRORS[this.code].status;
  }

  get retryable(): boolean {
    return ERRORS[this.code].retryable;
  }

  /** The wire form of this error. */
  toBody(requestId: string): ErrorBody {
    return {
      code: this.code,
      message: this.message,
      ...(this.details ? { details: this.details } : {}),
      request_id: requestId,
    };
  }

  /** Restores a typed error from its wire form, for the calling side of the bus. */
  static fromBody(body: ErrorBody): ServiceError {
    return new ServiceError(body.code, body.message, body.details);
  }
}

/** Builds VALIDATION_FAILED with one message that names the first fields; `total` counts those that are not listed too. */
export function validationFailed(issues: readonly ValidationIssue[], total: number = issues.length): ServiceError {
  const shown = issues.slice(0, 3).map((issue) => (issue.path ? `${issue.path}: ${issue.message}` : issue.message));
  const more = total > shown.length ? ` (and ${total - shown.length} more)` : '';
  const count = total > issues.length ? { issue_count: total } : {};
  return new ServiceError('VALIDATION_FAILED', `${shown.join('; ')}${more}`, { issues, ...count });
}

/** The id of a call came again with something else. */
export function callIdReused(): ServiceError {
  const why =
    'The id of this call, over REST the Idempotency-Key, was already used for another request: send a new one.';
  return new ServiceError('CONFLICT', why);
}

/** Narrows an unknown code, e.g. one that came over the wire from a newer peer. */
export function isErrorCode(code: string): code is ErrorCode {
  return Object.hasOwn(ERRORS, code);
}

function row(status: number, retryable: boolean, remedy: string): ErrorDefinition {
  return { status, retryable, remedy };
}

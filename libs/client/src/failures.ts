import type { ErrorBody } from '@workspace-graph/contracts';

/** The workspace refused a request, and says why. */
export class Refusal extends Error {
  constructor(
    /** Of the HTTP answer. */
    readonly status: number,
    /** The error object. A newer workspace may send codes that this client does not know. */
    readonly body: Omit<ErrorBody, 'code'> & { readonly code: string },
  ) {
    super(body.message);
    this.name = 'Refusal';
  }

  get code(): string {
    return this.body.code;
  }
}

/** Something answered without a success and without an error object: a proxy, or another program. */
export class UnexpectedAnswer extends Error {
  constructor(
    readonly url: string,
    /** Of the HTTP answer. */
    readonly status: number,
  ) {
    super(`${url} answered ${status} without an error object.`);
    this.name = 'UnexpectedAnswer';
  }
}

/** No answer arrived. Whether the workspace carried the request out is not known. */
export class Unreachable extends Error {
  constructor(
    readonly url: string,
    cause: unknown,
  ) {
    super(`Nothing answers at ${url}.`, { cause });
    this.name = 'Unreachable';
  }
}

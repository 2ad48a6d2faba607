import { type InputOf, type Operation, type OutputOf, restRequest } from '@workspace-graph/contracts';
import { Refusal, UnexpectedAnswer, Unreachable } from './failures.js';

export interface ClientOptions {
  /** Base address of the workspace. */
  readonly url: string;
  /** Sent as a bearer credential; without it the browser's cookies are the credential. */
  readonly token?: string;
  /** Replaces the global `fetch`, for example to use separate connections. */
  readonly fetch?: (url: URL, init: RequestInit) => Promise<Response>;
}

/** Options of one call. */
export interface CallOptions {
  /** Ends the request; the promise rejects with its reason. */
  readonly signal?: AbortSignal;
  /** Idempotency key: the same call with the same key is carried out once. */
  readonly key?: string;
  /** Sent in addition to those that the client sets itself. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Calls the operations of a workspace over its public interface. Needs nothing but `fetch`, so it runs in browsers too. */
export class Client {
  constructor(private readonly options: ClientOptions) {}

  get url(): string {
    return this.options.url;
  }

  /** The output of an operation. @throws Refusal, UnexpectedAnswer, Unreachable; the signal's reason */
  async call<Op extends Operation>(operation: Op, input: InputOf<Op>, options?: CallOptions): Promise<OutputOf<Op>> {
    const response = await this.accepted(this.send(operation, input, options), options?.signal);
    return (await response.json()) as OutputOf<Op>;
  }

  /** The answer to an operation, whatever its status. @throws what `fetch` throws */
  send<Op extends Operation>(
    operation: Op,
    input: InputOf<Op>,
    { signal, key, headers: given }: CallOptions = {},
  ): Promise<Response> {
    const { method, path, body } = restRequest(operation, input);
    const headers = new Headers(given);
    if (key !== undefined) headers.set('idempotency-key', key);
    if (body) headers.set('content-type', 'application/json');
    return this.request(path, {
      method,
      headers,
      ...(signal && { signal }),
      ...(body && { body: JSON.stringify(body) }),
    });
  }

  /** A successful answer, whose body is not read. @throws as `call` */
  fetch(path: string, init: RequestInit = {}): Promise<Response> {
    return this.accepted(this.request(path, init), init.signal);
  }

  /** The headers of a request with the credential. */
  headers(given?: RequestInit['headers']): Headers {
    const headers = new Headers(given);
    if (this.options.token !== undefined) headers.set('authorization', `Bearer ${this.options.token}`);
    return headers;
  }

  /** Lets successes pass, however they were asked for. @throws as `call` */
  async accepted(answering: Promise<Response>, signal?: AbortSignal | null): Promise<Response> {
    const response = await answering.catch((cause: unknown) => {
      throw signal?.aborted ? signal.reason : new Unreachable(this.url, cause);
    });
    if (response.ok) return response;
    const body: unknown = await response.json().catch(() => null);
    throw isErrorBody(body) ? new Refusal(response.status, body) : new UnexpectedAnswer(this.url, response.status);
  }

  /** The answer to a request with the credential, whatever its status. @throws what `fetch` throws */
  request(path: string, init: RequestInit = {}): Promise<Response> {
    const carry = this.options.fetch ?? fetch;
    return carry(new URL(path, this.url), { ...init, headers: this.headers(init.headers ?? undefined) });
  }
}

function isErrorBody(body: unknown): body is Refusal['body'] {
  return typeof body === 'object' && body !== null && 'code' in body && typeof body.code === 'string';
}

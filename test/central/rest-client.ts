import { type ErrorBody, type InputOf, type Operation, type OutputOf, restRequest } from '@workspace-graph/contracts';

type Headers = Readonly<Record<string, string>>;

/** One credential at one gateway. */
export class RestClient {
  constructor(
    readonly url: string,
    readonly token: string,
  ) {}

  /** A request with this credential. */
  fetch(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    headers.set('authorization', `Bearer ${this.token}`);
    return fetch(new URL(path, this.url), { ...init, headers });
  }

  /** The bare answer to an operation. */
  send<Op extends Operation>(operation: Op, input: InputOf<Op>, headers: Headers = {}): Promise<Response> {
    const { method, path, body } = restRequest(operation, input);
    if (!body) return this.fetch(path, { method, headers });
    return this.fetch(path, {
      method,
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  }

  /** Calls an operation. @throws Error with the status and body of anything but a success */
  async call<Op extends Operation>(operation: Op, input: InputOf<Op>, headers: Headers = {}): Promise<OutputOf<Op>> {
    const response = await this.send(operation, input, headers);
    const text = await response.text();
    if (!response.ok) throw new Error(`${operation.name}: ${response.status} ${text}`);
    return JSON.parse(text) as OutputOf<Op>;
  }

  /** The refusal of an operation, with its status. @throws Error when it was not refused */
  async refusal<Op extends Operation>(
    operation: Op,
    input: InputOf<Op>,
    headers: Headers = {},
  ): Promise<ErrorBody & { readonly status: number }> {
    const response = await this.send(operation, input, headers);
    const text = await response.text();
    if (response.ok) throw new Error(`${operation.name} was expected to be refused: ${text}`);
    return { status: response.status, ...(JSON.parse(text) as ErrorBody) };
  }

  /** Posts a document to the import. */
  async import(document: string): Promise<Response> {
    return this.fetch('/import', { method: 'POST', body: document, headers: { 'content-type': 'application/json' } });
  }

  /** The same credential at another gateway. */
  at(url: string): RestClient {
    return new RestClient(url, this.token);
  }
}

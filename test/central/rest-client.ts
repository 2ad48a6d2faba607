import { Client, type ClientOptions } from '@workspace-graph/client';
import type { ErrorBody, InputOf, Operation, OutputOf } from '@workspace-graph/contracts';

type Headers = Readonly<Record<string, string>>;

/** One credential at one gateway. */
export class RestClient {
  readonly url: string;
  readonly token: string;
  private readonly client: Client;

  constructor(url: string, token: string, carry: ClientOptions['fetch'] = fetch) {
    this.url = url;
    this.token = token;
    this.client = new Client({ url, token, fetch: carry });
  }

  /** A request with this credential. */
  fetch(path: string, init: RequestInit = {}): Promise<Response> {
    return this.client.request(path, init);
  }

  /** The bare answer to an operation. */
  send<Op extends Operation>(operation: Op, input: InputOf<Op>, headers: Headers = {}): Promise<Response> {
    return this.client.send(operation, input, { headers });
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

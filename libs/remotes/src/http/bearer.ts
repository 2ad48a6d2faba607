import type { HttpCall } from './network.js';

/** Requests with an access token that all of them share, and that is asked for again when it has ended. */
export class Bearer {
  private token: Promise<string> | null = null;

  /** @param ask for a token, as one call that others wait for, too */
  constructor(private readonly ask: (call: HttpCall) => Promise<string>) {}

  /** Sends once, and once more where the token was refused: then nothing was done. */
  async send(call: HttpCall, request: (authorization: string) => Promise<Response>): Promise<Response> {
    const response = await request(await this.authorization(call));
    if (response.status !== 401) return response;
    await response.body?.cancel();
    this.token = null;
    return request(await this.authorization(call));
  }

  private async authorization({ path, signal }: HttpCall): Promise<string> {
    signal?.throwIfAborted();
    // Without the signal of one caller, because others wait for the same token.
    this.token ??= this.ask({ path });
    const mine = this.token;
    try {
      return `Bearer ${await mine}`;
    } catch (error) {
      if (this.token === mine) this.token = null;
      throw error;
    }
  }
}

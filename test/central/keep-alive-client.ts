import { Agent, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { RestClient } from './rest-client.js';

/** Keeps its connections as HTTP asks: leaves one that says `close`, and sends nothing a second time. */
export class KeepAliveClient extends RestClient {
  private readonly agent = new Agent({ keepAlive: true, maxSockets: 8 });

  override fetch(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = { ...Object.fromEntries(new Headers(init.headers)), authorization: `Bearer ${this.token}` };
    const options = { agent: this.agent, method: init.method ?? 'GET', headers };
    return new Promise((resolve, reject) => {
      const sent = request(new URL(path, this.url), options, (answer) => {
        const whole = buffer(answer).then((body) => new Response(body, { status: answer.statusCode ?? 0 }));
        whole.then(resolve, reject);
      });
      sent.once('error', reject).end(init.body);
    });
  }

  close(): void {
    this.agent.destroy();
  }
}

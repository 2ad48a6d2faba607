import { Agent, request } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { RestClient } from './rest-client.js';

/** Keeps its connections as HTTP asks: leaves one that says `close`, and sends nothing a second time. */
export class KeepAliveClient extends RestClient {
  private readonly agent: Agent;

  constructor(url: string, token: string) {
    const agent = new Agent({ keepAlive: true, maxSockets: 8 });
    super(url, token, (target, init) => fetchOver(agent, target, init));
    this.agent = agent;
  }

  close(): void {
    this.agent.destroy();
  }
}

function fetchOver(agent: Agent, url: URL, init: RequestInit): Promise<Response> {
  const headers = Object.fromEntries(new Headers(init.headers));
  return new Promise((resolve, reject) => {
    const sent = request(url, { agent, method: init.method ?? 'GET', headers }, (answer) => {
      const whole = buffer(answer).then((body) => new Response(body, { status: answer.statusCode ?? 0 }));
      whole.then(resolve, reject);
    });
    sent.once('error', reject).end(init.body);
  });
}

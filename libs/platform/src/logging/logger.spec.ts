import { createLogger, NestLogger } from './index.js';

/** Made of the alphabet of real tokens, none of them valid anywhere. */
const TOKEN = 'Zx9qLw3vTn8rKb2yHm5cJd7fGs1aPe4uQi6oWt0-_XA';
const JWT = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJhbm5hIn0.c2lnbmF0dXJl';

function logInto(lines: string[], pretty = false) {
  return createLogger({ process: 'test', level: 'debug', pretty, sink: { write: (line) => void lines.push(line) } });
}

describe('the log', () => {
  it('is one JSON object per line with process, level, time and request id [edge.logs.structured-without-secrets]', () => {
    const lines: string[] = [];
    logInto(lines).info({ request_id: 'r-1' }, 'hello');

    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines.join())).toEqual({
      level: 'info',
      time: expect.stringMatching(/^\d{4}-.*Z$/),
      process: 'test',
      pid: process.pid,
      request_id: 'r-1',
      message: 'hello',
    });
  });

  it.each<[string, Record<string, unknown>, string]>([
    ['a personal token in a text', {}, `refused svc_pat_${TOKEN} twice`],
    ['a device token in a field', { note: `svc_dev_${TOKEN}` }, 'x'],
    ['a header', { headers: { authorization: `Bearer ${TOKEN}`, cookie: `sid=${TOKEN}` } }, 'x'],
    ['a JWT', { deep: { inside: [JWT] } }, JWT],
    ['a basic credential', { line: `Basic ${TOKEN}` }, 'x'],
    ['the password of a database', { url: `postgres://svc:${TOKEN}@db/graph` }, 'x'],
    ['a query secret', { url: `/nodes?access_token=${TOKEN}&limit=3` }, 'x'],
    ['a field named secret', { secret: TOKEN, nested: { password: `a"${TOKEN}`, token: TOKEN } }, 'x'],
    ['an error', { err: new Error(`connect to nats://user:${TOKEN}@bus failed`) }, 'x'],
  ])(
    'holds no secret: %s [edge.logs.structured-without-secrets, identity.token.hash-only]',
    (_name, fields, message) => {
      const lines: string[] = [];
      logInto(lines).warn(fields, message);
      logInto(lines, true).warn(fields, message);

      expect(lines).toHaveLength(2);
      expect(lines.filter((line) => line.includes(TOKEN) || line.includes(JWT))).toEqual([]);
      expect(() => void JSON.parse(lines[0] ?? '')).not.toThrow();
    },
  );

  it('keeps what is no secret', () => {
    const lines: string[] = [];
    logInto(lines).info({ url: '/nodes?limit=3', mail: 'anna@example.org', tokens: 12 }, 'Basics of tokens');

    expect(JSON.parse(lines.join())).toMatchObject({
      url: '/nodes?limit=3',
      mail: 'anna@example.org',
      tokens: 12,
      message: 'Basics of tokens',
    });
  });

  it('is readable on a terminal', () => {
    const lines: string[] = [];
    logInto(lines, true).info({ port: 4011 }, 'listening');

    expect(lines.join()).toMatch(/^\d\d:\d\d:\d\d\.\d{3} \S*info {0,1}\S* listening port=4011\n$/);
  });

  it('takes the lines of Nest, its progress at a lower level', () => {
    const lines: string[] = [];
    const nest = new NestLogger(logInto(lines));
    nest.log('Mapped {/x, GET} route', 'RouterExplorer');
    nest.error('broken', 'Error: broken\n at x', 'Thing');
    nest.error(new Error('bad'));

    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { level: 'debug', context: 'RouterExplorer' },
      { level: 'error', context: 'Thing', message: 'broken', details: ['Error: broken\n at x'] },
      { level: 'error', message: 'bad', err: { message: 'bad' } },
    ]);
  });
});

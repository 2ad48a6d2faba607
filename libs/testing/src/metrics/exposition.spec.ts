import { Metrics } from '@workspace-graph/platform';
import { expositionProblems } from './exposition.js';
import { promtool, promtoolProblems } from './promtool.js';

const withPromtool = promtool === undefined ? it.skip : it;

const GOOD = `# HELP http_request_seconds Time to answer.
# TYPE http_request_seconds histogram
http_request_seconds_bucket{le="0.5",route="/a,\\"b\\""} 1
http_request_seconds_bucket{le="+Inf",route="/a,\\"b\\""} 2
http_request_seconds_sum{route="/a,\\"b\\""} 3.5
http_request_seconds_count{route="/a,\\"b\\""} 2

# HELP refused_total Requests that were refused.
# TYPE refused_total counter
refused_total 3
`;

/** What is planted, and what must be said of it. */
const FAULTS: readonly (readonly [what: string, from: string | RegExp, to: string, says: RegExp])[] = [
  ['no help', '# HELP refused_total Requests that were refused.\n', '', /refused_total: has no help/],
  ['no type', '# TYPE refused_total counter\n', '', /refused_total: has no type/],
  ['a counter without its ending', /refused_total/g, 'refused', /refused: is a counter and does not end with _total/],
  ['the ending of a counter', 'total counter', 'total gauge', /refused_total: ends with _total and is no counter/],
  ['another unit', /http_request_seconds/g, 'http_request_milliseconds', /not in a base unit/],
  ['a short unit', /http_request_seconds/g, 'http_request_ms', /not in a base unit/],
  ['a type in the name', /refused_total/g, 'refused_counter_total', /has a type in its name/],
  ['capitals', /refused_total/g, 'refusedRequests_total', /not in snake case/],
  ['a label in capitals', /route=/g, 'routeName=', /label that is not in snake case: routeName/],
  ['the label of a histogram', 'refused_total 3', 'refused_total{le="1"} 3', /has the label le and is no histogram/],
  ['a series told twice', 'refused_total 3\n', 'refused_total 3\nrefused_total 4\n', /tells a series twice/],
  ['buckets that fall', '"} 1\n', '"} 5\n', /buckets that do not rise to its count/],
  ['a sample of nothing', 'refused_total 3', 'accepted_total 3', /accepted_total: stands under no HELP/],
  ['a value that is none', 'refused_total 3', 'refused_total three', /cannot be read/],
  ['a label without quotes', 'refused_total 3', 'refused_total{by=address} 3', /cannot be read/],
  ['a line that is cut off', /\n$/, '', /the last line has no end/],
];

function planted([what, from, to]: (typeof FAULTS)[number]): string {
  const text = GOOD.replace(from, to);
  if (text === GOOD) throw new Error(`Nothing was planted: ${what}`);
  return text;
}

/** Every metric that a process can have, each with a value. */
async function ours(): Promise<string> {
  const metrics = new Metrics();
  metrics.operation('get_node', 'ok', 0.002);
  metrics.httpRequest('GET', '/nodes/{node_id}', 200, 0.003);
  metrics.busCall('get_node', 'TIMEOUT', 10);
  metrics.authentication('ok');
  metrics.rateLimited('address');
  metrics.watchPool('database', () => ({ total: 10, idle: 7, waiting: 1 }));
  metrics.watch('mcp_sessions', 'Open MCP sessions.', () => 2);
  return metrics.text();
}

describe('the rules of an exposition', () => {
  it('let a good one pass', () => {
    expect(expositionProblems(GOOD)).toEqual([]);
  });

  it.each(FAULTS)('find %s', (...fault) => {
    expect(expositionProblems(planted(fault)).join('\n')).toMatch(fault[3]);
  });

  it('have nothing against the metrics of a process [edge.metrics]', async () => {
    expect(expositionProblems(await ours())).toEqual([]);
  });

  withPromtool('are no laxer than promtool, which skips where the package prometheus is not installed', async () => {
    expect(promtoolProblems(GOOD)).toBe('');
    expect(promtoolProblems(await ours())).toBe('');
    const misnamed = FAULTS.find(([what]) => what === 'the ending of a counter');
    expect(promtoolProblems(misnamed ? planted(misnamed) : '')).toContain('non-counter metrics');
  });
});

/** A metric with its samples, as a process tells them in Prometheus' text format. */
interface Family {
  readonly name: string;
  help?: string;
  type?: string;
  readonly samples: Sample[];
}

interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const TYPES = ['counter', 'gauge', 'histogram', 'summary'];
/** What the names of samples of these types end with. */
const SUFFIXES: Readonly<Record<string, readonly string[]>> = {
  histogram: ['_bucket', '_sum', '_count'],
  summary: ['', '_sum', '_count'],
};
/** Prometheus counts in seconds, bytes, ratios, so that no reader has to convert. */
const OTHER_UNITS =
  /(^|_)(milliseconds?|microseconds?|nanoseconds?|minutes?|hours?|days?|weeks?|bits?|(kilo|mega|giga|tera|kibi|mebi|gibi)(bytes?|bits?)|percent(age)?|celsius_degrees|fahrenheit|ms|us|ns|sec|s|b|kb|mb|gb|kib|mib|gib)(_|$)/;
const SAMPLE = /^(\w+)(?:\{(.*)\})? (\S+)$/;
const LABEL = /(\w+)="((?:[^"\\]|\\.)*)"(?:,|$)/g;
const SNAKE_CASE = /^[a-z][a-z0-9]*(_[a-z0-9]+)*$/;

/**
 * What is wrong with an answer of `/metrics`, by the rules that `promtool check metrics` has: help, type, name and unit
 * of each metric, and that its samples belong together.
 */
export function expositionProblems(text: string): string[] {
  const { families, problems } = readFamilies(text);
  if (!text.endsWith('\n')) problems.push('the last line has no end');
  return [...problems, ...[...families.values()].flatMap(problemsOf)];
}

function readFamilies(text: string): { readonly families: ReadonlyMap<string, Family>; readonly problems: string[] } {
  const families = new Map<string, Family>();
  const problems: string[] = [];
  let current: Family | undefined;
  for (const line of text.split('\n').filter((one) => one !== '')) {
    const [, keyword, name = '', rest = ''] = /^# (HELP|TYPE) (\S+) ?(.*)$/.exec(line) ?? [];
    if (keyword) {
      current = current?.name === name ? current : begin(name, families, problems);
      describe(current, keyword, rest, problems);
    } else if (!line.startsWith('#')) addSample(current, line, problems);
  }
  return { families, problems };
}

function begin(name: string, families: Map<string, Family>, problems: string[]): Family {
  if (families.has(name)) problems.push(`${name}: told in two places`);
  const family: Family = { name, samples: [] };
  families.set(name, family);
  return family;
}

function describe(family: Family, keyword: string, text: string, problems: string[]): void {
  const told = keyword === 'HELP' ? family.help : family.type;
  if (told !== undefined || family.samples.length > 0)
    problems.push(`${family.name}: ${keyword} stands twice, or after samples`);
  if (keyword === 'HELP') family.help = text;
  else family.type = text;
}

function addSample(family: Family | undefined, line: string, problems: string[]): void {
  const [, name, labelText = '', valueText = ''] = SAMPLE.exec(line) ?? [];
  const value = valueText === '+Inf' ? Number.POSITIVE_INFINITY : Number(valueText);
  const pairs = [...labelText.matchAll(LABEL)];
  const isWhole = pairs.map(([pair]) => pair).join('') === labelText;
  if (!name || !isWhole || (Number.isNaN(value) && !/^nan$/i.test(valueText)))
    return void problems.push(`${line}: cannot be read`);
  const endings = SUFFIXES[family?.type ?? ''] ?? [''];
  if (!family || !endings.some((ending) => name === family.name + ending))
    return void problems.push(`${name}: stands under no HELP and TYPE of its own`);
  family.samples.push({ name, labels: Object.fromEntries(pairs.map(([, key = '', text = '']) => [key, text])), value });
}

function problemsOf(family: Family): string[] {
  const { name, type = '', help = '', samples } = family;
  const series = samples.map((sample) => `${sample.name} ${JSON.stringify(Object.entries(sample.labels).toSorted())}`);
  const labels = new Set(samples.flatMap((sample) => Object.keys(sample.labels)));
  const found = [
    ...(help.trim() === '' ? ['has no help'] : []),
    ...(TYPES.includes(type) ? [] : ['has no type']),
    ...nameProblems(name, type),
    ...[...labels].flatMap((label) => labelProblems(label, type)),
    ...(new Set(series).size < series.length ? ['tells a series twice'] : []),
    ...(type === 'histogram' ? bucketProblems(samples) : []),
  ];
  return found.map((problem) => `${name}: ${problem}`);
}

function nameProblems(name: string, type: string): string[] {
  const isCounter = type === 'counter';
  return [
    ...(SNAKE_CASE.test(name) ? [] : ['is not in snake case']),
    ...(isCounter && !name.endsWith('_total') ? ['is a counter and does not end with _total'] : []),
    ...(!isCounter && name.endsWith('_total') ? ['ends with _total and is no counter'] : []),
    ...(/_(bucket|count|sum)$/.test(name) ? ['ends as samples of a histogram do'] : []),
    ...(TYPES.some((one) => name.split('_').includes(one)) ? ['has a type in its name'] : []),
    ...(OTHER_UNITS.test(name) ? ['is not in a base unit, written out'] : []),
  ];
}

function labelProblems(label: string, type: string): string[] {
  const reserved: Readonly<Record<string, string>> = { le: 'histogram', quantile: 'summary' };
  return [
    ...(SNAKE_CASE.test(label) ? [] : [`has a label that is not in snake case: ${label}`]),
    ...(reserved[label] !== undefined && reserved[label] !== type
      ? [`has the label ${label} and is no ${reserved[label]}`]
      : []),
  ];
}

/** The buckets of each series rise to what its count says. */
function bucketProblems(samples: readonly Sample[]): string[] {
  const counts = samples.filter(({ name }) => name.endsWith('_count'));
  return counts.flatMap(({ labels, value }) => {
    const { le: _, ...own } = labels;
    const buckets = samples
      .filter((sample) => sample.name.endsWith('_bucket') && belongsTo(sample.labels, own))
      .map((sample) => ({
        upTo: sample.labels['le'] === '+Inf' ? Number.POSITIVE_INFINITY : Number(sample.labels['le']),
        value: sample.value,
      }))
      .toSorted((one, other) => one.upTo - other.upTo);
    const rises = buckets.every((bucket, index) => bucket.value >= (buckets[index - 1]?.value ?? 0));
    const last = buckets.at(-1);
    return rises && last?.upTo === Number.POSITIVE_INFINITY && last.value === value
      ? []
      : ['has buckets that do not rise to its count'];
  });
}

function belongsTo(labels: Readonly<Record<string, string>>, own: Readonly<Record<string, string>>): boolean {
  const { le: _, ...rest } = labels;
  return (
    Object.keys(rest).length === Object.keys(own).length &&
    Object.entries(own).every(([key, text]) => rest[key] === text)
  );
}

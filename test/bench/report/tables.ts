import type { Fact, JudgedLine, MeasurementReport, PlaceReport, Report, Verdict } from './report.js';

/** The whole report as Markdown. */
export function printReport(report: Report): string {
  const { graph, machine } = report;
  const head = [
    `Scale ${report.scale}: ${count(graph.nodes)} nodes (${count(report.restrictedNodes)} restricted), ${count(graph.edges)} edges, ` +
      `${count(graph.events)} events, ${count(graph.users)} users.`,
    `${report.at.slice(0, 10)}, ${machine.processor}, ${machine.cores} cores, ${machine.memoryGB} GB, ${machine.system}, Node ${machine.node}.`,
  ];
  return [...head, ...report.places.flatMap(printPlace)].join('\n');
}

const COLUMNS = [
  'what',
  'at once',
  'p50 ms',
  'p99 ms',
  'per s',
  'bare p50',
  'bare p99',
  'bare per s',
  'ratio',
  'target',
  '',
];

function printPlace(place: PlaceReport): string[] {
  const lines = place.measurements.flatMap((measurement) => measurement.lines.map((line) => row(measurement, line)));
  return [
    '',
    `### ${place.title}`,
    ...(lines.length > 0 ? ['', ...table(COLUMNS, lines)] : []),
    ...(place.facts.length > 0 ? ['', ...table(['what', 'value', 'target', ''], place.facts.map(factRow))] : []),
  ];
}

function row({ title }: MeasurementReport, { connections, product, bare, ratio, verdict }: JudgedLine): string[] {
  return [
    product.refused > 0 ? `${title} (${count(product.refused)} refused)` : title,
    String(connections),
    ms(product.p50Ms),
    ms(product.p99Ms),
    count(product.perSecond),
    ms(bare.p50Ms),
    ms(bare.p99Ms),
    count(bare.perSecond),
    `${ratio.toFixed(2)}×`,
    ...verdictCells(verdict),
  ];
}

function factRow({ title, value, unit, verdict }: Fact): string[] {
  return [
    title,
    `${value >= 100 ? count(value) : String(Number(value.toPrecision(3)))} ${unit}`,
    ...verdictCells(verdict),
  ];
}

export function verdictCells(verdict: Verdict | null): [string, string] {
  return verdict ? [verdict.target, verdict.reached ? 'reached' : 'missed'] : ['', ''];
}

function ms(value: number): string {
  return value >= 100 ? value.toFixed(0) : value.toFixed(value >= 10 ? 1 : 2);
}

function count(value: number): string {
  return Math.round(value).toLocaleString('en-US');
}

/** A Markdown table that is also readable as text. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string[] {
  const widths = head.map((cell, column) =>
    Math.max(3, cell.length, ...rows.map((cells) => (cells[column] ?? '').length)),
  );
  const line = (cells: readonly string[]): string =>
    `| ${cells.map((cell, column) => (column === 0 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0))).join(' | ')} |`;
  const rule = widths.map((width, column) => (column === 0 ? '-'.repeat(width) : `${'-'.repeat(width - 1)}:`));
  return [line(head), line(rule), ...rows.map(line)];
}

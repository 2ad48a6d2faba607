import { below } from '../report/judge.js';
import type { Machine } from '../report/machine.js';
import type { Verdict } from '../report/report.js';
import { table, verdictCells } from '../report/tables.js';
import type { ScanFigures, Took } from './scan.js';
import type { FileSearchFigures } from './search.js';

export interface FileFigures {
  readonly scan: ScanFigures | null;
  readonly search: FileSearchFigures | null;
  readonly records: string;
  readonly load: readonly number[];
  readonly machine: Machine;
}

interface Row {
  readonly what: string;
  readonly value: string;
  readonly beside?: string;
  readonly ratio?: string;
  readonly verdict?: Verdict;
}

const MOST_OF_FIRST = 1.5;
const MOST_OF_UNCHANGED = 2;
const MOST_MEGABYTES = 250;
const MANY_DOCUMENTS = 50_000;
const MOST_INDEX_SECONDS = 60;
const COLUMNS = ['what', 'device', 'beside', 'ratio', 'target', ''];

/** Figures of a device as a Markdown table, with what they were measured on. */
export function printFileFigures({ scan, search, records, load, machine }: FileFigures): string {
  const rows = [...(scan ? scanRows(scan) : []), ...(search ? searchRows(search) : [])];
  return [
    `${machine.processor}, ${machine.cores} cores, ${machine.memoryGB} GB, ${machine.system}, Node ${machine.node}; ` +
      `records in ${records}; load ${load.map((one) => one.toFixed(1)).join(', ')}.`,
    '',
    ...table(COLUMNS, rows.map(cells)),
  ].join('\n');
}

function scanRows(figures: ScanFigures): Row[] {
  const files = figures.files.toLocaleString('en-US');
  const { idle, scanned } = figures.residentMB;
  return [
    compared(`first scan, ${files} files, ${figures.megabytes} MB`, figures.firstScan, {
      name: 'find and sha256sum',
      took: figures.hash,
      most: MOST_OF_FIRST,
    }),
    compared(`scan with nothing changed, ${files} files`, figures.secondScan, {
      name: 'find',
      took: figures.find,
      most: MOST_OF_UNCHANGED,
    }),
    { what: 'edit until registered, p50, of it 300 ms of waiting', value: `${figures.editP50Ms} ms` },
    { what: 'edit until registered, p99', value: `${figures.editP99Ms} ms` },
    { what: 'memory, idle', value: `${idle} MB` },
    {
      what: `memory above idle, ${files} files`,
      value: `${scanned - idle} MB`,
      verdict: below(MOST_MEGABYTES, scanned - idle),
    },
  ];
}

function compared(
  what: string,
  took: Took,
  other: { readonly name: string; readonly took: Took; readonly most: number },
): Row {
  const ratio = took.ms / other.took.ms;
  return {
    what,
    value: `${took.ms} ms, ${took.cpuMs} ms CPU`,
    beside: `${other.name}: ${other.took.ms} ms, ${other.took.cpuMs} ms CPU`,
    ratio: `${ratio.toFixed(2)}×`,
    verdict: { target: `≤ ${other.most}×`, reached: ratio <= other.most },
  };
}

function searchRows(figures: FileSearchFigures): Row[] {
  const documents = figures.documents.toLocaleString('en-US');
  return [
    {
      what: `search, ${documents} documents, p50`,
      value: `${figures.searchP50Ms.toFixed(1)} ms`,
      beside: `grep: ${figures.grepP50Ms.toFixed(0)} ms`,
      ratio: `${(figures.searchP50Ms / figures.grepP50Ms).toFixed(3)}×`,
    },
    { what: 'search, p99', value: `${figures.searchP99Ms.toFixed(1)} ms` },
    indexRow(figures),
    { what: 'memory meanwhile, at most', value: `${figures.residentMB.peak.toFixed(0)} MB` },
    { what: 'index on disk', value: `${figures.indexMegabytes.toFixed(0)} MB for ${figures.megabytes.toFixed(0)} MB` },
    { what: 'longest wait for the main thread meanwhile', value: `${figures.longestBlockMs.toFixed(0)} ms` },
  ];
}

/** From the registration of the last document until all are searchable: within a minute for 50,000. */
function indexRow({ documents, indexSeconds, indexCpuSeconds }: FileSearchFigures): Row {
  return {
    what: `index of ${documents.toLocaleString('en-US')} documents, after they were registered`,
    value: `${indexSeconds.toFixed(1)} s, ${indexCpuSeconds.toFixed(1)} s CPU`,
    ...(documents >= MANY_DOCUMENTS && {
      verdict: { target: `< ${MOST_INDEX_SECONDS} s`, reached: indexSeconds < MOST_INDEX_SECONDS },
    }),
  };
}

function cells({ what, value, beside = '', ratio = '', verdict }: Row): string[] {
  return [what, value, beside, ratio, ...verdictCells(verdict ?? null)];
}

import { figureTable } from '../report/figures.js';
import { type FigureReport, headOf } from '../report/run.js';

export interface SessionReport extends FigureReport {
  /** How the database keeps what it has confirmed, for both sides. */
  readonly durability: string;
}

/** The report as Markdown. */
export function printSessionReport(report: SessionReport): string {
  return [headOf(report, report.durability), '', ...figureTable(report.figures)].join('\n');
}

import type { ToolTable } from '../tool-table.js';
import { modelGuide } from './model.js';
import { rulesGuide } from './rules.js';
import { vocabularyGuide } from './vocabulary.js';

/** A page that explains the product to an agent. */
export interface Guide {
  readonly uri: string;
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly text: string;
}

/** The guides, as Markdown. Whatever the contracts know is taken from them, so a guide never lags behind. */
export function buildGuides(table: ToolTable): readonly Guide[] {
  return [
    {
      uri: 'svc://guide/model',
      name: 'model',
      title: 'The model',
      description: 'Node types, edges, and what a node carries.',
      text: modelGuide(table),
    },
    {
      uri: 'svc://guide/rules',
      name: 'rules',
      title: 'The rules',
      description: 'Who sees what, how changes are confirmed, limits, and what each error asks of you.',
      text: rulesGuide(table),
    },
    {
      uri: 'svc://guide/vocabulary',
      name: 'vocabulary',
      title: 'The vocabulary',
      description: 'Every allowed value, and the tools with the scope they need.',
      text: vocabularyGuide(table),
    },
  ];
}

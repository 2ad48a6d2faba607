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
      description: 'Node types, edges, and the data of a node.',
      text: modelGuide(table),
    },
    {
      uri: 'svc://guide/rules',
      name: 'rules',
      title: 'The rules',
      description: 'Access, confirmation of changes, limits, and what to do about each error.',
      text: rulesGuide(table),
    },
    {
      uri: 'svc://guide/vocabulary',
      name: 'vocabulary',
      title: 'The vocabulary',
      description: 'All allowed values, and the tools with the scope that each needs.',
      text: vocabularyGuide(table),
    },
  ];
}

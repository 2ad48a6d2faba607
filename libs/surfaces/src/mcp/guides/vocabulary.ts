import {
  AccessLevel,
  ActorType,
  EventKind,
  EventStatus,
  FILE_CLASSES,
  FileStatus,
  Health,
  LIFECYCLES,
  NODE_TYPES,
  NodeStatus,
  Relation,
  SCOPES,
  SECTIONS,
  Visibility,
} from '@workspace-graph/contracts';
import type { ToolTable } from '../tool-table.js';
import { codes, page, table } from './markdown.js';

/** Lists every allowed value and every tool. */
export function vocabularyGuide(tools: ToolTable): string {
  return page(
    '# The vocabulary',
    '## Lifecycles',
    table(
      ['type', 'values'],
      NODE_TYPES.map((type) => [`\`${type}\``, codes(LIFECYCLES[type])]),
    ),
    '## Other values',
    table(
      ['field', 'values'],
      [
        ['type of a node', codes(NODE_TYPES)],
        ['status of a node', codes(NodeStatus.options)],
        ['health of a project', codes(Health.options)],
        ['relation of an edge', codes(Relation.options)],
        ['kind of an event', codes(EventKind.options)],
        ['status of an event', codes(EventStatus.options)],
        ['type of an actor', codes(ActorType.options)],
        ['visibility', `${codes(Visibility.options)}, or null to inherit`],
        ['access of a recipient', codes(AccessLevel.options)],
        ['scope of a credential', codes(SCOPES)],
        ['section of a file', codes(SECTIONS)],
        ['status of a file', `${codes(FileStatus.options)}, or null under \`resources\``],
        ['class of a file', codes(FILE_CLASSES)],
      ],
    ),
    '## Tools',
    table(
      ['tool', 'scope', 'what it does'],
      tools.all().map(({ tool, scope }) => [`\`${tool.name}\``, scope, tool.description ?? '']),
    ),
  );
}

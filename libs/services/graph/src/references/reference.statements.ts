import type { ReferenceKind } from '@workspace-graph/contracts';
import { SEEN_SETS, type Statement, seen, statement } from '@workspace-graph/database';
import { nodePath } from '../shared/projections.js';

/** Of an ambiguous name that are told; one more is looked up, to know that there are more. */
export const MOST_CANDIDATES = 10;
const LIMIT = `ORDER BY 1 LIMIT ${MOST_CANDIDATES + 1}`;

/** What is asked, with its place: parallel lists, of which all but the texts are paths of nodes in their parts. */
const ASKED = `asked AS MATERIALIZED (
  SELECT a.text, graph.fold(a.text) AS folded, ltrim(graph.fold(a.text), '@') AS handle, a.organization_key, a.type, a.key, a.place
  FROM unnest($3::text[], $4::text[], $5::text[], $6::text[]) WITH ORDINALITY AS a(text, organization_key, type, key, place))`;

/**
 * Rows of what each text names: its place, from 1, the id, and by which text the one row could be told from the others.
 * $1 user, $2 sees all, $3 texts, $4 to $6 keys of organizations, types and keys, null where the text is no path.
 */
const find = (name: string, candidates: string, told: string): Statement =>
  statement(
    `reference.${name}`,
    `
  WITH ${SEEN_SETS}, sees_all AS (SELECT $2::boolean AS yes), ${ASKED}
  SELECT a.place::int AS place, c.id::text AS id, ${told} AS told
  FROM asked a CROSS JOIN LATERAL (${candidates}) c ORDER BY 1, told`,
  );

const HOME = `graph.node o WHERE o.organization_id IS NULL AND o.type = 'organization' AND o.sync_key = a.organization_key AND ${seen('o')}`;
const PLACED = `
  SELECT o.id FROM ${HOME} AND a.type = 'organization'
  UNION ALL
  SELECT n.id FROM graph.node n
  WHERE n.organization_id = (SELECT o.id FROM ${HOME}) AND n.type = a.type AND n.sync_key = a.key AND ${seen('n')}`;

/** Users that go by the text, of those that the caller may find: all with `manage`, else oneself. */
const CALLED = `SELECT u.id FROM identity.known_user u
  WHERE u.goes_by && ARRAY[a.folded, a.handle, a.text] AND ((SELECT s.yes FROM sees_all s) OR u.id = $1::uuid)`;

/** Nodes of the name. */
const CALLED_SO = `FROM graph.node n WHERE n.name_folded = a.folded AND ${seen('n')}`;

/**
 * Whatever names the caller sees: nodes by path, else by name, else by key; actors by name, or as the user that they are; users also by
 * the name of the actor that they are, groups by name or claim.
 */
export const REFERENCES: Readonly<Record<ReferenceKind, Statement>> = {
  node: find(
    'node',
    `
    ${PLACED}
    UNION ALL
    (SELECT n.id ${CALLED_SO} AND NOT EXISTS (${PLACED}) ${LIMIT})
    UNION ALL
    (SELECT k.id FROM graph.node k WHERE k.sync_key = a.text AND ${seen('k')} AND NOT EXISTS (${PLACED}) AND NOT EXISTS (SELECT ${CALLED_SO}) ${LIMIT})`,
    `(SELECT coalesce(${nodePath('n', 'o')}, n.id::text)
      FROM graph.node n LEFT JOIN graph.node o ON o.id = n.organization_id AND ${seen('o')} WHERE n.id = c.id)`,
  ),
  actor: find(
    'actor',
    `SELECT x.id, x.type FROM graph.actor x WHERE x.name_folded IN (a.folded, a.handle)
     UNION SELECT x.id, x.type FROM graph.actor x WHERE x.user_id IN (${CALLED}) ${LIMIT}`,
    `c.id || ' (' || c.type || ')'`,
  ),
  user: find(
    'user',
    `SELECT x.id, coalesce(x.email, x.handle, x.external_id) AS known_as FROM identity.known_user x
     WHERE ((SELECT s.yes FROM sees_all s) OR x.id = $1::uuid)
       AND x.id IN (${CALLED} UNION SELECT p.user_id FROM graph.actor p WHERE p.name_folded IN (a.folded, a.handle)) ${LIMIT}`,
    `c.id || coalesce(' (' || c.known_as || ')', '')`,
  ),
  group: find(
    'group',
    `SELECT x.id FROM identity.known_group x
     WHERE (SELECT s.yes FROM sees_all s) AND (x.name_folded = a.folded OR x.claim = a.text) ${LIMIT}`,
    'c.id::text',
  ),
};

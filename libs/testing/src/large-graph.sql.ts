/** Quoted SQL array of texts. */
const texts = (...values: string[]): string => `ARRAY[${values.map((value) => `'${value}'`).join(', ')}]`;

const FIRST_NAMES = texts(
  'Žofie',
  'Ondřej',
  'Eliška',
  'Jiří',
  'Łucja',
  'Søren',
  'Zoë',
  'Müge',
  'Šimon',
  'Anežka',
  'Björn',
  'Chloé',
  'Ágnes',
  'Radek',
  'Nina',
  'Oto',
);
const LAST_NAMES = texts(
  'Dvořák',
  'Nováková',
  'Říha',
  'Šťastná',
  'Wójcik',
  'Ødegård',
  'Yılmaz',
  'Lefèvre',
  'Szabó',
  'Krůta',
  'Müller',
  'Beneš',
  'Oak',
  'Vrána',
);
const MANNERS = texts(
  'Nový',
  'Digitální',
  'Společný',
  'Otevřený',
  'Městský',
  'Zelený',
  'Tichý',
  'Severní',
  'Průběžný',
  'Sdílený',
  'Lehký',
  'Krátký',
);
const THINGS = texts(
  'portál',
  'sklad',
  'rozpočet',
  'přehled',
  'výzkum',
  'nábor',
  'archiv',
  'katalog',
  'účet',
  'vůz',
  'překlad',
  'léčebný plán',
  'dotazník',
  'jízdní řád',
);
const PLACES = texts(
  'Třebíč',
  'Łódź',
  'Győr',
  'Århus',
  'Besançon',
  'Plzeň',
  'Zürich',
  'Košice',
  'Málaga',
  'Oulu',
  'İzmir',
  'Žďár',
);
const CLAUSES = texts(
  'dodavatel potvrdil termín',
  'chybí souhlas vlastníka',
  'měření ukázalo pokles o desetinu',
  'the interface stays as agreed',
  'budget moved to the next quarter',
  'schůzka přesunuta na úterý',
  'le prototype fonctionne',
  'nová směrnice platí od léta',
  'řešení vyžaduje školení týmu',
  'tests pass on both sites',
  'Qualität muss geprüft werden',
  'riziko zpoždění trvá',
  'příští krok je převod dat',
  'a decision is needed from the board',
  'zákazník žádá přehled nákladů',
  'smlouva čeká na podpis',
);

/** An element of an array, chosen by row and salt. */
const pick = (array: string, row: string, salt: number): string =>
  `(${array})[1 + pg_temp.pick(${row}, ${salt}, cardinality(${array}))]`;
/** Two frequent clauses and a word that only some hundredths of a percent of the texts have. */
const sentence = (row: string, salt: number): string =>
  `${pick(CLAUSES, row, salt)} || '; ' || ${pick(CLAUSES, row, salt + 1)} || ', zápis ' || pg_temp.pick(${row}, ${salt + 500}, 5000) || '.'`;

const FUNCTIONS = `
  CREATE FUNCTION pg_temp.pick(i bigint, salt int, n int) RETURNS int LANGUAGE sql STABLE AS $$
    SELECT ((hashint8extended(i, salt + 1000 * current_setting('large_graph.seed')::bigint) & 9223372036854775807) % n)::int
  $$;
  -- Between 0 and 1.
  CREATE FUNCTION pg_temp.chance(i bigint, salt int) RETURNS float8 LANGUAGE sql STABLE AS $$
    SELECT pg_temp.pick(i, salt, 1000000) / 1000000.0
  $$;
  -- UUIDv7: one kind per table, ascending with the row.
  CREATE FUNCTION pg_temp.uid(kind int, i bigint) RETURNS uuid LANGUAGE sql STABLE AS $$
    SELECT (lpad(to_hex(1700000000000 + i * 1000), 12, '0') || '7' || lpad(to_hex(kind), 3, '0') ||
      '8' || substr(md5(kind || ':' || i || ':' || current_setting('large_graph.seed')), 1, 15))::uuid
  $$`;

const PEOPLE = `
  INSERT INTO identity."user" (id, name, max_scope, created_at)
  SELECT pg_temp.uid(1, i), ${pick(FIRST_NAMES, 'i', 1)} || ' ' || ${pick(LAST_NAMES, 'i', 2)} || ' ' || i,
    CASE WHEN i * 20 <= s.users THEN 'manage' WHEN i * 4 > s.users * 3 THEN 'read' ELSE 'write' END, '2025-01-01'
  FROM size s, generate_series(1, s.users) i;

  INSERT INTO identity.user_group (id, name)
  SELECT pg_temp.uid(2, i), 'Skupina ' || ${pick(PLACES, 'i', 3)} || ' ' || i FROM size s, generate_series(1, greatest(1, s.users / 10)) i;

  INSERT INTO identity.membership (group_id, user_id)
  SELECT DISTINCT pg_temp.uid(2, 1 + pg_temp.pick(u * 10 + k, 4, greatest(1, s.users / 10))), pg_temp.uid(1, u)
  FROM size s, generate_series(1, s.users) u, generate_series(0, 2) k WHERE k = 0 OR pg_temp.chance(u * 10 + k, 5) < 0.4;

  -- One actor per user, a tenth of placeholders, a few automations.
  INSERT INTO graph.actor (id, type, name, user_id)
  SELECT pg_temp.uid(3, i), CASE WHEN i > s.users + s.users / 10 THEN 'automation' ELSE 'person' END,
    CASE WHEN i > s.users + s.users / 10 THEN 'Robot ' || i
      ELSE ${pick(FIRST_NAMES, 'i', 1)} || ' ' || ${pick(LAST_NAMES, 'i', 2)} || ' ' || i END,
    CASE WHEN i <= s.users THEN pg_temp.uid(1, i) END
  FROM size s, generate_series(1, s.users + s.users / 10 + 10) i`;

/** Every node to come, numbered within its type and organization, so that edges can be drawn by number. */
const PLAN = `
  CREATE TEMP TABLE plan ON COMMIT DROP AS
  SELECT i, pg_temp.uid(4, i) AS id, type, organization,
    row_number() OVER (PARTITION BY type, organization ORDER BY i)::int AS place,
    count(*) OVER (PARTITION BY type, organization)::int AS peers
  FROM (
    SELECT i,
      CASE WHEN i <= s.organizations THEN 'organization'
        WHEN pg_temp.chance(i, 10) < 0.12 THEN 'area' WHEN pg_temp.chance(i, 10) < 0.32 THEN 'process'
        WHEN pg_temp.chance(i, 10) < 0.45 THEN 'principle' ELSE 'project' END AS type,
      -- About six in ten to the first, the rest by and by less.
      CASE WHEN i <= s.organizations THEN i WHEN pg_temp.chance(i, 11) < 0.4 THEN 1
        ELSE 1 + floor(power(pg_temp.chance(i, 12), 1.5) * s.organizations)::int END AS organization
    FROM size s, generate_series(1, s.nodes) i
  ) n;
  CREATE UNIQUE INDEX ON plan (i);
  CREATE INDEX ON plan (type, organization, place);
  ANALYZE plan`;

const NODES = `
  INSERT INTO graph.node (id, type, name, description, goal, lifecycle, health, health_note, organization_id, owner_id, sync_key,
    visibility, created_by, created_at, updated_at)
  SELECT p.id, p.type,
    CASE p.type WHEN 'organization' THEN 'Sdružení ' || ${pick(PLACES, 'p.i', 20)} || ' ' || p.i
      ELSE ${pick(MANNERS, 'p.i', 21)} || ' ' || ${pick(THINGS, 'p.i', 22)} || ' ' || ${pick(PLACES, 'p.i', 23)} || ' ' || p.i END,
    CASE WHEN pg_temp.chance(p.i, 24) < 0.8 THEN ${sentence('p.i', 25)} || ' ' || ${sentence('p.i', 27)} ELSE '' END,
    CASE WHEN pg_temp.chance(p.i, 29) < 0.5 THEN ${sentence('p.i', 30)} ELSE '' END,
    CASE p.type
      WHEN 'organization' THEN 'active'
      WHEN 'project' THEN ${pick(texts('backlog', 'planned', 'in_progress', 'in_progress', 'in_progress', 'on_hold', 'done', 'cancelled'), 'p.i', 32)}
      WHEN 'process' THEN CASE WHEN pg_temp.chance(p.i, 33) < 0.06 THEN ${pick(texts('at_risk', 'broken'), 'p.i', 34)}
        ELSE ${pick(texts('not_implemented', 'implementing', 'operating', 'operating', 'operating', 'retired'), 'p.i', 35)} END
      WHEN 'area' THEN CASE WHEN pg_temp.chance(p.i, 33) < 0.06 THEN 'needs_attention'
        ELSE ${pick(texts('active', 'active', 'active', 'active', 'inactive', 'archived'), 'p.i', 36)} END
      ELSE ${pick(texts('active', 'active', 'active', 'active', 'archived'), 'p.i', 37)} END,
    CASE WHEN p.type = 'project' THEN CASE WHEN pg_temp.chance(p.i, 38) < 0.94 THEN 'on_track' ELSE ${pick(texts('at_risk', 'off_track'), 'p.i', 39)} END END,
    CASE WHEN p.type = 'project' AND pg_temp.chance(p.i, 38) >= 0.94 THEN ${pick(CLAUSES, 'p.i', 40)} END,
    CASE WHEN p.type <> 'organization' THEN pg_temp.uid(4, p.organization) END,
    CASE WHEN pg_temp.chance(p.i, 41) < 0.8 THEN pg_temp.uid(3, 1 + pg_temp.pick(p.i, 42, s.users)) END,
    'node-' || p.i,
    -- An area's gate also restricts what belongs to it.
    CASE WHEN p.type <> 'organization' AND pg_temp.chance(p.i, 43) < s.restricted * 0.64
      THEN CASE WHEN pg_temp.chance(p.i, 44) < 0.3 THEN 'private' ELSE 'group' END END,
    pg_temp.uid(1, 1 + pg_temp.pick(p.i, 45, s.users)),
    timestamptz '2025-01-01' + p.i * interval '400 days' / s.nodes,
    timestamptz '2025-01-01' + p.i * interval '400 days' / s.nodes + pg_temp.pick(p.i, 46, 100000) * interval '1 minute'
  FROM size s, plan p;

  INSERT INTO graph.position (node_id, x, y)
  SELECT id, round((pg_temp.chance(i, 47) * 20000 - 10000)::numeric, 2), round((pg_temp.chance(i, 48) * 20000 - 10000)::numeric, 2) FROM plan`;

const EDGES = `
  CREATE TEMP TABLE line ON COMMIT DROP AS
  SELECT id AS source_id, pg_temp.uid(4, organization) AS target_id, 'belongs_to' AS relation FROM plan WHERE type <> 'organization'
  UNION
  -- Into an area of the same organization; an area only into an earlier one, so that there is no cycle.
  SELECT p.id, a.id, 'belongs_to' FROM plan p CROSS JOIN generate_series(0, 1) k
    CROSS JOIN LATERAL (SELECT max(peers) AS areas FROM plan WHERE type = 'area' AND organization = p.organization) c
    JOIN plan a ON a.type = 'area' AND a.organization = p.organization
      AND a.place = 1 + pg_temp.pick(p.i * 2 + k, 51, CASE p.type WHEN 'area' THEN greatest(1, p.place - 1) ELSE c.areas END)
    WHERE p.type IN ('project', 'process', 'area') AND (p.type <> 'area' OR a.place < p.place)
      AND pg_temp.chance(p.i * 2 + k, 52) < CASE WHEN k = 1 THEN CASE p.type WHEN 'project' THEN 0.1 ELSE 0 END
        WHEN p.type = 'project' THEN 0.8 WHEN p.type = 'process' THEN 0.7 ELSE 0.4 END;

  INSERT INTO line
  SELECT source_id, target_id, relation FROM (
    SELECT DISTINCT a.id AS source_id, b.id AS target_id,
      CASE WHEN b.type = 'principle' THEN 'applies' WHEN pg_temp.chance(e, 53) < 0.6 THEN 'related_to' ELSE 'informed_by' END AS relation
    FROM size s CROSS JOIN (SELECT count(*) AS lines FROM line) l
      CROSS JOIN LATERAL generate_series(1, greatest(0, (s.edges - l.lines) * 5 / 4 + 10)) e
      JOIN plan a ON a.i = 1 + s.organizations + pg_temp.pick(e, 54, s.nodes - s.organizations)
      -- The low numbers are the hubs.
      JOIN plan b ON b.i = 1 + s.organizations + floor(power(pg_temp.chance(e, 55), 2.5) * (s.nodes - s.organizations))::int
    WHERE a.i <> b.i
  ) x ORDER BY md5(source_id || '' || target_id) LIMIT (SELECT greatest(0, s.edges - count(*)) FROM line, size s GROUP BY s.edges);

  INSERT INTO graph.edge (id, source_id, target_id, relation)
  SELECT pg_temp.uid(5, row_number() OVER (ORDER BY source_id, target_id, relation)), source_id, target_id, relation FROM line`;

const CARRIED = `
  INSERT INTO graph.responsibility (id, node_id, node_type, position, title, description)
  SELECT pg_temp.uid(6, p.i * 4 + k), p.id, p.type, k, 'Odpovědnost za ' || ${pick(THINGS, 'p.i * 4 + k', 60)} || ' ' || k,
    CASE WHEN k = 0 THEN ${sentence('p.i', 61)} ELSE '' END
  FROM plan p, generate_series(0, 3) k
  WHERE p.type IN ('project', 'process', 'area') AND pg_temp.chance(p.i, 63) < 0.4 AND k <= pg_temp.pick(p.i, 64, 4);

  INSERT INTO graph.responsibility_assignee (responsibility_id, actor_id, position)
  SELECT DISTINCT ON (r.id, actor_id) r.id, actor_id, k FROM size s, (SELECT id, row_number() OVER (ORDER BY id) AS i FROM graph.responsibility) r,
    generate_series(0, 1) k, LATERAL (SELECT pg_temp.uid(3, 1 + pg_temp.pick(r.i * 2 + k, 65, s.users + 10)) AS actor_id) a
  WHERE k = 0 OR pg_temp.chance(r.i, 66) < 0.4;

  INSERT INTO graph.link (id, node_id, node_type, kind, position, name, url)
  SELECT pg_temp.uid(7, p.i * 2 + k), p.id, p.type, CASE k WHEN 0 THEN 'data_source' ELSE 'tool' END, 0,
    ${pick(THINGS, 'p.i * 2 + k', 70)} || ' ' || p.i, 'https://example.org/' || p.i || '/' || k
  FROM plan p, generate_series(0, 1) k WHERE p.type IN ('project', 'process', 'area') AND pg_temp.chance(p.i * 2 + k, 71) < 0.3`;

/** Events come in neighbouring pairs on one node; some second ones supersede the first. */
const EVENTS = `
  INSERT INTO graph.event (id, node_id, kind, status, content, occurred_at, logged_at, logged_by, resolution, supersedes_id)
  SELECT pg_temp.uid(8, e), p.id,
    ${pick(texts('decision', 'discovery', 'blocker', 'reference', 'milestone', 'note', 'note', 'change'), 'e', 80)},
    CASE WHEN e % 2 = 1 AND e < s.events AND pg_temp.chance(e / 2, 81) < 0.1 THEN 'superseded'
      WHEN pg_temp.chance(e, 82) < 0.8 THEN 'active' WHEN pg_temp.chance(e, 82) < 0.93 THEN 'resolved' ELSE 'archived' END,
    ${sentence('e', 83)} || ' ' || ${sentence('e', 85)} || CASE WHEN pg_temp.chance(e, 87) < 0.3 THEN ' ' || ${sentence('e', 88)} || ' ' || ${sentence('e', 90)} ELSE '' END,
    timestamptz '2025-01-01' + e * interval '400 days' / s.events - pg_temp.pick(e, 92, 20000) * interval '1 minute',
    timestamptz '2025-01-01' + e * interval '400 days' / s.events,
    pg_temp.uid(1, 1 + pg_temp.pick(e, 93, s.users)),
    CASE WHEN pg_temp.chance(e, 82) BETWEEN 0.8 AND 0.93 THEN ${pick(CLAUSES, 'e', 94)} END,
    CASE WHEN e % 2 = 0 AND pg_temp.chance((e - 1) / 2, 81) < 0.1 THEN pg_temp.uid(8, e - 1) END
  FROM size s CROSS JOIN LATERAL generate_series(1, s.events) e
    JOIN plan p ON p.i = 1 + floor(power(pg_temp.chance((e - 1) / 2, 95), 1.5) * s.nodes)::int`;

const ACCESS = `
  INSERT INTO graph.share (node_id, user_id, group_id, access)
  SELECT DISTINCT ON (p.id, coalesce(r.user_id, r.group_id)) p.id, r.user_id, r.group_id, CASE WHEN pg_temp.chance(p.i * 3 + k, 100) < 0.5 THEN 'read' ELSE 'write' END
  FROM size s CROSS JOIN plan p JOIN graph.node n ON n.id = p.id AND n.visibility = 'group' CROSS JOIN generate_series(0, 2) k
    CROSS JOIN LATERAL (SELECT CASE WHEN k = 2 THEN pg_temp.uid(1, 1 + pg_temp.pick(p.i, 101, s.users)) END AS user_id,
      CASE WHEN k < 2 THEN pg_temp.uid(2, 1 + pg_temp.pick(p.i * 2 + k, 102, greatest(1, s.users / 10))) END AS group_id) r
  WHERE k = 0 OR pg_temp.chance(p.i * 3 + k, 103) < 0.5;

  ANALYZE graph.node; ANALYZE graph.edge; ANALYZE graph.share;
  SELECT graph.refresh_access(array_agg(id)) FROM graph.node`;

/** Statements that fill the database; they read the temporary table `size` and the setting `large_graph.seed`. */
export const LARGE_GRAPH_STEPS: readonly string[] = [FUNCTIONS, PEOPLE, PLAN, NODES, EDGES, CARRIED, EVENTS, ACCESS];

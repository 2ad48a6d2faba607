/** What both worlds hold alike: fixed ids and times, so that answers about it can be compared byte by byte. */

const id = (number: number): string => `018f0000-0000-7000-8000-${String(number).padStart(12, '0')}`;

export const USERS = { ada: id(1), wil: id(2), rita: id(3), eve: id(4) } as const;
export const TEAM = id(8);
/** `shy` answers for nothing but secrets. */
export const ACTORS = { wil: id(101), rita: id(102), placeholder: id(103), shy: id(104) } as const;
export const NODES = {
  acme: id(201),
  globex: id(202),
  /** Seen by nobody below manage; its name and its key differ between the worlds. */
  veiled: id(203),
  alpha: id(211),
  delta: id(212),
  omega: id(213),
  beta: id(221),
  gamma: id(222),
  kappa: id(231),
  maxim: id(241),
  sigma: id(251),
  /** A node of the veiled organization that everybody sees. */
  tau: id(252),
} as const;
const FILLERS = 9;
const filler = (index: number): string => id(260 + index);
export const FILLER = filler(0);
const EVENTS = 14;
export const EVENT = id(401);
export const RESPONSIBILITY = id(501);
/** Files that everybody here sees, with the operation on the first one that is stuck. */
export const FILES = { plan: id(601), report: id(602), notes: id(603), far: id(604), tau: id(605) } as const;
export const STUCK = id(701);
/** One of each person. */
export const DEVICES = { wil: id(801), rita: id(802) } as const;

interface GroundNode {
  readonly id: string;
  readonly type: string;
  readonly name: string;
  readonly lifecycle: string;
  readonly organization?: string;
  readonly parents?: readonly string[];
  readonly owner?: string;
  readonly visibility?: string;
  readonly health?: string;
}

/** Name of the veiled organization in the world without secrets and in the one with them; keys are made of names. */
const VEILED_NAMES = ['Veiled', 'Shrouded works'] as const;

/** Key of the veiled organization. */
export function veiledKey(withSecrets: boolean): string {
  return keyOf(VEILED_NAMES[withSecrets ? 1 : 0]);
}

const keyOf = (name: string): string => name.toLowerCase().replaceAll(' ', '-');

const baselineNodes = (withSecrets: boolean): readonly GroundNode[] => [
  ...GROUND_NODES,
  {
    id: NODES.veiled,
    type: 'organization',
    name: VEILED_NAMES[withSecrets ? 1 : 0],
    lifecycle: 'active',
    visibility: 'private',
  },
  {
    id: NODES.tau,
    type: 'area',
    name: 'Tau area',
    lifecycle: 'active',
    organization: NODES.veiled,
    visibility: 'everyone',
  },
];

const GROUND_NODES: readonly GroundNode[] = [
  { id: NODES.acme, type: 'organization', name: 'Acme', lifecycle: 'active' },
  { id: NODES.globex, type: 'organization', name: 'Globex', lifecycle: 'active', visibility: 'group' },
  {
    id: NODES.alpha,
    type: 'area',
    name: 'Alpha area',
    lifecycle: 'active',
    organization: NODES.acme,
    owner: ACTORS.placeholder,
  },
  {
    id: NODES.delta,
    type: 'area',
    name: 'Delta area',
    lifecycle: 'active',
    organization: NODES.acme,
    parents: [NODES.alpha],
  },
  { id: NODES.omega, type: 'area', name: 'Omega area', lifecycle: 'needs_attention', organization: NODES.acme },
  {
    id: NODES.beta,
    type: 'project',
    name: 'Beta project',
    lifecycle: 'in_progress',
    organization: NODES.acme,
    parents: [NODES.delta],
    health: 'at_risk',
    owner: ACTORS.rita,
  },
  {
    id: NODES.gamma,
    type: 'project',
    name: 'Gamma project',
    lifecycle: 'planned',
    organization: NODES.acme,
    health: 'on_track',
    visibility: 'private',
    owner: ACTORS.wil,
  },
  {
    id: NODES.kappa,
    type: 'process',
    name: 'Kappa process',
    lifecycle: 'at_risk',
    organization: NODES.acme,
    parents: [NODES.alpha],
  },
  { id: NODES.maxim, type: 'principle', name: 'Maxim of zebras', lifecycle: 'archived', organization: NODES.acme },
  {
    id: NODES.sigma,
    type: 'area',
    name: 'Sigma area',
    lifecycle: 'active',
    organization: NODES.globex,
    owner: ACTORS.placeholder,
  },
  ...Array.from(
    { length: FILLERS },
    (_, index): GroundNode => ({
      id: filler(index),
      type: 'area',
      name: `Filler ${index}`,
      lifecycle: 'active',
      organization: NODES.acme,
      parents: [NODES.omega],
    }),
  ),
];

const RELATED: readonly (readonly [string, string, string])[] = [
  [NODES.beta, NODES.kappa, 'related_to'],
  [NODES.kappa, NODES.maxim, 'applies'],
  [NODES.beta, NODES.sigma, 'informed_by'],
  [NODES.gamma, NODES.beta, 'informed_by'],
  [FILLER, NODES.alpha, 'related_to'],
];

const text = (value: string | undefined): string => (value === undefined ? 'NULL' : `'${value}'`);
const day = (number: number): string => `'2024-03-${String(number).padStart(2, '0')}T10:00:00Z'`;

function nodeRow(node: GroundNode, index: number): string {
  const at = day(1 + index);
  return `('${node.id}', '${node.type}', '${node.name}', 'About zebra ${index}', '${node.lifecycle}', ${text(node.health)}, ${text(node.organization)}, ${text(node.owner)},
    '${keyOf(node.name)}', ${text(node.visibility)}, '${USERS.ada}', ${at}, ${at})`;
}

function edgeRows(nodes: readonly GroundNode[]): string[] {
  const memberships = nodes.flatMap((node) =>
    [node.organization, ...(node.parents ?? [])].flatMap((target) =>
      target === undefined ? [] : [[node.id, target, 'belongs_to'] as const],
    ),
  );
  return [...memberships, ...RELATED].map(
    ([source, target, relation], index) => `('${id(300 + index)}', '${source}', '${target}', '${relation}')`,
  );
}

function eventRow(index: number): string {
  const node = GROUND_NODES[2 + (index % 8)]?.id ?? NODES.alpha;
  const kind = ['note', 'blocker', 'milestone'][index % 3] ?? 'note';
  return `('${id(401 + index)}', '${node}', '${kind}', 'Zebra event ${index}', ${day(2 + 2 * index)}, ${day(2 + 2 * index)}, '${USERS.ada}')`;
}

const GROUND_FILES: readonly (readonly [id: string, node: string, path: string])[] = [
  [FILES.plan, NODES.beta, 'wip/plan.md'],
  [FILES.report, NODES.beta, 'outputs/report.pdf'],
  [FILES.notes, NODES.alpha, 'wip/notes.md'],
  [FILES.far, NODES.sigma, 'resources/far.md'],
  [FILES.tau, NODES.tau, 'wip/tau.md'],
];

function fileRow([fileId, node, path]: (typeof GROUND_FILES)[number], index: number): string {
  const at = day(3 + 3 * index);
  return `('${fileId}', '${node}', '${path}', '${path}', 7, 'text/plain', ${at}, ${at})`;
}

/** Fills a migrated database. */
export const baselineSql = (withSecrets: boolean): string => `
  INSERT INTO identity."user" (id, name, max_scope, created_at, updated_at) VALUES
    ('${USERS.ada}', 'Ada', 'manage', ${day(1)}, ${day(1)}), ('${USERS.wil}', 'Wil', 'write', ${day(1)}, ${day(1)}),
    ('${USERS.rita}', 'Rita', 'read', ${day(1)}, ${day(1)}), ('${USERS.eve}', 'Eve', 'write', ${day(1)}, ${day(1)});
  INSERT INTO identity.user_group (id, name, created_at, updated_at) VALUES ('${TEAM}', 'Team', ${day(1)}, ${day(1)});
  INSERT INTO identity.membership (group_id, user_id) VALUES ('${TEAM}', '${USERS.wil}'), ('${TEAM}', '${USERS.rita}');
  INSERT INTO graph.actor (id, type, name, user_id, created_at, updated_at) VALUES
    ('${ACTORS.wil}', 'person', 'Wil', '${USERS.wil}', ${day(1)}, ${day(1)}), ('${ACTORS.rita}', 'person', 'Rita', '${USERS.rita}', ${day(1)}, ${day(1)}),
    ('${ACTORS.placeholder}', 'person', 'Paul Placeholder', NULL, ${day(1)}, ${day(1)}),
    ('${ACTORS.shy}', 'person', 'Zed the zebra keeper', NULL, ${day(1)}, ${day(1)});
  INSERT INTO graph.node (id, type, name, description, lifecycle, health, organization_id, owner_id, sync_key, visibility, created_by, created_at, updated_at)
    VALUES ${baselineNodes(withSecrets).map(nodeRow).join(',\n')};
  INSERT INTO graph.edge (id, source_id, target_id, relation) VALUES ${edgeRows(baselineNodes(withSecrets)).join(', ')};
  INSERT INTO graph.share (node_id, group_id, access) VALUES ('${NODES.globex}', '${TEAM}', 'write');
  INSERT INTO graph.event (id, node_id, kind, content, occurred_at, logged_at, logged_by) VALUES ${Array.from({ length: EVENTS }, (_, index) => eventRow(index)).join(', ')};
  INSERT INTO graph.responsibility (id, node_id, node_type, position, title) VALUES ('${RESPONSIBILITY}', '${NODES.beta}', 'project', 0, 'Herd the zebras');
  INSERT INTO graph.responsibility_assignee (responsibility_id, actor_id, position) VALUES ('${RESPONSIBILITY}', '${ACTORS.placeholder}', 0);
  INSERT INTO graph.link (id, node_id, node_type, kind, position, name) VALUES ('${id(502)}', '${NODES.beta}', 'project', 'data_source', 0, 'Zebra counts');
  INSERT INTO graph.position (node_id, x, y) SELECT n.id, 1, 2 FROM graph.node n WHERE n.type = 'area';
  INSERT INTO identity.device (id, user_id, name) VALUES ('${DEVICES.wil}', '${USERS.wil}', 'desk'), ('${DEVICES.rita}', '${USERS.rita}', 'desk');
  INSERT INTO file.record (id, node_id, path, path_key, size_bytes, mime_type, created_at, updated_at) VALUES ${GROUND_FILES.map(fileRow).join(', ')};
  INSERT INTO file.pending_op (id, file_id, node_id, kind, from_path, to_path, last_error, attempts, created_at, device_id)
    VALUES ('${STUCK}', '${FILES.plan}', '${NODES.beta}', 'move', 'wip/plan.md', 'wip/zebra.md', 'The disk was full.', 2, ${day(5)}, '${DEVICES.rita}');
  SELECT graph.refresh_access(array_agg(n.id)) FROM graph.node n;`;

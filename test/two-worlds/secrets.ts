import {
  addDataSource,
  addResponsibility,
  addTool,
  archiveNode,
  changeGroupMembers,
  connect,
  createNode,
  editEvent,
  logEvent,
  moveNode,
  purgeNode,
  setAccess,
  setPositions,
  supersedeEvent,
  updateNode,
} from '@workspace-graph/contracts';
import { newId } from '@workspace-graph/platform';
import { ACTORS, DEVICES, FILES, NODES, TEAM, USERS } from './baseline.js';
import type { Surface } from './surface.js';

/** Ids that only the world with secrets knows; the other world has ids that never were under the same names. */
export type Secrets = Readonly<Record<(typeof NAMES)[number], string>>;
const NAMES = [
  'organization',
  'inside',
  'area',
  'below',
  'broken',
  'archived',
  'purged',
  'event',
  'edge',
  'file',
  'operation',
] as const;

/** Names of what never was. */
export function noSecrets(): Secrets {
  return Object.fromEntries(NAMES.map((name) => [name, newId()])) as Secrets;
}

/** Adds, through the real operations, what neither Rita nor Wil may see, woven into everything that they do see. */
export async function plantSecrets(surface: Surface): Promise<Secrets> {
  const { manage } = surface;
  const own = { organization_id: NODES.acme, owner_id: ACTORS.placeholder };
  const organization = await manage(createNode, { type: 'organization', name: 'Bravo secret', visibility: 'private' });
  const inside = await manage(createNode, {
    type: 'area',
    name: 'Alpha secret',
    organization_id: organization.id,
    parent_ids: [NODES.alpha],
  });
  const area = await manage(createNode, {
    ...own,
    type: 'area',
    name: 'Beta secret',
    parent_ids: [NODES.alpha, NODES.delta],
    visibility: 'private',
    lifecycle: 'needs_attention',
  });
  const below = await manage(createNode, {
    ...own,
    type: 'project',
    name: 'Filler 3 secret',
    owner_id: ACTORS.shy,
    parent_ids: [area.id, NODES.omega],
    health: 'off_track',
    goal: 'zebra zebra zebra',
  });
  const broken = await manage(createNode, {
    ...own,
    organization_id: NODES.globex,
    type: 'process',
    name: 'Kappa secret',
    visibility: 'group',
    lifecycle: 'broken',
  });
  const archived = await manage(createNode, {
    ...own,
    type: 'principle',
    name: 'Maxim of secret zebras',
    visibility: 'private',
  });
  const purged = await manage(createNode, { ...own, type: 'area', name: 'Gone secret', visibility: 'private' });
  await manage(setAccess, {
    node_id: broken.id,
    visibility: 'group',
    recipients: [{ kind: 'user', id: USERS.eve, access: 'write' }],
    confirmed: true,
  });
  const edges = [
    await manage(connect, { source_id: area.id, target_id: NODES.beta, relation: 'related_to' }),
    await manage(connect, { source_id: NODES.beta, target_id: area.id, relation: 'informed_by' }),
    await manage(connect, { source_id: NODES.kappa, target_id: archived.id, relation: 'applies' }),
    await manage(connect, { source_id: broken.id, target_id: NODES.sigma, relation: 'belongs_to' }),
    await manage(connect, { source_id: NODES.acme, target_id: organization.id, relation: 'related_to' }),
  ];
  const event = await manage(logEvent, {
    node_id: area.id,
    kind: 'blocker',
    content: 'Zebra secret event',
    occurred_at: '2024-03-09T10:00:00.000Z',
  });
  for (const node of [below, broken, inside])
    await manage(logEvent, { node_id: node.id, kind: 'note', content: 'Zebra secret note' });
  await manage(addResponsibility, {
    node_id: below.id,
    title: 'Herd the secret zebras',
    assignee_ids: [ACTORS.placeholder, ACTORS.shy],
  });
  await manage(addTool, { node_id: below.id, name: 'Zebra plan of secrets' });
  await manage(addDataSource, { node_id: below.id, name: 'Secret zebras', url: 'https://example.org/zebras' });
  await manage(setPositions, { positions: [area, below, broken].map((node) => ({ node_id: node.id, x: 5, y: 5 })) });
  await manage(archiveNode, { node_id: archived.id });
  const [file, operation] = [newId(), newId()];
  await surface.sql(`
    INSERT INTO file.record (id, node_id, path, path_key, size_bytes, mime_type, updated_at) VALUES
      ('${file}', '${area.id}', 'wip/plan.md', 'wip/plan.md', 9, 'text/zebra', '2024-03-07T10:00:00Z'),
      (gen_random_uuid(), '${below.id}', 'outputs/zebra.md', 'outputs/zebra.md', 9, 'text/zebra', now()),
      (gen_random_uuid(), '${purged.id}', 'outputs/zebra.md', 'outputs/zebra.md', 9, 'text/zebra', now());
    INSERT INTO file.pending_op (id, file_id, node_id, kind, from_path, to_node_id, to_path, last_error, attempts, device_id) VALUES
      ('${operation}', '${file}', '${area.id}', 'move', 'wip/plan.md', '${NODES.beta}', 'wip/zebra.md', 'Secret zebra', 1, '${DEVICES.rita}'),
      (gen_random_uuid(), '${FILES.plan}', '${NODES.beta}', 'move', 'wip/plan.md', '${area.id}', 'wip/zebra.md', 'Secret zebra', 1, '${DEVICES.rita}');`);
  await manage(purgeNode, { node_id: purged.id, confirmed: true });
  await surface.sql(
    `INSERT INTO graph.access_request (id, node_id, user_id, access) VALUES ('${newId()}', '${area.id}', '${USERS.eve}', 'read')`,
  );
  return {
    organization: organization.id,
    inside: inside.id,
    area: area.id,
    below: below.id,
    broken: broken.id,
    archived: archived.id,
    purged: purged.id,
    event: event.id,
    edge: edges[0]?.edge?.id ?? '',
    file,
    operation,
  };
}

/** Changes secrets in every way, while the others look on. */
export async function stirSecrets({ manage, sql }: Surface, secrets: Secrets): Promise<void> {
  await sql(
    `UPDATE file.record SET path = 'outputs/plan.md', updated_at = now(), version = 2 WHERE id = '${secrets.file}'`,
  );
  await manage(updateNode, {
    node_id: secrets.area,
    name: 'Beta more secret',
    description: 'zebra',
    lifecycle: 'active',
  });
  await manage(updateNode, { node_id: secrets.below, health: 'at_risk', health_note: 'zebra' });
  await manage(connect, { source_id: secrets.below, target_id: NODES.kappa, relation: 'applies' });
  await manage(editEvent, { event_id: secrets.event, content: 'Zebra secret event, told better' });
  await manage(supersedeEvent, { event_id: secrets.event, content: 'Zebra secret event, told anew' });
  await manage(setAccess, { node_id: secrets.broken, visibility: 'private', confirmed: true });
  await manage(moveNode, { node_id: secrets.below, organization_id: NODES.globex, confirmed: true });
  await manage(changeGroupMembers, { group_id: TEAM, add: [USERS.eve], confirmed: true });
  await manage(setPositions, { positions: [{ node_id: secrets.area, x: 9, y: 9 }] });
  await manage(purgeNode, { node_id: secrets.archived, confirmed: true });
  await joinSecret({ manage }, secrets);
}

/** Joins one more hidden node to visible ones, which is an occasion to look at them. */
export async function joinSecret({ manage }: Pick<Surface, 'manage'>, secrets: Secrets): Promise<void> {
  await manage(createNode, {
    type: 'area',
    name: 'Filler 4 secret',
    organization_id: NODES.acme,
    parent_ids: [secrets.area, NODES.omega],
  });
}

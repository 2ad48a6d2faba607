import { createHash } from 'node:crypto';
import { type GraphDocument, type NodeType, type ValidationIssue, WORKING_TYPES } from '@workspace-graph/contracts';
import { defaultLifecycle, fold, linkProblem, suffixedSyncKey, syncKeyOf } from '@workspace-graph/domain';
import { contradictionsIn } from './contradictions.js';
import type { Existing, ExistingNode } from './existing.js';
import { planFiles } from './file-plan.js';
import type { ImportPlan, Row } from './import-rows.js';
import { KeyIndex, type Resolved } from './key-index.js';
import { findParentCycle } from './parent-cycle.js';

type DocumentNode = GraphDocument['nodes'][number];
type DocumentEvent = GraphDocument['events'][number];

/** Turns a document into rows, or tells everything that is wrong with it. Pure but for new ids and key suffixes. */
export function planImport(
  document: GraphDocument,
  existing: Existing,
): { readonly plan: ImportPlan; readonly issues: readonly ValidationIssue[] } {
  const planner = new Planner(document, existing);
  const plan = planner.plan();
  return { plan, issues: [...planner.issues, ...contradictionsIn(document, plan, existing)] };
}

class Planner {
  readonly issues: ValidationIssue[] = [];
  private readonly users: KeyIndex;
  private readonly groups: KeyIndex;
  private readonly actors: KeyIndex;
  private readonly nodes: KeyIndex;
  private readonly events: KeyIndex;
  private readonly stored: ReadonlyMap<string, ExistingNode>;
  private readonly typeOf = new Map<string, NodeType>();
  private readonly organizationOf = new Map<string, string | null>();
  private readonly syncKeys: Set<string>;

  constructor(
    private readonly document: GraphDocument,
    private readonly existing: Existing,
  ) {
    this.users = new KeyIndex('user', existing.users);
    this.groups = new KeyIndex('group', existing.groups);
    this.actors = new KeyIndex('actor', existing.actors);
    this.nodes = new KeyIndex('node', existing.nodes);
    this.events = new KeyIndex('event', existing.events);
    this.stored = new Map(existing.nodes.map((node) => [node.id, node]));
    for (const node of existing.nodes) {
      this.typeOf.set(node.id, node.type);
      this.organizationOf.set(node.id, node.organization_id);
    }
    this.syncKeys = new Set(existing.nodes.map((node) => syncKeyPlace(node.organization_id, node.type, node.sync_key)));
  }

  plan(): ImportPlan {
    const { document } = this;
    const users = this.users.add('users', document.users, this.issues, (user) => user.external_id);
    const groups = this.groups.add('groups', document.groups, this.issues, (group) => fold(group.name));
    const actors = this.actors.add('actors', document.actors, this.issues);
    const nodes = this.nodes.add('nodes', document.nodes, this.issues);
    const keyed = document.events.map((event) => ({ ...event, key: event.key ?? contentKey(event) }));
    const events = this.events.add('events', keyed, this.issues);
    this.rememberTypes(nodes);
    return {
      users: document.users.map((user, index) => ({ ...bare(user), ...at(users, index) })),
      groups: document.groups.map((group, index) => ({ ...bare(group), ...at(groups, index), members: undefined })),
      members: document.groups.flatMap((group, index) =>
        group.members.map((member, place) => ({
          group_id: at(groups, index).id,
          source: member.source,
          user_id: this.users.reference(member.user, `groups.${index}.members.${place}.user`, this.issues),
        })),
      ),
      actors: document.actors.map((actor, index) => this.actorRow(actor, at(actors, index), index)),
      nodes: document.nodes.map((node, index) => this.nodeRow(node, at(nodes, index), index)),
      shares: document.nodes.flatMap((node, index) => this.shareRows(node, at(nodes, index), index)),
      responsibilities: document.nodes.flatMap((node, index) => this.responsibilityRows(node, at(nodes, index), index)),
      links: document.nodes.flatMap((node, index) => [
        ...this.linkRows(node, at(nodes, index), index, 'data_sources'),
        ...this.linkRows(node, at(nodes, index), index, 'tools'),
      ]),
      edges: this.edgeRows(),
      events: keyed.map((event, index) => this.eventRow(event, at(events, index), index)),
      files: planFiles(document.files, {
        existing: this.existing.files,
        nodes: this.nodes,
        users: this.users,
        issues: this.issues,
      }),
      accessRequests: document.access_requests.map((request, index) => ({
        ...request,
        user_id: this.users.reference(request.user, `access_requests.${index}.user`, this.issues),
        decided_by: this.users.reference(request.decided_by, `access_requests.${index}.decided_by`, this.issues),
      })),
      audit: document.audit.map((entry, index) => ({
        ...entry,
        user_id: this.users.reference(entry.user, `audit.${index}.user`, this.issues),
      })),
    };
  }

  private rememberTypes(nodes: readonly Resolved[]): void {
    this.document.nodes.forEach((node, index) => {
      const { id, isNew } = at(nodes, index);
      const was = this.typeOf.get(id);
      if (!isNew && was !== undefined && was !== node.type) {
        this.issues.push({
          path: `nodes.${index}.type`,
          message: `the node exists as ${was}, and a type never changes`,
        });
      }
      this.typeOf.set(id, node.type);
    });
  }

  private actorRow(actor: GraphDocument['actors'][number], resolved: Resolved, index: number): Row {
    if (actor.type === 'automation' && actor.user)
      this.issues.push({ path: `actors.${index}.user`, message: 'only a person can be tied to a user' });
    return {
      ...bare(actor),
      ...resolved,
      has_user: actor.user !== undefined,
      user_id: this.users.reference(actor.user, `actors.${index}.user`, this.issues),
    };
  }

  private nodeRow(node: DocumentNode, resolved: Resolved, index: number): Row {
    const path = `nodes.${index}`;
    const organizationId = this.organizationFor(node, resolved, path);
    this.organizationOf.set(resolved.id, organizationId);
    if (!resolved.isNew) this.checkMove(resolved.id, organizationId, path);
    return {
      ...bare(node),
      ...resolved,
      organization_id: organizationId,
      lifecycle: node.lifecycle ?? (resolved.isNew ? defaultLifecycle(node.type) : null),
      health: node.type === 'project' ? (node.health ?? (resolved.isNew ? 'on_track' : null)) : null,
      has_health_note: node.health_note !== undefined,
      health_by: this.users.reference(node.health_by, `${path}.health_by`, this.issues),
      has_owner: node.owner !== undefined,
      owner_id: this.actors.reference(node.owner, `${path}.owner`, this.issues),
      created_by: this.users.reference(node.created_by, `${path}.created_by`, this.issues),
      sync_key: resolved.isNew ? this.freeSyncKey(node, organizationId, path) : null,
      has_sharing: node.sharing !== undefined,
      visibility: node.sharing?.visibility ?? null,
      membership_id: node.membership?.id ?? null,
      membership_at: node.membership?.created_at ?? null,
      membership_by: this.users.reference(node.membership?.created_by, `${path}.membership.created_by`, this.issues),
      position_x: node.position?.[0] ?? null,
      position_y: node.position?.[1] ?? null,
      sharing: undefined,
      responsibilities: undefined,
      data_sources: undefined,
      tools: undefined,
    };
  }

  /** A sync_key never changes, so a node cannot go where its key is taken. */
  private checkMove(id: string, organizationId: string | null, path: string): void {
    const was = this.stored.get(id);
    if (!was || was.organization_id === organizationId) return;
    const place = syncKeyPlace(organizationId, was.type, was.sync_key);
    if (this.syncKeys.has(place))
      this.issues.push({
        path: `${path}.organization`,
        message: `has another ${was.type} with the sync_key "${was.sync_key}"`,
      });
    this.syncKeys.add(place);
  }

  private organizationFor(node: DocumentNode, resolved: Resolved, path: string): string | null {
    const place = `${path}.organization`;
    if (node.type === 'organization') {
      if (node.organization) this.issues.push({ path: place, message: 'an organization belongs to nothing' });
      return null;
    }
    if (node.organization === undefined && !resolved.isNew) return this.organizationOf.get(resolved.id) ?? null;
    if (!node.organization) {
      this.issues.push({ path: place, message: 'is required: every node but an organization belongs to one' });
      return null;
    }
    const id = this.nodes.reference(node.organization, place, this.issues);
    if (id !== null && this.typeOf.get(id) !== 'organization')
      this.issues.push({ path: place, message: `"${node.organization}" is not an organization` });
    return id;
  }

  private freeSyncKey(node: DocumentNode, organizationId: string | null, path: string): string {
    const wanted = node.sync_key ?? syncKeyOf(node.name, node.type);
    let key = wanted;
    while (this.syncKeys.has(syncKeyPlace(organizationId, node.type, key))) {
      if (node.sync_key !== undefined) {
        this.issues.push({
          path: `${path}.sync_key`,
          message: `"${key}" is taken by another ${node.type} of the organization`,
        });
        break;
      }
      key = suffixedSyncKey(wanted, Math.random);
    }
    this.syncKeys.add(syncKeyPlace(organizationId, node.type, key));
    return key;
  }

  private shareRows(node: DocumentNode, resolved: Resolved, index: number): Row[] {
    return (node.sharing?.recipients ?? []).map((recipient, place) => {
      const path = `nodes.${index}.sharing.recipients.${place}`;
      if ((recipient.user === undefined) === (recipient.group === undefined))
        this.issues.push({ path, message: 'must name either a user or a group' });
      if (node.sharing?.visibility !== 'group')
        this.issues.push({ path, message: 'only the visibility "group" has recipients' });
      return {
        node_id: resolved.id,
        access: recipient.access,
        user_id: this.users.reference(recipient.user, `${path}.user`, this.issues),
        group_id: this.groups.reference(recipient.group, `${path}.group`, this.issues),
      };
    });
  }

  private responsibilityRows(node: DocumentNode, resolved: Resolved, index: number): Row[] {
    const rows = node.responsibilities ?? [];
    this.onlyWorking(node, rows.length, `nodes.${index}.responsibilities`);
    return rows.map((row, position) => ({
      node_id: resolved.id,
      node_type: node.type,
      id: row.id ?? null,
      position,
      title: row.title,
      description: row.description,
      assignees: [
        ...new Set(
          row.assignees.map((key, place) =>
            this.actors.reference(key, `nodes.${index}.responsibilities.${position}.assignees.${place}`, this.issues),
          ),
        ),
      ],
    }));
  }

  private linkRows(node: DocumentNode, resolved: Resolved, index: number, field: 'data_sources' | 'tools'): Row[] {
    const rows = node[field] ?? [];
    const path = `nodes.${index}.${field}`;
    this.onlyWorking(node, rows.length, path);
    return rows.map((row, position) => {
      const problem = row.url === null ? null : linkProblem(row.url);
      if (problem) this.issues.push({ path: `${path}.${position}.url`, message: problem });
      return {
        node_id: resolved.id,
        node_type: node.type,
        kind: field === 'tools' ? 'tool' : 'data_source',
        id: row.id ?? null,
        position,
        name: row.name,
        url: row.url,
      };
    });
  }

  private onlyWorking(node: DocumentNode, count: number, path: string): void {
    const works = (WORKING_TYPES as readonly NodeType[]).includes(node.type);
    if (count > 0 && !works)
      this.issues.push({ path, message: `only ${WORKING_TYPES.join(', ')} can have these, not ${node.type}` });
  }

  private edgeRows(): Row[] {
    const seen = new Set<string>();
    const rows = this.document.edges.flatMap((edge, index) => {
      const path = `edges.${index}`;
      const source = this.nodes.reference(edge.from, `${path}.from`, this.issues);
      const target = this.nodes.reference(edge.to, `${path}.to`, this.issues);
      if (source === null || target === null) return [];
      if (source === target) this.issues.push({ path, message: 'a node cannot be joined to itself' });
      if (edge.relation === 'belongs_to' && this.isMembership(source, target, path)) return [];
      const key = `${source} ${target} ${edge.relation}`;
      if (seen.has(key)) this.issues.push({ path, message: 'stands in the document twice' });
      seen.add(key);
      return [
        {
          source_id: source,
          target_id: target,
          relation: edge.relation,
          id: edge.id ?? null,
          created_at: edge.created_at ?? null,
          created_by: this.users.reference(edge.created_by, `${path}.created_by`, this.issues),
          index,
        },
      ];
    });
    const parents = rows.filter((row) => row.relation === 'belongs_to');
    const cycle = findParentCycle(
      this.existing.parents,
      parents.map((row) => [row.source_id, row.target_id]),
    );
    if (cycle !== null)
      this.issues.push({ path: `edges.${parents[cycle]?.index ?? 0}`, message: 'belongs_to makes a cycle' });
    return rows;
  }

  /** A belongs_to to an organization says the same as the node's `organization`, or something wrong. */
  private isMembership(source: string, target: string, path: string): boolean {
    if (this.typeOf.get(source) === 'organization') {
      this.issues.push({ path, message: 'an organization belongs to nothing' });
      return true;
    }
    if (this.typeOf.get(target) !== 'organization') return false;
    if (this.organizationOf.get(source) !== target)
      this.issues.push({ path, message: 'the node belongs to another organization' });
    return true;
  }

  private eventRow(event: DocumentEvent & { key: string }, resolved: Resolved, index: number): Row {
    const path = `events.${index}`;
    return {
      ...bare(event),
      ...resolved,
      node_id: this.nodes.reference(event.node, `${path}.node`, this.issues),
      supersedes_id: this.events.reference(event.supersedes, `${path}.supersedes`, this.issues),
      logged_by: this.users.reference(event.logged_by, `${path}.logged_by`, this.issues),
      resolved_by: this.users.reference(event.resolved_by, `${path}.resolved_by`, this.issues),
    };
  }
}

/** A record without what only the document needs; `import_key` is its key, unless that is its id. */
function bare<R extends { key: string; id?: string | undefined }>(record: R): Row {
  return { ...record, import_key: record.key === record.id ? null : record.key, key: undefined };
}

function at(list: readonly Resolved[], index: number): Resolved {
  const found = list[index];
  if (!found) throw new Error(`No record ${index}`);
  return found;
}

/** Equal events of the same node are one event. */
function contentKey(event: DocumentEvent): string {
  const hash = createHash('sha256').update(
    JSON.stringify([event.node, event.kind, new Date(event.occurred_at).toISOString(), event.content]),
  );
  return `content:${hash.digest('hex')}`;
}

function syncKeyPlace(organizationId: string | null, type: NodeType, key: string): string {
  return `${organizationId ?? ''} ${type} ${key}`;
}

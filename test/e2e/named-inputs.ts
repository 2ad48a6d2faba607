import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import {
  addResponsibility,
  addToSessionScope,
  createActor,
  createFile,
  createGroup,
  createMirror,
  createNode,
  createUser,
  listSessions,
  type ReferenceField,
  type ReferenceKind,
} from '@workspace-graph/contracts';
import type { RestClient } from '../central/rest-client.js';

export type Input = Readonly<Record<string, unknown>>;

/** A record, and every text that names it alone. */
export interface Named {
  readonly id: string;
  readonly texts: readonly string[];
}

/** Makes records with names of their own. */
export class Records {
  private count = 0;

  constructor(
    private readonly owner: RestClient,
    readonly organization: { readonly id: string; readonly key: string },
  ) {}

  static async open(owner: RestClient): Promise<Records> {
    const { id, sync_key: key } = await owner.call(createNode, { type: 'organization', name: 'Home of names' });
    return new Records(owner, { id, key });
  }

  /** What a field can name: an organization where nothing else will do. */
  make(field: string, kind: ReferenceKind): Promise<Named> {
    const isOrganization = field === 'organization_id';
    return isOrganization ? this.anOrganization() : this[kind]();
  }

  async anOrganization(): Promise<Named> {
    const name = this.name();
    const { id, sync_key } = await this.owner.call(createNode, { type: 'organization', name });
    return { id, texts: [id, sync_key, name] };
  }

  async node(): Promise<Named> {
    const name = this.name();
    const input = { type: 'area', name, organization_id: this.organization.id } as const;
    const { id, sync_key } = await this.owner.call(createNode, input);
    return { id, texts: [id, `${this.organization.key}/areas/${sync_key}`, name] };
  }

  async actor(): Promise<Named> {
    const name = this.name();
    const { id } = await this.owner.call(createActor, { type: 'person', name });
    return { id, texts: [id, name] };
  }

  async user(): Promise<Named> {
    const [name, handle] = [this.name(), this.name()];
    const email = `${handle.replaceAll(' ', '.')}@example.org`;
    const { id } = await this.owner.call(createUser, { name, handle, email });
    return { id, texts: [id, name, handle, email] };
  }

  async group(): Promise<Named> {
    const [name, claim] = [this.name(), this.name()];
    const { id } = await this.owner.call(createGroup, { name, claim });
    return { id, texts: [id, name, claim] };
  }

  /** Two of each kind that go by the text. Groups have names of their own, but a claim can be that of another one. */
  async twins(text: string): Promise<void> {
    for (const name of [`${text}, one`, `${text}, two`]) {
      const { id } = await this.owner.call(createNode, { type: 'organization', name });
      await this.owner.call(createNode, { type: 'area', name: text, organization_id: id });
      await this.owner.call(createActor, { type: 'person', name: text });
      await this.owner.call(createUser, { name: text });
    }
    await this.owner.call(createGroup, { name: text });
    await this.owner.call(createGroup, { name: `${text}, the other`, claim: text });
  }

  private name(): string {
    this.count += 1;
    return `Named ${this.count}`;
  }
}

/** What an operation needs beside what is named; `node` is the node of the call, `named` what is named in it. */
type Rest = (owner: RestClient, records: Records, node: string, named: string) => Promise<Input> | Input;

const mirrored: Rest = async (owner, _records, node_id) => {
  await owner.call(createMirror, { node_id });
  return {};
};
const filed = async (owner: RestClient, node: string) => {
  await owner.call(createMirror, { node_id: node });
  const body = JSON.stringify({ filename: `${randomUUID()}.md`, subpath: 'drafts', content: 'A plan' });
  const headers = { 'content-type': 'application/json' };
  const made = await owner.fetch(`/nodes/${node}/files`, { method: 'POST', headers, body });
  return createFile.output.parse(await made.json());
};
const ofFile: Rest = async (owner, _records, node) => ({ file_id: (await filed(owner, node)).id });

/** The session of the agent of this person. */
async function sessionOf(owner: RestClient): Promise<string> {
  const { items } = await owner.call(listSessions, { own: true, state: ['running'] });
  return items[0]?.id ?? '';
}

/** Operations that need more than references. */
export const REST: Readonly<Record<string, Rest>> = {
  create_node: (_owner, { organization }) => ({ type: 'area', name: 'Made', organization_id: organization.id }),
  move_node: async (_owner, records) => ({ organization_id: (await records.anOrganization()).id }),
  add_data_source: () => ({ name: 'Sheet' }),
  add_tool: () => ({ name: 'Saw' }),
  add_responsibility: () => ({ title: 'Chair' }),
  reorder_responsibilities: () => ({ responsibility_ids: [] }),
  update_responsibility: async (owner, records) => {
    const { id: node_id } = await records.node();
    return { responsibility_id: (await owner.call(addResponsibility, { node_id, title: 'Chair' })).id };
  },
  connect: () => ({ relation: 'related_to' }),
  delete_actor: async (_owner, records) => ({ actor_id: (await records.actor()).id }),
  log: () => ({ kind: 'note', content: 'Noted' }),
  create_actor: () => ({ type: 'person', name: 'Made' }),
  set_access: () => ({ visibility: 'group' }),
  search: () => ({ query: 'named' }),
  create_token: () => ({ label: 'Named', scope: 'read' }),
  move_mirror: async (owner, _records, node_id) => {
    const { local_path } = await owner.call(createMirror, { node_id });
    return { path: join(String(local_path), '..', randomUUID()) };
  },
  remove_mirror: mirrored,
  create_file: async (owner, records, node, named) => ({
    ...(await mirrored(owner, records, node, named)),
    filename: 'plan.md',
  }),
  adopt_files: async (owner, records, node, named) => ({
    ...(await mirrored(owner, records, node, named)),
    paths: ['wip/none.md'],
  }),
  delete_file: ofFile,
  move_file: async (owner, records, node, named) => {
    const ofAnother = node !== named;
    if (ofAnother) await owner.call(createMirror, { node_id: named });
    return ofFile(owner, records, node, named);
  },
  read_file: async (owner, _records, node) => ({ path: (await filed(owner, node)).path }),
  rename_folder: async (owner, _records, node) => {
    await filed(owner, node);
    return { old_prefix: 'wip/drafts', new_prefix: 'wip/letters' };
  },
  search_files: () => ({ query: 'named' }),
  write_file: async (owner, _records, node) => {
    const { path, sha256 } = await filed(owner, node);
    return { path, content: 'Another plan', expected_sha256: sha256 };
  },
  snapshot_document: () => ({ doc_url: 'https://docs.example.org/d/1' }),
  store_file: () => ({ local_path: '/nowhere' }),
  start_session: () => ({ brief: 'Do it', runner: 'nobody' }),
  resume_session: () => ({ session_id: randomUUID(), mode: 'handoff' }),
  expand_scope: () => ({ reason: 'It is named' }),
  add_to_session_scope: async (owner) => ({ session_id: await sessionOf(owner) }),
  review_scope: async (owner, _records, _node, named) => {
    const session_id = await sessionOf(owner);
    await owner.call(addToSessionScope, { session_id, node_ids: [named] });
    return { session_id, decision: 'accept' };
  },
  resolve_file: () => ({ file_id: randomUUID(), action: 'keep_local' }),
};

/** The input of a call that names something in one field. */
export function naming({ field, within }: ReferenceField, kind: ReferenceKind, text: string): Input {
  const item = { kind, id: text, access: 'read' };
  if (field === 'recipients') return { [field]: [item] };
  if (within) return { [field]: [{ [within]: text, x: 1, y: 2 }] };
  return { [field]: LISTS.includes(field) ? [text] : text };
}

/** Where a refusal says that the name is. */
export function placeOf({ field, within }: ReferenceField): string {
  if (within) return `${field}.0.${within}`;
  return LISTS.includes(field) ? `${field}.0` : field;
}

/** Fields that take several. */
const LISTS: readonly string[] = ['node_ids', 'parent_ids', 'assignee_ids', 'add', 'remove'];

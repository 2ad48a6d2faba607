import { randomUUID } from 'node:crypto';
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { Inject, Injectable } from '@nestjs/common';
import {
  type Caller,
  type ClientConfigFile,
  type Context,
  type Envelope,
  type ErrorCode,
  getContext,
  ServiceError,
  scopeIncludes,
  weakestScope,
  whoami,
} from '@workspace-graph/contracts';
import type { z } from 'zod';
import { DEVICE_PARTS, type DeviceParts } from '../../device-parts.js';
import type { MirrorRow } from '../../store/device-store.js';
import { handoffPathOf } from '../handoff-path.js';
import { sectionsOf } from '../make-folder.js';
import { isOwnText, withMark } from '../marked-text.js';
import { Mirrors } from '../mirrors.js';
import { type EarlierWork, HANDOFF_FILE, NOTHING_TO_TELL, renderScope, SCOPE_FILE } from '../scope-file.js';
import { FolderTexts } from './folder-texts.js';
import { OwnershipRecords, type Written } from './ownership.js';
import { type ReadText, readText } from './text-file.js';

type ScopeContext = z.infer<typeof Context>;
type Author = NonNullable<Written['author']>;

const CONTEXT_TOKENS = 6_000;
/** What somebody is answered who sees nothing of a node, or is nobody any more. */
const UNSEEN: ReadonlySet<ErrorCode> = new Set(['NODE_NOT_FOUND', 'USER_NOT_FOUND', 'UNAUTHENTICATED', 'FORBIDDEN']);

/**
 * SVC_SCOPE.md in the folders of nodes. A person's call makes it, with what that person, its author, sees; from then on
 * it tells what the author sees, never more than at the first time. A file that somebody else wrote or changed stays.
 */
@Injectable()
export class ScopeFiles {
  private readonly records: OwnershipRecords;
  /** What the file of a node tells of, by id. */
  private readonly told = new Map<string, ReadonlySet<string>>();

  constructor(
    @Inject(DEVICE_PARTS) private readonly parts: DeviceParts,
    @Inject(Mirrors) private readonly mirrors: Mirrors,
    @Inject(FolderTexts) private readonly texts: FolderTexts,
  ) {
    this.records = new OwnershipRecords(parts.settings.own);
    mirrors.onRemoved(({ nodeId }) => this.told.delete(nodeId));
  }

  /** What goes into the file, as the caller sees it. */
  read(nodeId: string, envelope: Envelope, signal?: AbortSignal): Promise<ScopeContext> {
    const input = { node_id: nodeId, depth: 1, form: 'records' as const, max_tokens: CONTEXT_TOKENS };
    return this.parts.service.call(getContext, input, envelope, signal);
  }

  /** As whom to read for a caller: one user never sees more in the file than when it was made. */
  async readerFor(nodeId: string, caller: Caller): Promise<Caller> {
    const { author } = await this.records.read(nodeId);
    if (author?.user_id !== caller.user_id) return caller;
    return { ...caller, scope: weakestScope(caller.scope, author.scope) };
  }

  /** Writes the file when it is missing or not up to date. Call it while the node is locked. */
  async write(row: MirrorRow, graph: ScopeContext, author: Caller): Promise<z.infer<typeof ClientConfigFile>['state']> {
    const found = await readText(row.path, SCOPE_FILE);
    if (found === 'foreign' || (found !== 'missing' && !isOwnText(found.text))) return 'foreign';
    const own = await this.records.read(row.nodeId);
    const text = withMark(await textOf(row, graph));
    if (found === 'missing' || found.text === withMark(NOTHING_TO_TELL)) {
      await this.records.write(row.nodeId, { ...own, author: { user_id: author.user_id, scope: author.scope } });
    } else if (found.text === text || !own.author || !seesNoMore(author, own.author)) {
      return 'unchanged';
    }
    this.told.set(row.nodeId, idsIn(graph));
    return (await this.put(row, found, text)) ? 'written' : 'foreign';
  }

  /** Whether the file of a node may tell something else once these have changed. */
  tellsOf(nodeId: string, changed: ReadonlySet<string>): boolean {
    return changed.has(nodeId) || [...(this.told.get(nodeId) ?? [])].some((id) => changed.has(id));
  }

  /** Lets the file tell what its author sees now; nothing of the node when that is nothing. */
  async follow(nodeId: string): Promise<void> {
    const { author } = await this.records.read(nodeId);
    const row = this.mirrors.of(nodeId);
    if (!author || !row || !(await ownText(row))) return;
    const graph = await this.seenBy(author, nodeId);
    await this.parts.locks.run([nodeId], () => this.renew(nodeId, author, graph));
    if (graph === null) this.mirrors.doubt(nodeId);
  }

  private async renew(nodeId: string, author: Author, graph: ScopeContext | null): Promise<void> {
    const row = this.mirrors.of(nodeId);
    if (!row || (await this.mirrors.stateOf(row)) !== 'ready') return;
    // Somebody else may have become the author since.
    if (!isDeepStrictEqual((await this.records.read(nodeId)).author, author)) return;
    if (graph) this.told.set(nodeId, idsIn(graph));
    const found = await ownText(row);
    const text = withMark(graph === null ? NOTHING_TO_TELL : await textOf(row, graph));
    if (found && found.text !== text) await this.put(row, found, text);
  }

  /** A file that somebody else saved in the same instant stays theirs. */
  private put({ path: folder }: MirrorRow, found: ReadText | 'missing', text: string): Promise<boolean> {
    return this.texts.write({ folder, path: SCOPE_FILE, found }, text, { isOurs: true });
  }

  /** The node as an author sees it at present; null when they do not. */
  private async seenBy({ user_id, scope }: Author, nodeId: string): Promise<ScopeContext | null> {
    const as = (held: Author['scope']): Envelope => ({
      callId: randomUUID(),
      requestId: randomUUID(),
      caller: { user_id, scope: held, credential_id: null, via: 'system' },
    });
    try {
      const { user } = await this.parts.service.call(whoami, {}, as(scope));
      if (user.disabled) return null;
      return await this.read(nodeId, as(weakestScope(scope, user.max_scope, user.claim_scope ?? scope)));
    } catch (error) {
      if (error instanceof ServiceError && UNSEEN.has(error.code)) return null;
      throw error;
    }
  }
}

async function textOf({ path }: MirrorRow, graph: ScopeContext): Promise<string> {
  return renderScope(graph, {
    sections: sectionsOf(graph.node.type),
    earlier: { hasFile: await isFile(join(path, HANDOFF_FILE)), sessions: await handedOver(path, graph) },
  });
}

async function handedOver(folder: string, { recent_sessions }: ScopeContext): Promise<EarlierWork['sessions']> {
  const left = recent_sessions.flatMap(({ id, name, handoff }) => (handoff === null ? [] : [{ id, name, handoff }]));
  return Promise.all(
    left.map(async (session) => {
      const path = handoffPathOf(session.id);
      return { ...session, path: (await isFile(join(folder, path))) ? path : null };
    }),
  );
}

async function ownText({ path }: MirrorRow): Promise<ReadText | null> {
  const found = await readText(path, SCOPE_FILE);
  return typeof found === 'object' && isOwnText(found.text) ? found : null;
}

/** Whether somebody sees no more than the one for whom the file was made. */
function seesNoMore(caller: Caller, author: Author): boolean {
  return caller.user_id === author.user_id && scopeIncludes(author.scope, caller.scope);
}

function idsIn({ node, nodes }: ScopeContext): Set<string> {
  const people = [node.owner, ...node.responsibilities.flatMap(({ assignees }) => assignees)];
  const all = [node, node.organization, ...people, ...nodes].filter((each) => each !== null);
  return new Set(all.map(({ id }) => id));
}

async function isFile(path: string): Promise<boolean> {
  return lstat(path).then(
    (found) => found.isFile(),
    () => false,
  );
}

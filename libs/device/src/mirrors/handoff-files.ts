import { join } from 'node:path';
import { type BeforeApplicationShutdown, Inject, Injectable, type OnApplicationBootstrap } from '@nestjs/common';
import {
  type Envelope,
  getResumeInfo,
  getSession,
  type Handoff,
  type HandoffFile,
  listNodeSessions,
  ServiceError,
  type Session,
} from '@workspace-graph/contracts';
import type { z } from 'zod';
import { DEVICE_PARTS, type DeviceParts } from '../device-parts.js';
import type { MirrorRow } from '../store/device-store.js';
import { FolderTexts } from './client-config/folder-texts.js';
import { removeOwnText } from './client-config/own-files.js';
import { hashOf } from './client-config/owned-text.js';
import { type FoundText, readText } from './client-config/text-file.js';
import { HANDOFF_FOLDER, handoffPathOf } from './handoff-path.js';
import { isOwnText, markOf, withMark } from './marked-text.js';
import { Mirrors } from './mirrors.js';

type Written = z.infer<typeof Handoff>;

/** Of one node, for a folder that is new. */
const SESSIONS = 200;
const OURS = { isOurs: true };

/**
 * The last handoff of each open session of this device's person, as a file in the folder of its node. It follows the session;
 * a file that somebody changed stays until there is another handoff, and then beside it.
 */
@Injectable()
export class HandoffFiles implements OnApplicationBootstrap, BeforeApplicationShutdown {
  private readonly stops: (() => Promise<void> | void)[] = [];
  /** Sessions that are to be looked at, with their nodes. */
  private readonly due = new Map<string, string>();
  /** Of each open session, what was written and where: a file that somebody removed is not written again. */
  private readonly written = new Map<string, { readonly nodeId: string; readonly mark: string | null }>();
  private following: Promise<void> | null = null;
  private readonly listeners = new Set<(nodeId: string) => void>();

  constructor(
    @Inject(DEVICE_PARTS) private readonly parts: DeviceParts,
    @Inject(Mirrors) private readonly mirrors: Mirrors,
    @Inject(FolderTexts) private readonly texts: FolderTexts,
  ) {}

  async onApplicationBootstrap(): Promise<void> {
    const changes = await this.parts.bus.subscribe(['session.changed'], ({ payload }) => {
      const { session_id, node_id, owner_id } = payload;
      if (node_id !== null && owner_id === this.personId && this.mirrors.of(node_id)) this.note(session_id, node_id);
    });
    this.stops.push(
      () => changes.stop(),
      this.mirrors.onAdded(({ nodeId }) => void this.noteAll(nodeId)),
    );
  }

  /** Told of nodes in whose folder another handoff lies now. Returns the function that ends listening. */
  onWritten(listener: (nodeId: string) => void): () => void {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  }

  async beforeApplicationShutdown(): Promise<void> {
    for (const stop of this.stops.splice(0)) await stop();
    this.due.clear();
    await this.following;
  }

  /** Where the handoff of a session lies here and whether somebody changed it; null too for whom it is not told to. */
  async report(
    sessionId: string,
    handoff: Written | null,
    asker: Envelope,
  ): Promise<z.infer<typeof HandoffFile> | null> {
    if (!handoff || !this.parts.localPaths.areShownTo(asker)) return null;
    const { node, owner, state } = await this.parts.service.call(getSession, { session_id: sessionId }, asker);
    if (!node || owner?.id !== this.personId) return null;
    const folder = await this.parts.localPaths.folderOfNode(node.id, asker);
    const row = this.mirrors.of(node.id);
    if (folder === null || !row) return null;
    const found = await this.foundOf(row, sessionId, isOpen(state) ? withMark(textOf(handoff)) : null);
    if (found === 'missing') return null;
    const isOurs = found !== 'foreign' && isOwnText(found.text);
    return { path: join(folder, handoffPathOf(sessionId)), state: isOurs ? 'unchanged' : 'changed' };
  }

  /** What lies there, after writing what is due. The record tells the handoff: a disk that cannot be written keeps nobody from it. */
  private async foundOf(row: MirrorRow, sessionId: string, due: string | null): Promise<FoundText> {
    const look = (): Promise<FoundText> => readText(row.path, handoffPathOf(sessionId));
    try {
      if (due !== null && this.isDue(await look(), sessionId, due)) await this.follow(row, sessionId, due);
      return await look();
    } catch (error) {
      this.warn(sessionId, error);
      return 'missing';
    }
  }

  /** What was written into a folder does not matter any more. */
  forget(row: MirrorRow): void {
    for (const [sessionId, { nodeId }] of this.written) if (nodeId === row.nodeId) this.written.delete(sessionId);
  }

  private get personId(): string | undefined {
    return this.parts.settings.identity()?.userId;
  }

  private note(sessionId: string, nodeId: string): void {
    this.due.set(sessionId, nodeId);
    this.following ??= this.followDue().finally(() => {
      this.following = null;
    });
  }

  private async noteAll(nodeId: string): Promise<void> {
    for (const session of await this.sessionsOf(nodeId)) this.note(session, nodeId);
  }

  /** Those of this device's person on a node; none where they cannot be told. */
  private async sessionsOf(nodeId: string): Promise<string[]> {
    const input = { node_id: nodeId, own: true, limit: SESSIONS };
    const page = await orNull(this.parts.service.call(listNodeSessions, input, null));
    return (page?.items ?? []).map(({ id }) => id);
  }

  private async followDue(): Promise<void> {
    for (const [sessionId, nodeId] of this.due) {
      this.due.delete(sessionId);
      await this.followOne(sessionId, nodeId).catch((error: unknown) => this.warn(sessionId, error));
    }
  }

  private warn(sessionId: string, error: unknown): void {
    this.parts.logger.warn({ err: error, session: sessionId }, 'the handoff of a session was not written');
  }

  private async followOne(sessionId: string, nodeId: string): Promise<void> {
    const input = { session_id: sessionId };
    const session = await orNull(this.parts.service.call(getSession, input, null));
    const row = this.mirrors.of(nodeId);
    if (!session || !row) return;
    if (!isOpen(session.state)) {
      this.written.delete(sessionId);
      return this.parts.locks.run([nodeId], () => removeOwnText(row, handoffPathOf(sessionId), this.texts));
    }
    const info = await orNull(this.parts.service.call(getResumeInfo, input, null));
    if (info?.handoff) await this.follow(row, sessionId, withMark(textOf(info.handoff)));
  }

  private follow({ nodeId }: MirrorRow, sessionId: string, text: string): Promise<void> {
    return this.parts.locks.run([nodeId], async () => {
      const row = this.mirrors.of(nodeId);
      if (row && (await this.mirrors.stateOf(row)) === 'ready') await this.write(row, sessionId, text);
    });
  }

  private async write({ nodeId, path: folder }: MirrorRow, sessionId: string, text: string): Promise<void> {
    const path = handoffPathOf(sessionId);
    const found = await readText(folder, path);
    const isDue = this.isDue(found, sessionId, text);
    if (isDue && found !== 'foreign') {
      if (found !== 'missing' && !isOwnText(found.text))
        await this.texts.write({ folder, path: keptPathOf(sessionId, found.text), found: 'missing' }, found.text, OURS);
      await this.texts.write({ folder, path, found }, text, OURS);
      for (const listener of this.listeners) listener(nodeId);
    }
    this.written.set(sessionId, { nodeId, mark: markOf(text) });
  }

  /** Not when the file is of this handoff already, changed or not, or nobody knows of which. */
  private isDue(found: FoundText, sessionId: string, text: string): boolean {
    if (found === 'foreign') return false;
    if (found === 'missing') return this.written.get(sessionId)?.mark !== markOf(text);
    const mark = markOf(found.text);
    return mark !== null && mark !== markOf(text);
  }
}

function isOpen(state: Session['state']): boolean {
  return state === 'running' || state === 'suspended';
}

/** Where a text stays that somebody changed, once there is another handoff. */
function keptPathOf(sessionId: string, text: string): string {
  return `${HANDOFF_FOLDER}/${sessionId} changed ${hashOf(text).slice(0, 8)}.md`;
}

function textOf({ title, text, written_by, at }: Written): string {
  const who = written_by === 'agent' ? 'the agent' : 'the service, for the agent wrote none';
  return `# ${title.replace(/\s+/g, ' ')}\n\nHandoff of ${at}, written by ${who}.\n\n${text.trimEnd()}\n`;
}

/** What a person does not see, or a service that is away, leaves nothing to write. */
async function orNull<T>(asked: Promise<T>): Promise<T | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof ServiceError) return null;
    throw error;
  }
}

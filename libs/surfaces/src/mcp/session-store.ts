import { ServiceError, type SuspendReason } from '@workspace-graph/contracts';
import type { Session } from './session.js';

/** The open sessions, within a bound. Each holder's are kept in the order of their last use. */
export class SessionStore {
  private readonly sessions = new Map<string, Session>();
  private readonly byHolder = new Map<string, Map<string, Session>>();

  constructor(
    private readonly maxSessions: number,
    private readonly idleMs: number,
  ) {}

  get size(): number {
    return this.sessions.size;
  }

  all(): readonly Session[] {
    return [...this.sessions.values()];
  }

  /** The session with this id, if this holder opened it; to anybody else it does not exist. */
  find(id: string, holder: string): Session | undefined {
    const session = this.sessions.get(id);
    if (session?.holder !== holder) return undefined;
    const own = this.byHolder.get(holder);
    own?.delete(id);
    own?.set(id, session);
    return session;
  }

  add(session: Session): void {
    this.sessions.set(session.id, session);
    const own = this.byHolder.get(session.holder) ?? new Map<string, Session>();
    this.byHolder.set(session.holder, own.set(session.id, session));
  }

  remove(session: Session): void {
    this.sessions.delete(session.id);
    const own = this.byHolder.get(session.holder);
    if (own?.delete(session.id) && own.size === 0) this.byHolder.delete(session.holder);
  }

  /**
   * Closes the oldest session of the holder with the most when the store is full, so that nobody pushes others out: an
   * idle one or, for a holder who has fewer, one that is in use.
   * @throws ServiceError SERVICE_UNAVAILABLE when it would have to be one in use of a holder who has no more
   */
  async makeRoom(holder: string): Promise<void> {
    if (this.sessions.size < this.maxSessions) return;
    const [largest = new Map<string, Session>()] = [...this.byHolder.values()].sort((a, b) => b.size - a.size);
    const sessions = [...largest.values()];
    const hasFewer = (this.byHolder.get(holder)?.size ?? 0) + 1 < largest.size;
    const leaving = sessions.find((session) => !session.busy) ?? (hasFewer ? sessions[0] : undefined);
    if (!leaving)
      throw new ServiceError('SERVICE_UNAVAILABLE', `All ${this.maxSessions} sessions of this server are in use.`);
    await leaving.close();
  }

  /** Closes what was idle for too long. */
  async closeIdle(nowMs: number): Promise<void> {
    const idle = this.all().filter((session) => !session.busy && nowMs - session.lastUsedMs >= this.idleMs);
    await closeAll(idle, 'idle');
  }

  async closeWhere(matches: (session: Session) => boolean, reason: SuspendReason = 'disconnect'): Promise<void> {
    await closeAll(this.all().filter(matches), reason);
  }

  /** Ends the session with this id, which takes no more requests; those under way are answered first, within `timeoutMs`. */
  async leave(id: string, timeoutMs: number): Promise<void> {
    const session = this.sessions.get(id);
    if (!session) return;
    this.remove(session);
    await session.closeWhenQuiet(timeoutMs);
  }

  /** Those whose client has been gone since before that time. */
  dropped(sinceMs: number): readonly Session[] {
    return this.all().filter((session) => session.isDropped(sinceMs));
  }
}

async function closeAll(sessions: readonly Session[], reason: SuspendReason): Promise<void> {
  await Promise.all(
    sessions.map((session) => {
      session.endReason = reason;
      return session.close();
    }),
  );
}

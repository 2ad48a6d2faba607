import type { Bus } from '@workspace-graph/bus';
import { type Caller, getSession, Id, ServiceError } from '@workspace-graph/contracts';
import { ask } from '../edge/index.js';

/** Sessions that one link remembers; the oldest one makes room. */
const REMEMBERED = 1_000;

/** Which sessions belong to the person of a device. Nobody gets another owner, so each is asked about once. */
export class OwnSessions {
  private readonly known = new Set<string>();

  constructor(private readonly bus: Pick<Bus, 'call'>) {}

  /** @throws ServiceError SESSION_NOT_FOUND for one that is not the caller's, absent and hidden alike */
  async require(sessionId: string, caller: Caller): Promise<void> {
    if (this.known.has(sessionId)) return;
    const isId = Id.safeParse(sessionId).success;
    const session = isId ? await ask(this.bus, getSession, { session_id: sessionId }, { caller }) : null;
    if (!session?.is_own)
      throw new ServiceError('SESSION_NOT_FOUND', `There is no session ${sessionId} of yours.`, {
        session_id: sessionId,
      });
    this.known.add(sessionId);
    const [oldest] = this.known;
    if (this.known.size > REMEMBERED && oldest !== undefined) this.known.delete(oldest);
  }
}

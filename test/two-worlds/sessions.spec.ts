import {
  addToSessionScope,
  answerQuestion,
  closeSession,
  endTerminal,
  getOverview,
  getResumeInfo,
  getSession,
  getSessionOutput,
  getSessionScope,
  getSessionSignals,
  interruptSession,
  listNodeSessions,
  listRunners,
  listSessionEvents,
  listSessions,
  OPERATIONS,
  type Operation,
  renameSession,
  resumeSession,
  reviewScope,
  SessionState,
  sendMessage,
  startSession,
  suspendSession,
  undoSession,
} from '@workspace-graph/contracts';
import { baselineSql, NODES } from './baseline.js';
import { askOverRest } from './over-rest.js';
import { expectSame, inBothWorlds, type RunningWorld, type Speaker } from './running-world.js';
import { noSecrets, plantSecrets, type Secrets, stirSecrets } from './secrets.js';
import {
  type HiddenSessions,
  hiddenSql,
  neverWere,
  OUTPUT,
  SESSIONS,
  sessionsSql,
  stirSql,
} from './sessions-baseline.js';
import { Transcript } from './transcript.js';

/** Rita who reads, Wil who writes, and the person whose device it is. */
const ROLES: readonly Speaker[] = ['reader', 'writer', 'person'];
/** Of a run, which goes on while the worlds are asked. */
const AGE = /("age_seconds"\s*:\s*)\d+/g;
const ALL = { state: SessionState.options, limit: 500 };

describe('to those who may not see them, sessions of hidden nodes', () => {
  it('change nothing in any answer about sessions over REST: no status, no header, no byte [access.hidden.nowhere] [access.hidden.two-worlds] [sessions.access.invisible-anchor] [sessions.access.node-less]', async () => {
    const told = await inBothWorlds(tell);
    expect(told[0].length).toBeGreaterThan(400);
    const text = told[0].join('\n');
    for (const shown of ['Zebra count', 'Zebra draft', 'Zebra plan', 'Zebra alone', 'SESSION_FORBIDDEN', 'NO_LIVE_RUN'])
      expect(text).toContain(shown);
    expect(text).not.toContain('Zebra of Ada');
    // Below manage nobody is told whose session it is, but of their own.
    expect(text).not.toMatch(/"owner":\{[^}]*"Ada"/);
    expectSame(told);
  }, 300_000);
});

async function tell(world: RunningWorld, withSecrets: boolean): Promise<readonly string[]> {
  await world.sql(baselineSql(withSecrets));
  const surface = {
    sql: (text: string) => world.sql(text),
    manage: world.manage,
    tell: () => Promise.reject(new Error('Nobody asks through this one')),
  };
  const [secrets, hidden] = [withSecrets ? await plantSecrets(surface) : noSecrets(), neverWere()];
  await world.sql(sessionsSql());
  if (withSecrets) await world.sql(hiddenSql(secrets, hidden));
  const teller = new Teller(world, secrets, hidden);
  for (const role of ROLES) await teller.readAll(role);
  if (withSecrets) {
    await stirSecrets(surface, secrets);
    await world.sql(stirSql(hidden));
  }
  for (const role of ROLES) await teller.readAll(role);
  for (const role of ROLES) await teller.writeAll(role);
  for (const role of ROLES) await teller.readAll(role);
  expect(missing(teller.asked)).toEqual([]);
  return teller.transcript.lines;
}

/** Operations of sessions over REST that the story leaves out: a new one belongs into it. */
function missing(asked: ReadonlySet<string>): string[] {
  const all = [...OPERATIONS.values()].filter(({ owner, rest }) => owner === 'session' && rest);
  return all.map(({ name }) => name).filter((name) => !asked.has(name));
}

/** Asks in a role and writes down what is answered. */
class Teller {
  readonly transcript: Transcript;
  readonly asked = new Set<string>();
  private readonly names: ReadonlyMap<string, string>;
  private readonly sessionIds: readonly string[];

  constructor(
    private readonly world: RunningWorld,
    private readonly secrets: Secrets,
    private readonly hidden: HiddenSessions,
  ) {
    const never = { ...secrets, ...hidden };
    this.transcript = new Transcript(never);
    this.names = new Map(Object.entries(never).map(([name, id]) => [id, name]));
    this.sessionIds = [...Object.values(SESSIONS), hidden.ofArea, hidden.ofBelow, hidden.own];
  }

  async readAll(role: Speaker): Promise<void> {
    for (const operation of [listRunners, getOverview]) await this.ask(role, operation, {});
    const filters = [{}, ALL, { ...ALL, own: true }, { waiting: true }, { state: 'archived' }, { state: ['running'] }];
    for (const filter of filters) await this.ask(role, listSessions, filter);
    await this.pages(role, listSessions, { ...ALL, limit: 1 });
    const { area, below, broken, organization, purged } = this.secrets;
    for (const node_id of [
      NODES.alpha,
      NODES.beta,
      NODES.gamma,
      NODES.tau,
      area,
      below,
      broken,
      organization,
      purged,
    ]) {
      await this.ask(role, listNodeSessions, { node_id, ...ALL });
      await this.ask(role, listNodeSessions, { node_id, own: true });
    }
    await this.pages(role, listNodeSessions, { node_id: NODES.beta, limit: 1 });
    for (const session_id of this.sessionIds) await this.readOne(role, session_id);
  }

  private async readOne(role: Speaker, session_id: string): Promise<void> {
    for (const operation of [getSession, getSessionSignals, getResumeInfo])
      await this.ask(role, operation, { session_id });
    for (const more of [{}, { unreviewed: true }]) await this.ask(role, getSessionScope, { session_id, ...more });
    await this.pages(role, getSessionScope, { session_id, limit: 1 });
    for (const more of [{}, { after: 1, limit: 1 }, { newest: true, limit: 1 }])
      await this.ask(role, listSessionEvents, { session_id, ...more });
    for (const event_id of [OUTPUT, this.hidden.output])
      await this.ask(role, getSessionOutput, { session_id, event_id });
  }

  /** What changes something, or tries to. */
  async writeAll(role: Speaker): Promise<void> {
    const { area, purged } = this.secrets;
    await this.ask(role, endTerminal, { terminal_id: 'terminal 1' });
    for (const node_id of [NODES.beta, area, purged])
      await this.ask(role, startSession, { node_id, brief: 'Zebra', runner: 'none' });
    for (const session_id of this.sessionIds) await this.writeOne(role, session_id);
  }

  private async writeOne(role: Speaker, session_id: string): Promise<void> {
    const own = { session_id };
    for (const more of [{ expected_version: 99 }, {}])
      await this.ask(role, renameSession, { ...own, name: 'My zebra', ...more });
    await this.ask(role, sendMessage, { ...own, text: 'Zebra' });
    for (const request_id of ['never/asked?', 'which', 'which'])
      await this.ask(role, answerQuestion, { ...own, request_id, decision: { text: 'All' } });
    for (const node_id of [NODES.alpha, this.secrets.area, this.secrets.below]) {
      for (const decision of ['accept', 'reject']) await this.ask(role, reviewScope, { ...own, node_id, decision });
      await this.ask(role, addToSessionScope, { ...own, node_ids: [node_id] });
    }
    for (const confirmed of [false, true]) await this.ask(role, undoSession, { ...own, confirmed });
    await this.ask(role, interruptSession, own);
    for (const more of [{}, { node_id: NODES.beta }, { node_id: this.secrets.area }])
      await this.ask(role, resumeSession, { ...own, mode: 'handoff', ...more });
    for (const operation of [suspendSession, suspendSession, closeSession, closeSession])
      await this.ask(role, operation, own);
  }

  private async ask(role: Speaker, operation: Operation, input: object): Promise<unknown> {
    this.asked.add(operation.name);
    const { text, value } = await askOverRest(this.world, operation, input, role);
    this.transcript.add(`${role}: ${operation.name} ${this.plain(input)}`, text.replace(AGE, '$1<age>'));
    return value;
  }

  /** Every page of a list, one after the other. */
  private async pages(role: Speaker, operation: Operation, input: object): Promise<void> {
    for (let cursor: string | null | undefined; cursor !== null; ) {
      const page = await this.ask(role, operation, { ...input, ...(cursor === undefined ? {} : { cursor }) });
      cursor = (page as { readonly next_cursor: string | null } | undefined)?.next_cursor ?? null;
    }
  }

  private plain(input: object): string {
    return JSON.stringify(input, (key, value: unknown) => {
      if (key === 'cursor') return '…';
      return typeof value === 'string' ? (this.names.get(value) ?? value) : value;
    });
  }
}

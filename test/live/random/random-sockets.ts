import { randomUUID } from 'node:crypto';
import {
  appendSessionEvents,
  createToken,
  DRIVING_FRAMES,
  type InputOf,
  type Operation,
  type OutputOf,
  renameSession,
  revokeToken,
  type Scope,
  ServiceError,
  setAccess,
  updateNode,
} from '@workspace-graph/contracts';
import { SessionSweeps } from '@workspace-graph/service-session';
import {
  type ActWorld,
  expectStored,
  isOpen,
  type Model,
  type ModelSession,
  PEOPLE,
  type Person,
  type Place,
  type ScriptedRuns,
  type Told,
  waits,
} from '@workspace-graph/service-session/testing';
import { LiveWorld, type Person as Member } from '../live-world.js';
import { RandomSocket, stateText } from './random-socket.js';

const SCOPES: Readonly<Record<Person, Scope>> = { olga: 'write', otto: 'write', mara: 'manage', rita: 'read' };
/** A socket is closed with it when its credential has ended. */
const REVOKED = 4401;

/** A whole workspace with its live channel, called by the people of the model: over their sockets, where they have one. */
export class RandomSockets implements ActWorld, AsyncDisposable {
  readonly before = new Map<ModelSession, string>();
  sockets: RandomSocket[] = [];
  /** A session that everybody sees. */
  private marker: { readonly id: string } = { id: '' };
  private frames = 0;
  /** Of every session, the state that was told last. */
  private states = new Map<ModelSession, string>();
  /** Who saw what before the last command. */
  private seen: Model['seesSession'] = () => false;

  private constructor(
    private readonly world: LiveWorld,
    private readonly people: Record<Person, Member>,
    readonly nodes: Readonly<Record<Place, string | null>>,
  ) {}

  static async start(): Promise<RandomSockets> {
    const world = await LiveWorld.start();
    const people: Partial<Record<Person, Member>> = {};
    for (const person of PEOPLE) people[person] = await world.person(person, SCOPES[person]);
    const open = (await world.node('Open')).id;
    const shared = (await world.node('Shared', 'private')).id;
    world.runs.handoff = { title: 'By the agent', text: 'x' };
    return new RandomSockets(world, people as Record<Person, Member>, { open, shared, none: null });
  }

  get runs(): ScriptedRuns {
    return this.world.runs;
  }

  runOf(sessionId: string): string {
    return this.runs.orders.findLast(({ session_id }) => session_id === sessionId)?.run_id ?? '';
  }

  async sql(text: string, values: readonly unknown[]): Promise<readonly Record<string, unknown>[]> {
    return (await this.world.database.pool.query<Record<string, unknown>>(text, [...values])).rows;
  }

  sweep(): Promise<number> {
    return this.world.app.get(SessionSweeps).sweep({ archiveAfterDays: 30 });
  }

  /** What a frame can ask goes through one of the person's sockets, every second time past them. */
  async told<Op extends Operation>(
    operation: Op,
    input: InputOf<Op>,
    who: Person,
    then: (answer: OutputOf<Op>) => unknown = () => undefined,
  ): Promise<Told> {
    const frame = Object.entries(DRIVING_FRAMES).find(([, driven]) => driven.name === operation.name)?.[0];
    const socket = this.socketOf(who, this.frames++);
    if (frame && socket && this.frames % 2 === 0) {
      const { told, answer } = await socket.told(frame as keyof typeof DRIVING_FRAMES, input);
      if (told === 'ok') then(answer.payload as never);
      return told;
    }
    try {
      then(await this.world.call(operation, input, this.people[who].caller));
      return 'ok';
    } catch (error) {
      if (error instanceof ServiceError) return error.code;
      throw error;
    }
  }

  expectLike(session: ModelSession): Promise<void> {
    return expectStored((text, values) => this.sql(text, values), session);
  }

  /** One of the sockets of a person, if there is one. */
  socketOf(person: Person, number: number): RandomSocket | undefined {
    const own = this.sockets.filter((socket) => socket.person === person);
    return own[number % Math.max(own.length, 1)];
  }

  async open(person: Person): Promise<RandomSocket> {
    const socket = new RandomSocket(person, await this.world.client(this.people[person]));
    this.sockets.push(socket);
    return socket;
  }

  async drop(socket: RandomSocket): Promise<void> {
    this.sockets = this.sockets.filter((other) => other !== socket);
    await socket.client[Symbol.asyncDispose]();
  }

  /** Ends the credential of a person, who gets another one. */
  async revoke(person: Person): Promise<void> {
    const { world, people } = this;
    const { id, tokenId, caller } = people[person];
    await world.call(revokeToken, { token_id: tokenId }, world.admin.caller);
    const cutOff = this.sockets.filter((socket) => socket.person === person);
    for (const { client } of cutOff) await client.until(() => client.closed !== undefined, 'the end of a socket');
    expect(cutOff.map(({ client }) => client.closed?.code)).toEqual(cutOff.map(() => REVOKED));
    this.sockets = this.sockets.filter((socket) => socket.person !== person);
    const input = { user_id: id, scope: SCOPES[person], label: person };
    const { secret, token } = await world.call(createToken, input, world.admin.caller);
    people[person] = { id, token: secret, tokenId: token.id, caller: { ...caller, credential_id: token.id } };
  }

  /** Shares the shared node anew, and waits until nobody is told anything of before. */
  async share(readers: readonly Person[]): Promise<void> {
    const recipients = readers.map((person) => ({ kind: 'user' as const, id: this.people[person].id }));
    const visibility = recipients.length > 0 ? 'group' : 'private';
    const input = { node_id: this.nodes.shared ?? '', visibility, recipients, confirmed: true } as const;
    await this.world.call(setAccess, input, this.world.admin.caller);
    await this.passMarker();
  }

  /** Everything but the database ends and begins again. */
  async restart(): Promise<void> {
    this.sockets = [];
    await this.world.restart();
  }

  /** Nobody is connected, and there are no sessions but the marker. */
  async clear(): Promise<void> {
    for (const socket of this.sockets) await this.drop(socket);
    await this.sql('TRUNCATE session.session CASCADE', []);
    this.marker = await this.world.connect(this.nodes.open ?? '', this.world.admin);
    this.states = new Map();
    this.before.clear();
  }

  /** The program of a run writes some events in one call. */
  async say({ id: session_id, owner, run }: ModelSession, count: number): Promise<void> {
    const event = { kind: 'assistant_message', payload: { text: 'x' } } as const;
    const events = Array.from({ length: count }, () => ({ id: randomUUID(), ...event }));
    await this.world.call(appendSessionEvents, { session_id, run_id: run ?? '', events }, this.people[owner].caller);
  }

  /** Changes a node: who watches and sees it is told of it or of everything, who does not see it is not told of it. */
  async touch(model: Model, place: 'open' | 'shared'): Promise<void> {
    const id = this.nodes[place] ?? '';
    const watching = this.sockets.filter(({ isWatching }) => isWatching);
    const hints = watching.map((socket) => socket.hints(id));
    const changes = watching.map((socket) => socket.changes(id));
    await this.change(id);
    const told = watching.filter(({ person }) => model.sees(person, place));
    for (const [index, socket] of watching.entries())
      if (told.includes(socket))
        await socket.client.until(() => socket.hints(id) > (hints[index] ?? 0), 'the change of a node');
    if (place === 'shared') await this.touch(model, 'open');
    for (const [index, socket] of watching.entries())
      if (!told.includes(socket)) expect(socket.changes(id)).toBe(changes[index]);
  }

  /** Waits until every client was sent what it has to be, and looks whether any was sent what it may not see. */
  async settle(model: Model): Promise<void> {
    const changed = model.sessions.filter((session) => this.states.get(session) !== stateOf(session));
    for (const session of changed) {
      this.states.set(session, stateOf(session));
      await this.expectState(model, session, this.sockets);
    }
    for (const socket of this.sockets) {
      for (const sessionId of [...socket.follows.keys()]) await this.expectEvents(model, socket, sessionId);
      this.expectOnlySeen(model, socket);
    }
    const { readers } = model;
    const now = Object.assign(Object.create(model) as Model, { readers });
    this.seen = (person, session) => now.seesSession(person, session);
  }

  /** What a new socket is told at once: everything open that its person sees. */
  async expectGreeting(model: Model, socket: RandomSocket): Promise<void> {
    for (const session of model.sessions.filter(isOpen)) await this.expectState(model, session, [socket]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.world[Symbol.asyncDispose]();
  }

  private async expectState(model: Model, session: ModelSession, sockets: readonly RandomSocket[]): Promise<void> {
    for (const socket of sockets) {
      if (!model.seesSession(socket.person, session)) continue;
      const expected = stateOf(session);
      await socket.client.until(() => socket.state(session.id) === expected, `${expected} for ${socket.person}`);
    }
  }

  /** Each event once and in order; after the last that its person might see, that there is no such session. */
  private async expectEvents(model: Model, socket: RandomSocket, sessionId: string): Promise<void> {
    const session = model.sessions.find(({ id }) => id === sessionId);
    const { after = 0 } = socket.follows.get(sessionId) ?? {};
    const expected = (session?.log ?? []).map((kind, index) => `${index + 1} ${kind}`).slice(after);
    const isSeen = session !== undefined && model.seesSession(socket.person, session);
    if (isSeen)
      await socket.client.until(() => socket.events(sessionId).length >= expected.length, `event ${expected.at(-1)}`);
    else await socket.client.until(() => socket.hasLost(sessionId), 'the end of what is followed');
    const events = socket.events(sessionId);
    expect([socket.person, events]).toEqual([socket.person, isSeen ? expected : expected.slice(0, events.length)]);
    if (!isSeen) socket.follows.delete(sessionId);
  }

  private expectOnlySeen(model: Model, socket: RandomSocket): void {
    for (const { type, payload } of socket.news()) {
      const session = model.sessions.find(({ id }) => id === payload?.session_id);
      if (!session || !['event', 'delta', 'session_state'].includes(type)) continue;
      const isSeen = model.seesSession(socket.person, session) || this.seen(socket.person, session);
      expect([socket.person, type, isSeen]).toEqual([socket.person, type, true]);
    }
  }

  /** Changes something that everybody is told of, after everything before it. */
  private async passMarker(): Promise<void> {
    const { world, sockets, marker } = this;
    const count = ({ client }: RandomSocket): number => client.states(marker.id).length;
    const before = sockets.map(count);
    const input = { session_id: marker.id, name: `Marker ${this.frames++}` };
    await world.call(renameSession, input, world.admin.caller);
    for (const [index, socket] of sockets.entries())
      await socket.client.until(() => count(socket) > (before[index] ?? 0), 'the marker');
  }

  private async change(nodeId: string): Promise<void> {
    const input = { node_id: nodeId, goal: `Goal ${this.frames++}` };
    await this.world.call(updateNode, input, this.world.admin.caller);
  }
}

const stateOf = (session: ModelSession): string => stateText(session.state, waits(session));

import * as fc from 'fast-check';
import { ACTS, type ActWorld, begin, born, chooseRun, type Draw } from './acts.js';
import { type Model, PEOPLE, PLACES } from './model.js';

/** Does something to one of the sessions that there are, and looks whether it is what the model says. */
export class OnSession implements fc.AsyncCommand<Model, ActWorld> {
  constructor(
    private readonly name: string,
    private readonly drawn: Draw & { readonly isOwner: boolean },
  ) {}

  check({ sessions }: Readonly<Model>): boolean {
    return sessions.length > 0;
  }

  async run(model: Model, real: ActWorld): Promise<void> {
    const act = ACTS[this.name];
    // Those made last are met most.
    const session = model.sessions.at(-1 - (this.drawn.number % Math.min(model.sessions.length, 3)));
    if (!act || !session) throw new Error(`There is no ${this.name}`);
    const draw = { ...this.drawn, who: this.drawn.isOwner ? session.owner : this.drawn.who };
    chooseRun(real, session, draw);
    const expected = act.expect(model, session, draw);
    const told = await act.perform(real, session, draw);
    expect([`${this}`, told]).toEqual([`${this}`, expected]);
    await real.expectLike(session);
  }

  toString(): string {
    const { who, number, flag, isOwner } = this.drawn;
    return `${isOwner ? 'its owner' : who} ${this.name} ${number}${flag ? '!' : ''}`;
  }
}

/** An agent connects, or somebody starts a task. */
export class Begin implements fc.AsyncCommand<Model, ActWorld> {
  constructor(
    private readonly origin: 'connection' | 'task',
    private readonly draw: Draw,
  ) {}

  check(): boolean {
    return this.origin === 'connection' || this.draw.place !== 'none';
  }

  async run(model: Model, real: ActWorld): Promise<void> {
    const expected = born(model, this.origin, this.draw);
    const session = typeof expected === 'string' ? { origin: this.origin } : expected;
    const told = await begin(real, session, this.draw);
    expect([`${this}`, told]).toEqual([`${this}`, typeof expected === 'string' ? expected : 'ok']);
    if (typeof expected === 'string') return;
    model.sessions.push(expected);
    await real.expectLike(expected);
  }

  toString(): string {
    return `${this.draw.who} begins a ${this.origin} on ${this.draw.place}`;
  }
}

const draws = fc.record({
  who: fc.constantFrom(...PEOPLE),
  place: fc.constantFrom(...PLACES),
  number: fc.nat(997),
  flag: fc.boolean(),
});
/** Most calls are those of the owner: what others are told is mostly a refusal. */
const acting = fc.tuple(draws, fc.nat(3)).map(([draw, luck]) => ({ ...draw, isOwner: luck > 0 }));
/** What needs something else to have happened before. */
const OFTEN = ['ask', 'ask', 'answer', 'answer', 'answer', 'message', 'message', 'reconnect', 'resume', 'resume'];

/** Whatever people and programs do to sessions, the likelier what leads further. */
export const SESSION_COMMANDS: readonly fc.Arbitrary<fc.AsyncCommand<Model, ActWorld>>[] = [
  ...[...Object.keys(ACTS), ...OFTEN].map((name) =>
    acting.map((draw): fc.AsyncCommand<Model, ActWorld> => new OnSession(name, draw)),
  ),
  draws.map((draw) => new Begin('connection', draw)),
  draws.map((draw) => new Begin('task', draw)),
  draws.map((draw) => new Begin('task', draw)),
];

import fc from 'fast-check';
import {
  MOST_PATHS,
  newWatch,
  planWatch,
  type WatchEvent,
  type WatchOutcome,
  type WatchState,
  type WatchWork,
  watchAfter,
  watchDueAt,
} from './plan-watch.js';

const DEBOUNCE_MS = 300;
const LOOK_MS = 5_000;
const FOUND: WatchOutcome = {
  again: new Map(),
  isIncomplete: false,
  recheckAt: null,
  entries: 10,
  linked: [],
  isAway: false,
};

/** A watch with a clock; each scan ends at once and returns `outcome`. */
class Driver {
  now = 1_000_000;
  state: WatchState = newWatch(DEBOUNCE_MS, this.now);
  outcome: WatchOutcome = FOUND;
  /** When which work began, since the start. */
  readonly done: [number, WatchWork][] = [];
  private readonly startedAt = this.now;

  note(event: WatchEvent): void {
    this.state = watchAfter(this.state, event, this.now);
  }

  report(...changed: string[]): void {
    this.note({ kind: 'reported', changed, unsure: [], isBroken: false });
  }

  /** Lets time pass and does what is due meanwhile. */
  pass(ms: number): void {
    const end = this.now + ms;
    for (let idle = 0; watchDueAt(this.state) <= end; ) {
      this.now = Math.max(this.now, watchDueAt(this.state));
      idle = this.wake() === 'wait' ? idle + 1 : 0;
      if (idle > 2) throw new Error('It is due, and nothing is to be done');
    }
    this.now = end;
  }

  /** What began since the last time, with when. */
  taken(): string[] {
    return this.done.splice(0).map(([at, work]) => `${at - this.startedAt} ${textOf(work)}`);
  }

  begin(): Exclude<WatchWork, { kind: 'linked' }> {
    const { state, work } = planWatch(this.state, this.now);
    this.state = state;
    if (work.kind !== 'wait') this.done.push([this.now, work]);
    if (work.kind === 'linked') return { kind: 'wait' };
    if (work.kind !== 'wait') this.note({ kind: 'began', scope: scopeOf(work) });
    return work;
  }

  private wake(): WatchWork['kind'] {
    const before = this.done.length;
    const work = this.begin();
    if (work.kind !== 'wait')
      this.note({ kind: 'scanned', scope: scopeOf(work), outcome: this.outcome, wasKnown: true });
    return this.done.length > before ? 'all' : 'wait';
  }
}

function scopeOf(work: Exclude<WatchWork, { kind: 'linked' | 'wait' }>): readonly string[] | 'all' {
  return work.kind === 'all' ? 'all' : work.paths;
}

function textOf(work: WatchWork): string {
  if (work.kind === 'all') return work.watch === 'keep' ? 'all' : `${work.watch}, all`;
  return work.kind === 'paths' ? work.paths.join(' ') : work.kind;
}

/** One that scanned all at its start. */
function started(): Driver {
  const driver = new Driver();
  driver.note({ kind: 'opened', identity: '1' });
  driver.pass(0);
  expect(driver.taken()).toEqual(['0 all']);
  return driver;
}

describe('what a watch does', () => {
  it('scans a path once it held still', () => {
    const driver = started();
    driver.report('wip/a');
    driver.pass(200);
    driver.report('wip/a');
    driver.pass(1_000);
    expect(driver.taken()).toEqual(['500 wip/a']);
  });

  it('holds what is due for one more window, for the other half of a move', () => {
    const driver = started();
    driver.report('wip/a');
    driver.pass(100);
    driver.report('wip/b');
    driver.pass(1_000);
    expect(driver.taken()).toEqual(['400 wip/a wip/b']);
    driver.report('wip/a');
    for (let part = 0; part < 20; part += 1) {
      driver.pass(100);
      driver.report('wip/growing');
    }
    expect(driver.taken()).toEqual(['1700 wip/a']);
  });

  it('scans all five seconds after an event, goes on so for ten minutes, and then once a minute', () => {
    const driver = started();
    driver.pass(1_000);
    driver.report('wip/a');
    driver.pass(5_000);
    expect(driver.taken()).toEqual(['1300 wip/a', '5000 all']);
    driver.pass(589_000);
    expect(driver.taken()).toHaveLength(118);
    driver.pass(180_000);
    expect(driver.taken()).toEqual(['600000 all', '605000 all', '665000 all', '725000 all']);
    driver.report('wip/a');
    driver.pass(LOOK_MS);
    expect(driver.taken()).toEqual(['775300 wip/a', '780000 all']);
  });

  it('scans sooner again a mirror that was never known to its end', () => {
    const driver = started();
    driver.pass(3_600_000);
    driver.taken();
    driver.note({ kind: 'scanned', scope: 'all', outcome: FOUND, wasKnown: false });
    expect(watchDueAt(driver.state)).toBe(driver.now + LOOK_MS);
  });

  it.each([
    [
      'very many events',
      (driver: Driver) => driver.report(...Array.from({ length: 1_000 }, (_, at) => `wip/${at % 7}`)),
    ],
    ['folders that may not be watched', (driver: Driver) => driver.note({ kind: 'misled' })],
  ])('scans all, with the watch refreshed, once it is quiet after %s', (_name, happens) => {
    const driver = started();
    happens(driver);
    driver.pass(900);
    driver.report('wip/a');
    driver.pass(1_100);
    expect(driver.taken().at(-1)).toBe('1900 refresh, all');
    driver.pass(LOOK_MS);
    expect(driver.taken()).toEqual(['6900 all']);
  });

  it('scans all where it never falls quiet, and where more paths changed than are kept apart', () => {
    const driver = started();
    driver.note({ kind: 'misled' });
    for (let part = 0; part < 60; part += 1) {
      driver.pass(100);
      driver.report('wip/a');
    }
    expect(driver.taken()).toEqual(['5000 refresh, all']);
    driver.report('wip/a', '');
    driver.pass(400);
    expect(driver.taken()).toEqual(['6300 all']);
    driver.report(...Array.from({ length: MOST_PATHS + 1 }, (_, at) => `wip/${at}`));
    expect(driver.state.dirty.size).toBe(MOST_PATHS);
    driver.pass(2_000);
    expect(driver.taken().at(-1)).toBe('7400 refresh, all');
    expect(driver.state.dirty.size).toBe(0);
  });

  it('reopens a watch that lost events, and scans all', () => {
    const driver = started();
    driver.note({ kind: 'reported', changed: [], unsure: [], isBroken: true });
    driver.note({ kind: 'misled' });
    driver.pass(1_000);
    expect(driver.taken()).toEqual(['1000 reopen, all']);
    driver.note({ kind: 'began', scope: 'all' });
    driver.note({ kind: 'reported', changed: [], unsure: [], isBroken: true });
    driver.note({ kind: 'scanned', scope: 'all', outcome: FOUND, wasKnown: true });
    driver.pass(1_000);
    expect(driver.taken()).toEqual(['1300 reopen, all']);
  });

  it('reopens the watch when the folder goes, comes back, or is another one, and only then', () => {
    const driver = started();
    driver.note({ kind: 'checked', isReady: true, identity: '1' });
    driver.pass(0);
    expect(driver.taken()).toEqual([]);
    driver.outcome = { ...FOUND, isAway: true };
    driver.note({ kind: 'checked', isReady: false, identity: '1' });
    driver.pass(0);
    driver.note({ kind: 'checked', isReady: false, identity: '1' });
    driver.pass(0);
    driver.outcome = FOUND;
    driver.note({ kind: 'checked', isReady: true, identity: '1' });
    driver.pass(0);
    driver.note({ kind: 'checked', isReady: true, identity: '2' });
    driver.pass(0);
    expect(driver.taken()).toEqual(['0 reopen, all', '0 reopen, all', '0 reopen, all']);
  });

  it('asks a system that refuses to watch again within seconds, later and later, at most 30 [watcher.watch-recovers]', () => {
    const driver = new Driver();
    const refuse = (): void => driver.note({ kind: 'refused', trouble: 'a limit' });
    for (let round = 0; round < 8; round += 1) {
      refuse();
      driver.pass(watchDueAt(driver.state) - driver.now);
    }
    expect(driver.taken()).toEqual([
      '0 all',
      '1000 all',
      '3000 all',
      '7000 all',
      '15000 all',
      '31000 all',
      '61000 all',
      '91000 all',
    ]);
    expect(driver.state.trouble).toBe('a limit');
    driver.note({ kind: 'opened', identity: '1' });
    expect(driver.state.trouble).toBeNull();
    refuse();
    driver.outcome = { ...FOUND, entries: 50_000 };
    driver.pass(30_000);
    expect(driver.taken()).toEqual(['121000 all']);
    expect(watchDueAt(driver.state)).toBe(driver.now + 7_500);
  });

  it('tries again later and later, at most 30 seconds, what could not be scanned', () => {
    const driver = started();
    driver.outcome = { ...FOUND, isIncomplete: true };
    driver.report('wip/a');
    driver.pass(4_900);
    expect(driver.taken()).toEqual(['300 wip/a', '1300 wip/a', '3300 wip/a']);
    driver.pass(95_000);
    expect(driver.taken()).toEqual(['5000 all', '13000 all', '29000 all', '59000 all', '89000 all']);
    driver.outcome = FOUND;
    driver.pass(19_200);
    expect(driver.taken()).toEqual(['119000 all']);
    driver.note({ kind: 'failed' });
    expect(watchDueAt(driver.state)).toBe(driver.now + 1_000);
  });

  it('looks again at files that were being written, with the stamp they had, and at absences when they count', () => {
    const driver = started();
    driver.report('wip/a', 'wip/b');
    driver.outcome = { ...FOUND, again: new Map([['wip/a', 'stamp']]), recheckAt: driver.now + 2_000 };
    driver.pass(300);
    expect(driver.state.stamps).toEqual(driver.outcome.again);
    driver.outcome = FOUND;
    driver.pass(2_000);
    expect(driver.taken()).toEqual(['300 wip/a wip/b', '600 wip/a', '2000 all']);
    expect(driver.state.stamps.size).toBe(0);
  });

  it('looks by themselves at files with other names, as often as at all', () => {
    const driver = started();
    driver.note({ kind: 'scanned', scope: ['wip/b'], outcome: { ...FOUND, linked: ['wip/b'] }, wasKnown: true });
    driver.report('wip/a');
    driver.outcome = { ...FOUND, linked: ['wip/a'] };
    driver.pass(300);
    expect([...driver.state.linked]).toEqual(['wip/b', 'wip/a']);
    expect(driver.state.linkedAt).toBe(driver.now + LOOK_MS - 300);
    driver.pass(LOOK_MS);
    expect(driver.taken()).toEqual(['300 wip/a', '5000 all', '5000 linked']);
    expect([...driver.state.linked]).toEqual(['wip/a']);
    driver.outcome = FOUND;
    driver.pass(LOOK_MS);
    expect(driver.taken()).toEqual(['10000 all']);
    expect(driver.state.linkedAt).toBe(Number.POSITIVE_INFINITY);
  });

  it('keeps folders that may not be watched until the next scan, up to a number', () => {
    const driver = started();
    const unsure = Array.from({ length: MOST_PATHS }, (_, at) => `wip/${at}`);
    for (let part = 0; part < 3; part += 1) driver.note({ kind: 'reported', changed: [], unsure, isBroken: false });
    driver.note({ kind: 'reported', changed: [], unsure: ['wip/more'], isBroken: false });
    expect(driver.state.unsure.size).toBe(MOST_PATHS);
    driver.note({ kind: 'began', scope: ['wip/0'] });
    expect(driver.state.unsure.size).toBe(0);
  });
});

/** A watch whose scans take their time, and which changes no scan has begun to look at. */
class BusyDriver extends Driver {
  readonly changedAt = new Map<string, number>();
  private running: ReturnType<Driver['begin']> = { kind: 'wait' };

  change(paths: readonly string[], { times, isBroken }: { times: number; isBroken: boolean }): void {
    for (let time = 0; time < times; time += 1) this.note({ kind: 'reported', changed: paths, unsure: [], isBroken });
    for (const path of paths) this.changedAt.set(path, this.now);
  }

  beginScan(): void {
    if (this.running.kind !== 'wait' || watchDueAt(this.state) > this.now) return;
    this.running = this.begin();
    if (this.running.kind === 'all') this.changedAt.clear();
    for (const path of this.running.kind === 'paths' ? this.running.paths : []) {
      expect(this.now - (this.changedAt.get(path) ?? 0)).toBeGreaterThanOrEqual(DEBOUNCE_MS);
      this.changedAt.delete(path);
    }
  }

  endScan(isIncomplete: boolean): void {
    if (this.running.kind === 'wait') return;
    const scope = scopeOf(this.running);
    this.running = { kind: 'wait' };
    this.note({ kind: 'scanned', scope, outcome: { ...FOUND, isIncomplete }, wasKnown: true });
  }

  /** Whether a scan of the path began in this time. */
  hasScanned(path: string, from: number, to: number): boolean {
    const scans = this.done.filter(([at]) => at >= from && at <= to);
    return scans.some(([, work]) => work.kind === 'all' || (work.kind === 'paths' && work.paths.includes(path)));
  }
}

describe('a watch in any order of what happens', () => {
  const path = fc.constantFrom('wip/a', 'wip/b', 'wip/c', 'outputs/d', '');
  const step = fc.record({
    afterMs: fc.integer({ min: 0, max: 2_000 }),
    changed: fc.array(path, { minLength: 1, maxLength: 4 }),
    times: fc.oneof({ weight: 6, arbitrary: fc.constant(1) }, { weight: 1, arbitrary: fc.constant(1_100) }),
    isBroken: fc.boolean(),
    /** Of the scan that is under way then, if any. */
    endsScan: fc.boolean(),
    isIncomplete: fc.boolean(),
  });

  it('scans each change after it held still, and all within the bound after the last one, and forgets none', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const driver = Object.assign(new BusyDriver(), { state: started().state });
        for (const { afterMs, changed, endsScan, isIncomplete, ...how } of steps) {
          driver.now += afterMs;
          driver.beginScan();
          driver.change(changed, how);
          if (endsScan) driver.endScan(isIncomplete);
        }
        driver.endScan(false);
        const lastAt = driver.now;
        driver.pass(LOOK_MS + DEBOUNCE_MS);
        for (const [each, at] of driver.changedAt) expect(driver.hasScanned(each, at, lastAt + LOOK_MS)).toBe(true);
        expect(driver.hasScanned('', lastAt, lastAt + LOOK_MS) || steps.length === 0).toBe(true);
        expect(driver.state.dirty.size).toBe(0);
      }),
    );
  });
});

/** A reproducible source of choices: the same seed, the same choices. */
export class Random {
  private state: number;

  constructor(seed: number) {
    this.state = seed >>> 0;
  }

  /** In [0, 1). */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let mixed = this.state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  }

  int(below: number): number {
    return Math.floor(this.next() * below);
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** One of the choices; undefined of none. */
  maybe<T>(choices: readonly T[]): T | undefined {
    return choices[this.int(choices.length)];
  }

  pick<T>(choices: readonly T[]): T {
    const choice = this.maybe(choices);
    if (choice === undefined) throw new Error('Nothing to pick from');
    return choice;
  }

  /** Up to `most` different ones, at least one if there is any. */
  some<T>(choices: readonly T[], most: number): T[] {
    const left = [...choices];
    const count = Math.min(left.length, 1 + this.int(most));
    return Array.from({ length: count }, () => left.splice(this.int(left.length), 1)).flat();
  }

  /** One of the keys, each as likely as its weight says. */
  weighted<K extends string>(weights: Readonly<Record<K, number>>): K {
    const entries = Object.entries(weights) as [K, number][];
    let left = this.next() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [key, weight] of entries) {
      left -= weight;
      if (left < 0) return key;
    }
    return this.pick(entries)[0];
  }
}

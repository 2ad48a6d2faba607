/*
 * What thousands of short-lived things pass through must let go of them at once. A `Set` or `Map` does not: each table
 * that it outgrows goes on referring to the next one. One table that has grown old therefore keeps all later ones alive,
 * and with them what was in them, answers of many kilobytes included, until the next collection of the whole heap.
 */

interface Place<T> {
  item: T | undefined;
  index: number;
}

/** What is under way, in no order. */
export class Underway<T> implements Iterable<T> {
  private readonly places: Place<T>[] = [];

  get size(): number {
    return this.places.length;
  }

  /** Answers what ends it; a second end changes nothing. */
  add(item: T): () => void {
    const place: Place<T> = { item, index: this.places.length };
    this.places.push(place);
    return () => this.leave(place);
  }

  has(item: T): boolean {
    return this.places.some((place) => place.item === item);
  }

  /** Those that are under way now; they may end meanwhile. */
  [Symbol.iterator](): Iterator<T> {
    return this.places.map(({ item }) => item as T).values();
  }

  private leave(place: Place<T>): void {
    if (place.item === undefined) return;
    place.item = undefined;
    const last = this.places.pop();
    if (!last || last === place) return;
    last.index = place.index;
    this.places[place.index] = last;
  }
}

/** What is under way, by its key; keys are small. */
export class UnderwayByKey<K, T> {
  private readonly places = new Map<K, { item: T | undefined }>();

  get size(): number {
    return this.places.size;
  }

  get(key: K): T | undefined {
    return this.places.get(key)?.item;
  }

  set(key: K, item: T): void {
    this.delete(key);
    this.places.set(key, { item });
  }

  delete(key: K): void {
    const place = this.places.get(key);
    if (!place) return;
    place.item = undefined;
    this.places.delete(key);
  }

  clear(): void {
    for (const key of [...this.places.keys()]) this.delete(key);
  }

  /** Those that are under way now; they may end meanwhile. */
  values(): T[] {
    return [...this.places.values()].map(({ item }) => item as T);
  }
}

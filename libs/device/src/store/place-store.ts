import type { NodePlace } from '@workspace-graph/contracts';
import type { Sqlite } from './sqlite.js';

/** What was last seen of the nodes that have a folder here; it goes with the folder. */
export class PlaceStore {
  constructor(private readonly sqlite: Sqlite) {}

  /** Those of the nodes that are known; null unless all of them are. */
  recall(nodeIds: readonly string[]): NodePlace[] | null {
    const found = nodeIds.flatMap((id) => this.textOf(id) ?? []);
    return found.length === nodeIds.length ? found.map((text) => JSON.parse(text) as NodePlace) : null;
  }

  /** All that are known. */
  all(): NodePlace[] {
    return this.sqlite
      .all('SELECT place FROM known_places')
      .map((row) => JSON.parse(String(row['place'])) as NodePlace);
  }

  /** Remembers those that have a folder, and forgets those of the asked ones that are not seen any more. */
  remember(asked: readonly string[], seen: readonly NodePlace[]): void {
    const byId = new Map(seen.map((place) => [place.node_id, JSON.stringify(place)]));
    for (const id of asked) {
      const text = byId.get(id) ?? null;
      // Asked about often, and nearly always the same.
      if (text !== this.textOf(id)) this.set(id, text);
    }
  }

  private textOf(id: string): string | null {
    const row = this.sqlite.one('SELECT place FROM known_places WHERE node_id = ?', id);
    return row ? String(row['place']) : null;
  }

  private set(id: string, text: string | null): void {
    if (text === null) return this.sqlite.run('DELETE FROM known_places WHERE node_id = ?', id);
    this.sqlite.run(
      'INSERT OR REPLACE INTO known_places (node_id, place) SELECT node_id, ? FROM local_mirrors WHERE node_id = ?',
      text,
      id,
    );
  }
}

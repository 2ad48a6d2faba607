import type { Asides, MirrorPath } from '@workspace-graph/disk';
import type { AsideRow } from '../store/aside-store.js';

/** A name that was given out for what lay at a path. */
export interface Taken {
  readonly row: AsideRow;
  readonly at: MirrorPath;
  /** Where else that file was to lie; null for nowhere. */
  readonly keptAt: string | null;
  readonly isUseless: boolean;
}

/** What one change takes aside. */
export class TakenAside implements Asides {
  private readonly taken: Pick<Taken, 'row' | 'at'>[] = [];
  private readonly kept = new Map<string, string>();
  private readonly useless = new Set<string>();

  constructor(private readonly rowFor: (at: MirrorPath) => AsideRow) {}

  next(at: MirrorPath): string {
    const row = this.rowFor(at);
    this.taken.push({ row, at });
    return row.id;
  }

  keptAt({ absolute }: MirrorPath, other: string): void {
    this.kept.set(absolute, other);
  }

  discard({ absolute }: MirrorPath): void {
    this.useless.add(absolute);
  }

  all(): Taken[] {
    return this.taken.map(({ row, at }) => ({
      row,
      at,
      keptAt: this.kept.get(at.absolute) ?? null,
      isUseless: this.useless.has(at.absolute),
    }));
  }
}

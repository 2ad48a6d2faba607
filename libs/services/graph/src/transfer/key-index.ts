import type { ValidationIssue } from '@workspace-graph/contracts';
import { newId } from '@workspace-graph/platform';

/** Where a record of a document ends up. */
export interface Resolved {
  readonly id: string;
  readonly isNew: boolean;
}

interface DocumentRecord {
  readonly key: string;
  readonly id?: string | undefined;
}

/**
 * Finds the record behind a key: one of the document first, else one that exists. A record of the document is an
 * existing one when its id or its key is, and a new one otherwise.
 */
export class KeyIndex {
  private readonly byKey = new Map<string, Resolved>();
  private readonly existingIds = new Set<string>();

  constructor(
    private readonly kind: string,
    existing: readonly { readonly id: string; readonly key: string | null }[],
  ) {
    for (const { id, key } of existing) {
      this.existingIds.add(id);
      this.byKey.set(id, { id, isNew: false });
      if (key !== null) this.byKey.set(key, { id, isNew: false });
    }
  }

  /** Takes the records of the document in; `alsoKnownAs` gives further names by which one may exist already. */
  add<R extends DocumentRecord>(
    path: string,
    records: readonly R[],
    issues: ValidationIssue[],
    alsoKnownAs: (record: R) => string | null = () => null,
  ): Resolved[] {
    const seen = new Map<string, number>();
    const taken = new Set<string>();
    const aliases = new Set<string>();
    return records.map((record, index) => {
      const first = seen.get(record.key);
      if (first !== undefined)
        issues.push({
          path: `${path}.${index}.key`,
          message: `the key "${record.key}" is used by ${path}.${first} already`,
        });
      seen.set(record.key, index);
      const alias = alsoKnownAs(record);
      const resolved = this.resolve(record, alias);
      if (first === undefined && (taken.has(resolved.id) || (alias !== null && aliases.has(alias))))
        issues.push({
          path: `${path}.${index}`,
          message: `is the same ${this.kind} as another record of the document`,
        });
      taken.add(resolved.id);
      if (alias !== null) aliases.add(alias);
      this.byKey.set(record.key, resolved);
      return resolved;
    });
  }

  /** The id behind a reference; an unknown key is noted as a problem. */
  reference(key: string | null | undefined, path: string, issues: ValidationIssue[]): string | null {
    if (key === null || key === undefined) return null;
    const found = this.byKey.get(key);
    if (!found)
      issues.push({
        path,
        message: `there is no ${this.kind} with the key "${key}", neither in the document nor in the workspace`,
      });
    return found?.id ?? null;
  }

  private resolve(record: DocumentRecord, alias: string | null): Resolved {
    if (record.id !== undefined && this.existingIds.has(record.id)) return { id: record.id, isNew: false };
    const known = this.byKey.get(record.key) ?? (alias === null ? undefined : this.byKey.get(alias));
    return known ?? { id: record.id ?? newId(), isNew: true };
  }
}

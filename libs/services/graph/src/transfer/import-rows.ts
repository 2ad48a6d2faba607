export type Row = Readonly<Record<string, unknown>>;

/** Rows ready for the database, references resolved to ids. Field names are those of the import statements. */
export interface ImportPlan {
  readonly users: readonly Row[];
  readonly groups: readonly Row[];
  readonly members: readonly Row[];
  readonly actors: readonly Row[];
  readonly nodes: readonly Row[];
  readonly shares: readonly Row[];
  readonly responsibilities: readonly Row[];
  readonly links: readonly Row[];
  readonly edges: readonly Row[];
  readonly events: readonly Row[];
  /** New ones alone: what is there already follows what is on disk. */
  readonly files: readonly Row[];
  readonly accessRequests: readonly Row[];
  readonly audit: readonly Row[];
}

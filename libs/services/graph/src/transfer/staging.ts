import { LIMITS, type ValidationIssue } from '@workspace-graph/contracts';
import type { Statement, StatementRunner } from '@workspace-graph/database';
import { LISTS, type ListName } from './document-reader.js';
import type { ReadRecord } from './record-reader.js';
import { ADD_ISSUES, ADD_RECORDS, ADD_REFERENCES, ADD_STATED_IDS, CREATE_STAGING } from './staging.statements.js';

/** JSON text that goes to the database at once. */
const BATCH_BYTES = 256 * 1_024;
/** What a reference or an id takes of it, about. */
const NOTE_BYTES = 100;

/** Puts the records of a document into temporary tables of a connection, a batch at a time. */
export class Staging {
  private readonly rows = new Map<ListName, string[]>(LISTS.map((list) => [list, []]));
  private references: object[] = [];
  private statedIds: object[] = [];
  private issues: object[] = [];
  private bytes = 0;
  private found = 0;

  constructor(private readonly runner: StatementRunner) {}

  async create(): Promise<void> {
    await this.runner.execute(CREATE_STAGING, []);
  }

  get isFull(): boolean {
    return this.bytes >= BATCH_BYTES;
  }

  /** Problems so far; those beyond the limit are counted alone. */
  get issueCount(): number {
    return this.found;
  }

  add({ list, place, row, issues, references, statedIds }: ReadRecord): void {
    if (row !== null) {
      const text = JSON.stringify([place, row]);
      this.rows.get(list)?.push(text);
      this.bytes += text.length;
    }
    this.bytes += NOTE_BYTES * (references.length + statedIds.length);
    for (const reference of references) this.references.push({ list, place, ...reference });
    for (const stated of statedIds) this.statedIds.push({ list, place, ...stated });
    for (const { path, message } of issues) this.addIssue({ list, place, path, message });
  }

  /** Notes what is wrong with the document as a whole. */
  addOfDocument(issues: readonly ValidationIssue[]): void {
    for (const { path, message } of issues) this.addIssue({ list: null, place: null, path, message });
  }

  async flush(): Promise<void> {
    for (const [list, texts] of this.rows) {
      if (texts.length > 0) await this.runner.execute(ADD_RECORDS[list], [`[${texts.splice(0).join(',')}]`]);
    }
    await this.send(ADD_REFERENCES, this.references);
    await this.send(ADD_STATED_IDS, this.statedIds);
    await this.send(ADD_ISSUES, this.issues);
    [this.references, this.statedIds, this.issues, this.bytes] = [[], [], [], 0];
  }

  private async send(sql: Statement, rows: readonly object[]): Promise<void> {
    if (rows.length > 0) await this.runner.execute(sql, [JSON.stringify(rows)]);
  }

  private addIssue(issue: object): void {
    this.found += 1;
    if (this.found <= LIMITS.importIssues) this.issues.push(issue);
  }
}

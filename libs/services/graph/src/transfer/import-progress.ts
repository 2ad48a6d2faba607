import { type StatementRunner, statement } from '@workspace-graph/database';

export type Stage = 'reading' | 'checking' | 'writing';

/**
 * Tells how far an import is, in the name of its connection: everybody who may look at the activity of the database sees
 * it there at once, and it is gone with the connection.
 */
export class ImportProgress {
  private told = '';

  constructor(private readonly runner: Pick<StatementRunner, 'execute'>) {}

  async report(stage: Stage, done: number, total: number): Promise<void> {
    const percent = total > 0 ? Math.min(100, Math.floor((100 * done) / total)) : 0;
    const text = `import ${stage} ${percent}%`;
    if (text === this.told) return;
    this.told = text;
    await this.runner.execute(TELL, [text]);
  }
}

/** Behind the first word of the name that the connection came with. */
const TELL = statement(
  'import.tell_progress',
  `
  SELECT set_config('application_name', regexp_replace(reset_val, '^\\S*', '\\& ' || $1::text), false)
  FROM pg_settings WHERE name = 'application_name'`,
);

export const LIST_PROGRESS = statement(
  'import.list_progress',
  `
  SELECT json_build_object('items', coalesce(json_agg(json_build_object(
    'stage', found[1], 'percent', found[2]::int, 'started_at', graph.iso(backend_start)) ORDER BY backend_start), '[]'))::text AS json
  FROM pg_stat_activity CROSS JOIN LATERAL regexp_match(application_name, ' import (reading|checking|writing) ([0-9]+)%') found
  WHERE datname = current_database() AND found IS NOT NULL`,
);

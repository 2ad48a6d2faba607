import { Link } from '@tanstack/react-router';
import { CircleCheck } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { grouped } from '../i18n/grouped';
import { AccessQuestion } from '../node/access-question';
import { carryOut, check, forget } from './importing';
import type { Report } from './send-document';

interface OutcomeProps {
  readonly document: File;
  /** Null where a check was abandoned. */
  readonly report: Report | null;
}

/** What an import would change, and the way to carry it out; what it has changed afterwards. */
export function Outcome({ document, report }: OutcomeProps) {
  const { t } = useTranslation();
  if (!report)
    return (
      <div className="row">
        <p className="t2">{t('transfer.abandoned')}</p>
        <button type="button" className="btn sm push" onClick={() => void check(document)}>
          {t('transfer.check')}
        </button>
      </div>
    );
  const isNothing = [report.created, report.updated].every((counts) => Object.keys(counts).length === 0);
  if (report.applied)
    return (
      <>
        <div className="banner ok" role="status">
          <CircleCheck className="i" aria-hidden="true" />
          <div className="b">
            <strong>{t('transfer.imported')}</strong>
            <div className="acts">
              <Link className="btn sm" to="/graph">
                {t('transfer.to_graph')}
              </Link>
            </div>
          </div>
        </div>
        <Counts report={report} />
      </>
    );
  return (
    <>
      <p role="status">{t(isNothing ? 'transfer.nothing' : 'transfer.would')}</p>
      <Counts report={report} />
      {report.preview ? (
        <AccessQuestion
          preview={report.preview}
          confirm={t('transfer.import_anyway')}
          onConfirm={() => carryOut(true)}
          onCancel={forget}
        />
      ) : (
        !isNothing && (
          <button type="button" className="btn primary" onClick={() => void carryOut(false)}>
            {t('transfer.carry_out')}
          </button>
        )
      )}
    </>
  );
}

/** As the document orders them; others come after them. */
const KINDS = [
  'users',
  'groups',
  'members',
  'actors',
  'nodes',
  'responsibilities',
  'links',
  'edges',
  'events',
  'files',
  'access_requests',
  'audit',
];
const COLUMNS = ['created', 'updated', 'unchanged'] as const;

function Counts({ report }: { readonly report: Report }) {
  const { t, i18n } = useTranslation();
  const told = new Set(COLUMNS.flatMap((column) => Object.keys(report[column])));
  const kinds = [...KINDS.filter((kind) => told.delete(kind)), ...told];
  if (kinds.length === 0) return null;
  return (
    <table className="counts num">
      <thead>
        <tr>
          <th scope="col">{t('transfer.kind_of_record')}</th>
          {COLUMNS.map((column) => (
            <th key={column} scope="col">
              {t(`transfer.${column}`)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {kinds.map((kind) => (
          <tr key={kind}>
            <th scope="row">{t(`transfer.kind.${kind}`, { defaultValue: kind })}</th>
            {COLUMNS.map((column) => (
              <td key={column} className={report[column][kind] ? undefined : 't3'}>
                {grouped(report[column][kind] ?? 0, i18n.language)}
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

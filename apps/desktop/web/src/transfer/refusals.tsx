import { useClipboard } from '@mantine/hooks';
import { Refusal } from '@workspace-graph/client';
import { LIMITS, type ValidationIssue } from '@workspace-graph/contracts';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Problem } from '../parts/problem';
import { sizeText } from '../parts/sizes';
import { carryOut, check, type Importing, TooLarge } from './importing';
import { DocumentGone } from './send-document';

/** Shown at first, and more at a time. */
const STEP = 50;

/** Why a document was not taken, at its places, and what can be done about it. Nothing of it was imported. */
export function Refusals({ importing: { document, report, error } }: { readonly importing: Importing }) {
  const { t, i18n } = useTranslation();
  if (error instanceof TooLarge || error instanceof DocumentGone)
    return (
      <p className="refused" role="alert">
        {error instanceof TooLarge
          ? t('transfer.too_large', { size: sizeText(LIMITS.importBytes, i18n.language) })
          : t('transfer.gone')}
      </p>
    );
  const issues = issuesOf(error);
  if (issues.length > 0) return <Issues issues={issues} total={totalOf(error) ?? issues.length} document={document} />;
  // What was checked already is sent again with its key: it is carried out once.
  const again = () => void (report ? carryOut(report.preview !== null) : check(document));
  return <Problem error={error} onRetry={again} />;
}

interface IssuesProps {
  readonly document: File;
  readonly issues: readonly ValidationIssue[];
  /** Those that are not listed too. */
  readonly total: number;
}

function Issues({ document, issues, total }: IssuesProps) {
  const { t } = useTranslation();
  const clipboard = useClipboard();
  const [shown, setShown] = useState(STEP);
  const text = issues.map(({ path, message }) => `${path}\t${message}`).join('\n');
  return (
    <div className="issues">
      <div role="alert">
        <strong>{t('transfer.issues', { count: total })}</strong>
        <p className="t2">{t('transfer.issues_help')}</p>
      </div>
      <ul aria-label={t('transfer.issues_list')}>
        {issues.slice(0, shown).map(({ path, message }, at) => (
          <li key={at}>
            <code>{path || t('transfer.whole')}</code> <span className="words">{message}</span>
          </li>
        ))}
      </ul>
      {total > issues.length && shown >= issues.length && (
        <p className="t3">{t('transfer.issues_more', { count: total - issues.length })}</p>
      )}
      <div className="row acts">
        {shown < issues.length && (
          <button type="button" className="btn sm" onClick={() => setShown(shown + STEP)}>
            {t('transfer.issues_next')}
          </button>
        )}
        <button type="button" className="btn sm" onClick={() => clipboard.copy(text)}>
          {t(clipboard.copied ? 'settings.copied' : 'transfer.issues_copy')}
        </button>
        <button type="button" className="btn sm" onClick={() => void check(document)}>
          {t('transfer.check')}
        </button>
      </div>
    </div>
  );
}

function issuesOf(error: unknown): readonly ValidationIssue[] {
  const issues = error instanceof Refusal ? error.body.details?.['issues'] : undefined;
  return Array.isArray(issues) ? (issues as readonly ValidationIssue[]) : [];
}

function totalOf(error: unknown): number | undefined {
  const count = error instanceof Refusal ? error.body.details?.['issue_count'] : undefined;
  return typeof count === 'number' ? count : undefined;
}

import { Link } from '@tanstack/react-router';
import { SearchX } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { Head } from '../shell/head';

/** What an address shows that leads nowhere. */
export function NotHere() {
  const { t } = useTranslation();
  return (
    <main className="view" id="content">
      <Head title={t('problem.not_found')} />
      <div className="empty whole">
        <SearchX className="i" aria-hidden="true" />
        <b>{t('problem.no_view')}</b>
        <p>{t('problem.no_view_why')}</p>
        <Link className="btn" to="/overview">
          {t('problem.to_overview')}
        </Link>
      </div>
    </main>
  );
}

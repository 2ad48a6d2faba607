import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';

export function NotHere() {
  const { t } = useTranslation();
  return (
    <main className="view" id="content">
      <div className="empty">
        <b>{t('problem.no_view')}</b>
        <Link className="btn" to="/overview">
          {t('problem.to_overview')}
        </Link>
      </div>
    </main>
  );
}

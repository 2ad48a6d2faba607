import { useMutation } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { FlaskConical } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import type { Language } from '../i18n';
import { Refused } from '../parts/problem';
import { importWhole } from '../transfer/importing';
import { DEMO_NODES, demoDocument } from './demo';
import { Way } from './way';

/** An invented organization, imported like any other document. */
export function LoadDemo() {
  const { t, i18n } = useTranslation();
  const navigate = useNavigate();
  const load = useMutation({
    mutationFn: async () => {
      await importWhole(await demoDocument(i18n.language as Language));
      await navigate({ to: '/graph' });
    },
  });
  return (
    <Way
      icon={FlaskConical}
      title={t('start.demo')}
      text={t('start.demo_help', { count: DEMO_NODES })}
      below={load.error && <Refused error={load.error} />}
    >
      <button
        type="button"
        className="btn"
        aria-disabled={load.isPending || undefined}
        onClick={() => !load.isPending && load.mutate()}
      >
        {t(load.isPending ? 'start.demo_loading' : 'start.demo_load')}
      </button>
    </Way>
  );
}

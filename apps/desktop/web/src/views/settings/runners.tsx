import { useQuery } from '@tanstack/react-query';
import { listRunners, type Runner } from '@workspace-graph/contracts';
import { Bot, Check, Minus } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { client } from '../../api/client';
import { Ghosts } from '../../parts/ghosts';
import { Problem } from '../../parts/problem';

/** The programs that can carry out tasks here. */
export function Runners() {
  const { t } = useTranslation();
  const { data, error, refetch } = useQuery({
    queryKey: ['runners'],
    queryFn: ({ signal }) => client.call(listRunners, {}, { signal }),
  });
  if (error) return <Problem error={error} onRetry={() => void refetch()} />;
  if (!data) return <Ghosts rows={2} height={55} />;
  if (data.items.length === 0)
    return (
      <p className="row">
        <Bot className="i" aria-hidden="true" />
        {t('runners.none')}
      </p>
    );
  return (
    <ul className="rows">
      {data.items.map((runner) => (
        <RunnerRow key={runner.id} runner={runner} />
      ))}
    </ul>
  );
}

function RunnerRow({ runner: { name, installed, logged_in } }: { readonly runner: Runner }) {
  const { t } = useTranslation();
  return (
    <li className="trk row">
      <span className="med cut" title={name}>
        {name}
      </span>
      <Fact isSo={installed} text={t(installed ? 'runners.installed' : 'runners.not_installed')} />
      <Fact isSo={logged_in} text={t(logged_in ? 'runners.logged_in' : 'runners.not_logged_in')} />
    </li>
  );
}

function Fact({ isSo, text }: { readonly isSo: boolean; readonly text: string }) {
  const Icon = isSo ? Check : Minus;
  return (
    <span className={isSo ? 'fs ok' : 'fs'}>
      <Icon className="i" aria-hidden="true" />
      {text}
    </span>
  );
}

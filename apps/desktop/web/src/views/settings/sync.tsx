import { useQuery } from '@tanstack/react-query';
import { getSyncHealth, type OutputOf, readMembership } from '@workspace-graph/contracts';
import { EyeOff, FolderLock, HardDrive, TriangleAlert } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { client } from '../../api/client';
import { isLocalWorkspace, isOnThisMachine } from '../../api/page-facts';
import { Copy } from '../../parts/copy';
import { useMoments } from '../../parts/moments';
import { NodeLink } from '../../parts/node-link';
import { Problem } from '../../parts/problem';
import { Row } from './row';

type Health = OutputOf<typeof getSyncHealth>;
const MOST_SHOWN = 5;

/** Who keeps the files, and what of them cannot be followed. */
export function Sync() {
  const { t } = useTranslation();
  if (!isOnThisMachine)
    return (
      <Row label={t('sync.server')}>
        <span className="mono">{location.origin}</span>
      </Row>
    );
  return (
    <>
      {isLocalWorkspace ? (
        <div className="banner">
          <HardDrive className="i" aria-hidden="true" />
          <div className="b">
            <strong>{t('sync.local')}</strong>
            <p>{t('sync.local_help')}</p>
          </div>
        </div>
      ) : (
        <Centre />
      )}
      <Folders />
    </>
  );
}

/** The central workspace that this workstation belongs to, and whether it can be reached now. */
function Centre() {
  const { t } = useTranslation();
  const { data, error, refetch } = useQuery({
    queryKey: ['membership'],
    queryFn: ({ signal }) => client.call(readMembership, {}, { signal }),
  });
  if (error) return <Problem error={error} onRetry={() => void refetch()} />;
  const membership = data?.membership;
  if (!membership) return <span className="sk" />;
  return (
    <>
      <Row label={t('sync.server')}>
        <span className="mono">{membership.url}</span>
      </Row>
      <Row label={t('sync.state')}>
        <span role="status">{t(`sync.states.${membership.state}`)}</span>
        {membership.problem !== null && (
          <span className="t3 f12" lang="en">
            {membership.problem}
          </span>
        )}
      </Row>
    </>
  );
}

function useHealth() {
  return useQuery({
    enabled: isOnThisMachine,
    queryKey: ['sync', 'health'],
    queryFn: ({ signal }) => client.call(getSyncHealth, {}, { signal }),
    // Scans and failures are told of; how many files there are is not.
    staleTime: 0,
  });
}

/** Beside the name of this section while something in it is to be looked at. */
export function SyncMark() {
  const { t } = useTranslation();
  const { data } = useHealth();
  if (!data || data.failures.length + data.set_aside.length === 0) return null;
  return (
    <span className="look" title={t('sync.look')}>
      <TriangleAlert className="i s14" aria-hidden="true" />
      <span className="vh">{t('sync.look')}</span>
    </span>
  );
}

function Folders() {
  const { t } = useTranslation();
  const { data, error, refetch } = useHealth();
  if (error) return <Problem error={error} onRetry={() => void refetch()} />;
  return (
    <>
      <Row label={t('sync.folders')}>{data ? <Counts health={data} /> : <span className="sk" />}</Row>
      <Row label={t('sync.watcher')}>{data ? t(data.watching ? 'sync.on' : 'sync.off') : <span className="sk" />}</Row>
      {data && data.failures.length > 0 && <Failures health={data} />}
      {data && data.set_aside.length > 0 && <SetAside health={data} />}
    </>
  );
}

function Counts({ health: { mirrors, mirrors_missing, files } }: { readonly health: Health }) {
  const { t } = useTranslation();
  const facts = [
    t('sync.mirrors', { count: mirrors }),
    t('sync.files', { count: files }),
    ...(mirrors_missing > 0 ? [t('sync.missing', { count: mirrors_missing })] : []),
  ];
  return <span className="num">{facts.join(' · ')}</span>;
}

/** What could not be taken in, the newest first. */
function Failures({ health: { failures, failures_complete } }: { readonly health: Health }) {
  const { t } = useTranslation();
  const moments = useMoments();
  const shown = failures.slice(0, MOST_SHOWN);
  return (
    <div className="banner wait">
      <EyeOff className="i" aria-hidden="true" />
      <div className="b">
        <strong>
          {failures_complete
            ? t('sync.failures', { count: failures.length })
            : t('sync.failures_more', { count: failures.length })}
        </strong>
        <ul className="stack">
          {shown.map(({ node, path, message, at }) => (
            <li key={`${node.id} ${path} ${at}`}>
              <NodeLink node={node} /> {path !== '' && <bdi className="mono wrap">{path}</bdi>}
              <small>
                {message} · {moments.short(at)}
              </small>
            </li>
          ))}
        </ul>
        {shown.length < failures.length && (
          <p>
            {t('sync.and_more', { count: failures.length - shown.length })} <code>svc status --json</code>
          </p>
        )}
      </div>
    </div>
  );
}

/** Folders of nodes that were seen here once, with files that are nowhere else. */
function SetAside({ health: { set_aside } }: { readonly health: Health }) {
  const { t } = useTranslation();
  const moments = useMoments();
  return (
    <div className="banner wait">
      <FolderLock className="i" aria-hidden="true" />
      <div className="b">
        <strong>{t('sync.set_aside', { count: set_aside.length })}</strong>
        <p>{t('sync.set_aside_help')}</p>
        <ul className="stack">
          {set_aside.map(({ path, files, at }) => (
            <li key={path}>
              <div className="row">
                <bdi className="mono wrap">{path}</bdi>
                <Copy text={path} label={t('sync.copy_path', { path })} isSmall />
              </div>
              <small>
                {t('sync.files', { count: files })} · {moments.short(at)}
              </small>
            </li>
          ))}
        </ul>
      </div>
    </div>
  );
}

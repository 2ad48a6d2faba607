import { Tabs } from '@mantine/core';
import { useSessionStorage } from '@mantine/hooks';
import { Refusal } from '@workspace-graph/client';
import { LIMITS, type Node, WORKING_TYPES } from '@workspace-graph/contracts';
import { lazy, Suspense } from 'react';
import { useTranslation } from 'react-i18next';
import { Count } from '../parts/count';
import { Ghosts } from '../parts/ghosts';
import { Problem } from '../parts/problem';
import { Ask } from './ask-access';
import { Duties } from './duties';
import { Edges } from './edges';
import { TextSection } from './field';
import { Files } from './files/files';
import { Head } from './head';
import { Links } from './links';
import { rightsOn, useMe, useNode } from './node-query';
import { Properties } from './properties';
import { Sessions } from './sessions';
import { Sharing } from './sharing';
import { Timeline } from './timeline';

const History = lazy(() => import('./history/history'));

const TABS = ['detail', 'files', 'events', 'sessions'] as const;
type Tab = (typeof TABS)[number] | 'history';

/** No node, or no id of one. */
const ABSENT = new Set(['NODE_NOT_FOUND', 'VALIDATION_FAILED']);

interface NodeDetailProps {
  readonly nodeId: string;
  /** Closes the pane; absent where the detail is a view of its own. */
  readonly onClose?: () => void;
  /** Leaves a node that is not there; closing does so where it is absent. */
  readonly onLeave?: () => void;
}

/** Everything about a node, editable where it stands. */
export function NodeDetail({ nodeId, onClose, onLeave = onClose }: NodeDetailProps) {
  const { data: node, error, refetch } = useNode(nodeId);
  if (error instanceof Refusal && ABSENT.has(error.code))
    return <Ask nodeId={nodeId} isNoId={error.code !== 'NODE_NOT_FOUND'} onClose={onLeave} />;
  if (error && !node) return <Problem error={error} onRetry={() => void refetch()} />;
  if (!node) return <Skeleton />;
  return <Detail key={node.id} node={node} onClose={onClose} onLeave={onLeave} />;
}

interface DetailProps {
  readonly node: Node;
  readonly onClose: (() => void) | undefined;
  readonly onLeave: (() => void) | undefined;
}

function Detail({ node, onClose, onLeave }: DetailProps) {
  const { t } = useTranslation();
  const { mayWrite, mayManage } = rightsOn(node, useMe());
  // The tab stays when another node is selected.
  const [chosen, setTab] = useSessionStorage<Tab>({
    key: 'svc:node.tab',
    defaultValue: 'detail',
    getInitialValueInEffect: false,
  });
  const tab = chosen === 'history' && !mayManage ? 'detail' : chosen;
  const isWorking = (WORKING_TYPES as readonly string[]).includes(node.type);
  return (
    <>
      <Head node={node} mayManage={mayManage} onClose={onClose} onLeave={onLeave} />
      <Tabs
        className="tabbed"
        unstyled
        classNames={{ list: 'tabs', tab: 'tab', panel: 'scroll' }}
        value={tab}
        // Hidden at leisure otherwise: what was opened would be there or not, by how fast somebody comes back.
        keepMounted={false}
        onChange={(value) => setTab(value as Tab)}
      >
        <Tabs.List aria-label={t('node.parts')}>
          {TABS.map((name) => (
            <Tabs.Tab key={name} value={name}>
              {t(`node.tab.${name}`)}
              <TabCount node={node} tab={name} />
            </Tabs.Tab>
          ))}
          {mayManage && <Tabs.Tab value="history">{t('history.tab')}</Tabs.Tab>}
        </Tabs.List>
        <Tabs.Panel value="detail">
          <Properties node={node} mayManage={mayManage} />
          <TextSection node={node} field="description" mayManage={mayManage} />
          <TextSection node={node} field="goal" mayManage={mayManage} />
          <Sharing node={node} mayManage={mayManage} />
          {isWorking && (
            <>
              <Duties node={node} mayManage={mayManage} />
              <Links node={node} kind="data_sources" mayManage={mayManage} />
              <Links node={node} kind="tools" mayManage={mayManage} />
            </>
          )}
          <Edges node={node} mayManage={mayManage} />
        </Tabs.Panel>
        <Tabs.Panel value="files">
          <Files node={node} mayWrite={mayWrite} />
        </Tabs.Panel>
        <Tabs.Panel value="events">
          <Timeline node={node} mayWrite={mayWrite} />
        </Tabs.Panel>
        <Tabs.Panel value="sessions">
          <Sessions node={node} />
        </Tabs.Panel>
        {mayManage && (
          <Tabs.Panel value="history">
            <Suspense fallback={<Ghosts rows={12} height={52} label={t('history.loading')} />}>
              <History node={node} />
            </Suspense>
          </Tabs.Panel>
        )}
      </Tabs>
    </>
  );
}

/** How many the node itself tells of, and whether there are more; nothing where it does not tell, or there are none. */
function TabCount({
  node: { files, recent_events: events, sessions },
  tab,
}: {
  readonly node: Node;
  readonly tab: Tab;
}) {
  const counts = {
    files: { of: files.items.length, isCut: !files.complete },
    events: { of: events.length, isCut: events.length >= LIMITS.nodeEvents },
    sessions: { of: sessions },
    detail: { of: 0 },
    history: { of: 0 },
  } as const satisfies Record<Tab, object>;
  if (counts[tab].of === 0) return null;
  return (
    <>
      {' '}
      <Count {...counts[tab]} className="count num" />
    </>
  );
}

/** Head, tabs, properties and sections, as high as they will be. */
function Skeleton() {
  const { t } = useTranslation();
  return (
    <div className="scroll" role="status" aria-label={t('node.loading')}>
      <div className="dh">
        <Ghosts rows={2} height={29} label={null} />
      </div>
      <div className="tabs">
        <Ghosts rows={1} height={36} label={null} />
      </div>
      <div className="props">
        <Ghosts rows={5} height={28} label={null} />
        <Ghosts rows={5} height={28} label={null} />
      </div>
      {[2, 2, 2, 2, 2, 3].map((rows, at) => (
        <div key={at} className="ds">
          <Ghosts rows={rows} height={24} label={null} />
        </div>
      ))}
    </div>
  );
}

import { useQuery } from '@tanstack/react-query';
import { type Device, listDevices, readMembership, revokeDevice } from '@workspace-graph/contracts';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { change } from '../../api/change';
import { client, queries } from '../../api/client';
import { isLocalWorkspace, isOnThisMachine } from '../../api/page-facts';
import { useMe } from '../../node/node-query';
import { WithCommands } from '../../parts/commands';
import { Confirm } from '../../parts/confirm';
import { Ghosts } from '../../parts/ghosts';
import { useMoments } from '../../parts/moments';
import { Problem } from '../../parts/problem';
import { tell } from '../../parts/toasts';
import { Row } from './row';

const MOST_SHOWN = 100;

/** The machines that keep folders of nodes. */
export function Devices() {
  const { t } = useTranslation();
  if (!isLocalWorkspace) return <Joined />;
  return (
    <>
      <Row label={t('devices.this')}>{t('devices.this_help')}</Row>
      <Row label={t('devices.others')}>
        <p>{t('devices.local')}</p>
        <a className="link" href="#tokens">
          {t('devices.tokens')}
        </a>
      </Row>
    </>
  );
}

/** Those of a central workspace that this person, or this token, may see. */
function Joined() {
  const { t } = useTranslation();
  const { data, error, refetch } = useQuery({
    queryKey: ['devices'],
    queryFn: ({ signal }) => client.call(listDevices, { limit: MOST_SHOWN }, { signal }),
  });
  const here = useQuery({
    enabled: isOnThisMachine,
    queryKey: ['membership'],
    queryFn: ({ signal }) => client.call(readMembership, {}, { signal }),
  }).data?.membership?.device.id;
  if (error) return <Problem error={error} onRetry={() => void refetch()} />;
  if (!data) return <Ghosts rows={3} height={55} />;
  return (
    <>
      <ul className="stack">
        {data.items.map((device) => (
          <Machine key={device.id} device={device} isHere={device.id === here} />
        ))}
      </ul>
      {data.items.length === 0 && <p>{t('devices.none')}</p>}
      <p className="f12 t3">
        <WithCommands text="devices.invite" values={{ command: 'svc device invite', join: 'svc join' }} />
      </p>
    </>
  );
}

function Machine({ device, isHere }: { readonly device: Device; readonly isHere: boolean }) {
  const { t } = useTranslation();
  const moments = useMoments();
  const me = useMe();
  const [isEnding, setEnding] = useState(false);
  // A device ends no other one of its person: whoever has its token would end those that could revoke it.
  const mayEnd = !isHere && (!isOnThisMachine || me.scope === 'manage');
  const { name, user, joined_at, last_seen_at } = device;
  const facts = [
    user.name,
    t('devices.joined', { time: moments.short(joined_at) }),
    last_seen_at === null ? t('devices.never_seen') : t('devices.seen', { time: moments.short(last_seen_at) }),
  ];
  const end = async () => {
    await change(revokeDevice, { device_id: device.id });
    setEnding(false);
    tell(t('devices.is_revoked', { name }));
    await queries.invalidateQueries({ queryKey: ['devices'] });
  };
  return (
    <li className="trk">
      <div className="row">
        <span className="med cut" title={name}>
          {name}
        </span>
        {device.scope && <span className="chip line">{t(`tokens.scope.${device.scope}`)}</span>}
        {isHere && <span className="chip ok">{t('devices.this')}</span>}
        {mayEnd && !isEnding && (
          <button type="button" className="btn sm push" onClick={() => setEnding(true)}>
            {t('devices.revoke')}
            <span className="vh"> {name}</span>
          </button>
        )}
      </div>
      <p className="f12 t3">{facts.join(' · ')}</p>
      {isEnding && (
        <Confirm
          title={t('devices.revoke_title', { name })}
          action={t('devices.revoke')}
          onConfirm={end}
          onLeave={() => setEnding(false)}
        >
          <p>{t('devices.revoke_ends')}</p>
        </Confirm>
      )}
    </li>
  );
}

import { useTranslation } from 'react-i18next';
import { isLocalWorkspace } from '../../api/page-facts';
import { Row } from './row';

/** The machines that keep folders of nodes: so far there is one, or none that the interface tells of. */
export function Devices() {
  const { t } = useTranslation();
  return (
    <>
      {isLocalWorkspace && <Row label={t('devices.this')}>{t('devices.this_help')}</Row>}
      <Row label={t('devices.others')}>
        <p>{t(isLocalWorkspace ? 'devices.local' : 'devices.central')}</p>
        <a className="link" href="#tokens">
          {t('devices.tokens')}
        </a>
      </Row>
    </>
  );
}

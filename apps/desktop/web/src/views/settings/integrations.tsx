import { useLocalStorage } from '@mantine/hooks';
import { useId } from 'react';
import { useTranslation } from 'react-i18next';
import { Row } from './row';

/** What works together with other programs of this machine. */
export function Integrations() {
  const { t } = useTranslation();
  const id = useId();
  const [isOn, setOn] = useLocalStorage({
    key: 'svc:presentations',
    defaultValue: false,
    getInitialValueInEffect: false,
  });
  return (
    <Row label={t('integrations.presentations')} help={t('integrations.presentations_help')} labelId={id}>
      <span className="row">
        <button
          type="button"
          className="switch"
          role="switch"
          aria-checked={isOn}
          aria-labelledby={id}
          onClick={() => setOn(!isOn)}
        />
        <span className="t2">{t(isOn ? 'integrations.on' : 'integrations.off')}</span>
      </span>
    </Row>
  );
}

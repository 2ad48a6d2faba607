import { useTranslation } from 'react-i18next';
import { COMMAND_KEY } from '../parts/command-key';
import { Dialog } from '../parts/dialog';
import { GO_TO } from './keys';

/** What keys do, by where they do it: first what is the same in every view. */
const EVERYWHERE = [
  ['palette', 'Ctrl K'],
  ['rows', 'J', 'K', '↑', '↓'],
  ['open', 'Enter'],
  ['answer', '1 … 9'],
  ['undo', 'Ctrl Z'],
  ['leave', 'Esc'],
  ['help', '?'],
] as const;
const OVERVIEW = [['refresh', 'R']] as const;
const GRAPH = [
  ['search', '/'],
  ['list', 'L'],
  ['walk', '←', '↑', '→', '↓'],
  ['zoom', '−', '+', '0', 'F'],
] as const;
const WORKSPACE = [['detail', 'Ctrl .']] as const;
const NODE = [
  ['save', 'Ctrl Enter'],
  ['move_duty', 'Alt ↑', 'Alt ↓'],
  ['rename', 'F2'],
  ['save_file', 'Ctrl S'],
] as const;
type Row = (typeof EVERYWHERE | typeof OVERVIEW | typeof GRAPH | typeof WORKSPACE | typeof NODE)[number];

/** All keys of the page. */
export function KeysDialog({ opened, onClose }: { readonly opened: boolean; readonly onClose: () => void }) {
  const { t } = useTranslation();
  return (
    <Dialog opened={opened} onClose={onClose} title={t('keys.title')} size="47rem">
      <div className="keys">
        <div>
          <Group title={t('keys.everywhere')} rows={EVERYWHERE} />
          <Views />
        </div>
        <div>
          <Group title={t('view.overview')} rows={OVERVIEW} />
          <Group title={t('view.graph')} rows={GRAPH} />
          <Group title={t('view.workspace')} rows={WORKSPACE} />
          <Group title={t('keys.node')} rows={NODE} />
        </div>
      </div>
    </Dialog>
  );
}

function Group({ title, rows }: { readonly title: string; readonly rows: readonly Row[] }) {
  const { t } = useTranslation();
  return (
    <section>
      <h3>{title}</h3>
      <dl>
        {rows.map(([name, ...keys]) => (
          <div key={name}>
            <dt>{t(`keys.${name}`)}</dt>
            <dd>
              {keys.map((key) => (
                <kbd key={key}>{key.replace('Ctrl', COMMAND_KEY)}</kbd>
              ))}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

/** The letters that go to views. */
function Views() {
  const { t } = useTranslation();
  return (
    <section>
      <h3>{t('shell.views')}</h3>
      <dl>
        {Object.entries(GO_TO).map(([key, view]) => (
          <div key={key}>
            <dt>{t(`view.${view}`)}</dt>
            <dd>
              <kbd>G</kbd> {t('keys.and_then')} <kbd>{key.toUpperCase()}</kbd>
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

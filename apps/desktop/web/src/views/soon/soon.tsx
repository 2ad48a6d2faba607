import { RefreshCw } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { WithCommands } from '../../parts/commands';
import { Head } from '../../shell/head';

const ICONS = { sync: RefreshCw };
/** What does it until then. */
const COMMANDS = { sync: 'svc status' };

/** The place of a view that is not there yet: what it will do, and what does it until then. */
export function Soon({ view }: { readonly view: keyof typeof ICONS }) {
  const { t } = useTranslation();
  const Icon = ICONS[view];
  return (
    <main className="view" id="content">
      <Head title={t(`view.${view}`)} />
      <div className="empty whole">
        <Icon className="i" aria-hidden="true" />
        <b>{t(`soon.${view}.title`)}</b>
        <p>
          <WithCommands text={`soon.${view}.text`} values={{ command: COMMANDS[view] }} />
        </p>
      </div>
    </main>
  );
}

import {
  ArrowDown,
  ArrowUp,
  CircleAlert,
  Cloud,
  CloudDownload,
  CloudOff,
  FileX2,
  GitCompareArrows,
  type LucideIcon,
} from 'lucide-react';
import { useTranslation } from 'react-i18next';
import type { ToldClass } from './file-states';

const MARKS: Readonly<Record<ToldClass, readonly [LucideIcon, string]>> = {
  push: [ArrowUp, 'flow'],
  pull: [ArrowDown, 'flow'],
  new_remote: [CloudDownload, 'flow'],
  conflict: [GitCompareArrows, 'wait'],
  deleted_local: [FileX2, 'wait'],
  remote_missing: [CloudOff, 'wait'],
  remote_error: [CircleAlert, 'bad'],
  native: [Cloud, 'rest'],
};

/** The state of a file that is not clean, by a sign and a word. */
export function StateMark({ state }: { readonly state: ToldClass }) {
  const { t } = useTranslation();
  const [Icon, tone] = MARKS[state];
  return (
    <span className={`fs ${tone}`}>
      <Icon className="i" aria-hidden="true" />
      {t(`files.state.${state}`)}
    </span>
  );
}

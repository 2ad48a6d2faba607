import type { EventKind } from '@workspace-graph/contracts';
import { useTranslation } from 'react-i18next';
import { PickOne } from './pick-one';

/** The kinds of events, in the order in which they are offered. */
export const EVENT_KINDS = [
  'note',
  'decision',
  'discovery',
  'blocker',
  'milestone',
  'reference',
  'change',
] as const satisfies readonly EventKind[];

interface EventKindFilterProps {
  /** Empty: all kinds. */
  readonly value: EventKind | '';
  readonly onPick: (value: EventKind | '') => void;
}

/** Which kind of events a list shows. */
export function EventKindFilter({ value, onPick }: EventKindFilterProps) {
  const { t } = useTranslation();
  return (
    <PickOne
      label={t('events.filter')}
      className="ghosted"
      options={[
        { value: '' as const, text: t('events.all') },
        ...EVENT_KINDS.map((kind) => ({ value: kind, text: t(`event.${kind}`) })),
      ]}
      value={value}
      onPick={onPick}
    />
  );
}

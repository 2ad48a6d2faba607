import { useQuery } from '@tanstack/react-query';
import { listAudit } from '@workspace-graph/contracts';
import { TriangleAlert } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { client } from '../api/client';
import { useNames } from './history/names';
import { wordsOf } from './history/value';
import { type Chosen, type ChosenMeanwhile, chosenOf } from './node-update';

/** Changes among which the one that was in the way is looked for. */
const LOOKED_AT = 20;

interface MeanwhileProps {
  readonly conflict: ChosenMeanwhile;
  /** Sets it nevertheless; `text`: what is told of it. */
  readonly onKeep: (conflict: ChosenMeanwhile, text: string) => void;
  readonly onTake: () => void;
}

/** What was chosen, what somebody else has chosen meanwhile, and the choice between them. */
export function Meanwhile({ conflict, onKeep, onTake }: MeanwhileProps) {
  const { t } = useTranslation();
  const { what, current } = conflict;
  const [field = 'lifecycle'] = Object.keys(what) as (keyof Chosen)[];
  const { data } = useQuery({
    queryKey: ['node', current.id, 'meanwhile', current.version],
    queryFn: ({ signal }) => client.call(listAudit, { target_id: current.id, limit: LOOKED_AT }, { signal }),
  });
  const theirs = chosenOf(current, what);
  const name = data?.items.find(({ after }) => after && field in after)?.user?.name;
  const nameOf = useNames([{ before: { ...theirs }, after: { ...what } }]);
  const words = (values: Chosen) => wordsOf(t, field, values[field], { node: current, nameOf });
  const [value, title] = [words(theirs), t(`history.field.${field}`)];
  return (
    <div className="banner wait" role="alert">
      <TriangleAlert className="i" aria-hidden="true" />
      <div className="b">
        <strong>{t('meanwhile.title', { field: title })}</strong>
        <p>{name === undefined ? t('meanwhile.by_somebody', { value }) : t('meanwhile.by', { name, value })}</p>
        <p>{t('meanwhile.mine', { value: words(what) })}</p>
        <div className="acts">
          <button type="button" className="btn sm" onClick={() => onKeep(conflict, `${title}: ${words(what)}`)}>
            {t('edit.keep_mine')}
          </button>
          <button type="button" className="btn sm" onClick={onTake}>
            {t('edit.take_theirs')}
          </button>
        </div>
      </div>
    </div>
  );
}

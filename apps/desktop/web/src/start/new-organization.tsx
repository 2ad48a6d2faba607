import { useNavigate } from '@tanstack/react-router';
import { createNode } from '@workspace-graph/contracts';
import { Plus } from 'lucide-react';
import { type FormEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useChange } from '../api/change';
import { queries } from '../api/client';
import { useKept } from '../parts/kept';
import { useOneAtATime } from '../parts/one-at-a-time';
import { Refused } from '../parts/problem';
import { leadTo } from '../parts/returned-focus';
import { Way } from './way';

/** The first organization: a name is enough, and it is shown in the graph. */
export function NewOrganization() {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const [isOpen, setOpen] = useState(false);
  const [name, setName, forget] = useKept('first organization');
  const create = useChange(createNode, null);
  const [make, isMaking] = useOneAtATime(async () => {
    const { id } = await create.mutateAsync({ type: 'organization', name });
    forget();
    leadTo(id);
    await navigate({ to: '/graph', search: { node: id } });
    for (const queryKey of [['graph'], ['overview']]) void queries.invalidateQueries({ queryKey });
    return true;
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    make();
  };
  return (
    <Way
      icon={Plus}
      title={t('start.create')}
      text={t('start.create_help')}
      below={
        isOpen && (
          <form className="adder" onSubmit={submit}>
            <label className="field">
              <span className="lbl">{t('start.name')}</span>
              <input
                className="input"
                value={name}
                // biome-ignore lint/a11y/noAutofocus: it was opened to be written into
                autoFocus
                onChange={(event) => setName(event.currentTarget.value)}
                onKeyDown={(event) => event.key === 'Escape' && setOpen(false)}
              />
            </label>
            <Refused error={create.error} />
            <div className="row acts">
              <button type="submit" className="btn primary sm" aria-disabled={isMaking || undefined}>
                {t('create.submit')}
              </button>
              <button type="button" className="btn ghost sm" onClick={() => setOpen(false)}>
                {t('edit.cancel')}
              </button>
            </div>
          </form>
        )
      }
    >
      <button type="button" className="btn" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
        {t('start.create_open')}
      </button>
    </Way>
  );
}

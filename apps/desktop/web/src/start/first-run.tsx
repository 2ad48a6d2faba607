import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { FileUp } from 'lucide-react';
import { type DragEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { queries } from '../api/client';
import { TYPES } from '../graph/filters';
import { useMe } from '../node/node-query';
import { TypeGlyph } from '../parts/type-glyph';
import { useTitle } from '../shell/head';
import { ChooseDocument } from '../transfer/choose-document';
import { check } from '../transfer/importing';
import { overviewQuery } from '../views/overview/overview-data';
import { LoadDemo } from './load-demo';
import { NewOrganization } from './new-organization';
import { Picture } from './picture';
import { Way } from './way';

/** How to begin: three ways, and a picture of what will appear. `isEmpty`: in place of the overview of an empty workspace. */
export default function FirstRun({ isEmpty = false }: { readonly isEmpty?: boolean }) {
  const { t } = useTranslation();
  const navigate = useNavigate();
  const me = useMe();
  const title = t(isEmpty ? 'start.empty' : 'start.title');
  const [isOver, setOver] = useState(false);
  const mayBegin = me.scope === 'manage';
  useTitle(title);
  useEndOfEmptiness(isEmpty);
  const take = (file: File | undefined) => {
    if (!file || !mayBegin) return;
    void check(file);
    void navigate({ to: '/transfer' });
  };
  const onDrop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    take(event.dataTransfer.files[0]);
  };
  return (
    <main
      className="view start"
      id="content"
      onDragOver={(event) => {
        event.preventDefault();
        setOver(mayBegin);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={onDrop}
    >
      <div className="words-side">
        <div>
          <h1>{title}</h1>
          <p className="t2 f14">{t('start.about')}</p>
          {mayBegin ? (
            <ul className="ways">
              <Way icon={FileUp} title={t('start.import')} text={t('start.import_help')}>
                <ChooseDocument className="btn primary" onChoose={take} />
              </Way>
              <NewOrganization />
              <LoadDemo />
            </ul>
          ) : (
            <p className="banner">{t('start.not_yours')}</p>
          )}
          {isOver && <p className="drop">{t('transfer.drop')}</p>}
        </div>
      </div>
      <div className="art-side">
        <Picture />
        <ul className="key" aria-label={t('start.shapes')}>
          {TYPES.map((type) => (
            <li className="row" key={type}>
              <TypeGlyph type={type} />
              <span>{t(`type.${type}`)}</span>
            </li>
          ))}
        </ul>
      </div>
    </main>
  );
}

/** Somebody else may be the first to make a node: what is told to have changed of the graph is looked at. */
function useEndOfEmptiness(isEmpty: boolean): void {
  useQuery({
    enabled: isEmpty,
    queryKey: ['graph', 'emptiness'],
    initialData: null,
    // However long somebody stays elsewhere, what was told there is looked at here.
    gcTime: Number.POSITIVE_INFINITY,
    queryFn: async () => {
      await queries.fetchQuery({ ...overviewQuery, staleTime: 0 });
      return null;
    },
  });
}

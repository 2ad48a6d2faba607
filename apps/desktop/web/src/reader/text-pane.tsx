import { Check, CircleDot, FileX2, GitCompareArrows, Info } from 'lucide-react';
import { lazy, type ReactNode, Suspense, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Ghosts } from '../parts/ghosts';
import { Refused } from '../parts/problem';
import { sizeText } from '../parts/sizes';
import { tell } from '../parts/toasts';
import type { FilePlace } from './addresses';
import { BEGINNING_BYTES, type Content } from './content';
import { draftOf, keepDraft } from './drafts';
import { hasWindowsLines } from './editor/line-ends';
import { useTextFile } from './saving';

const Code = lazy(() => import('./editor/code'));
const Compare = lazy(() => import('./editor/compare'));

const GHOSTS = <Ghosts rows={12} height={20} />;

interface TextPaneProps {
  readonly place: FilePlace;
  readonly name: string;
  readonly content: Content | undefined;
  readonly mayWrite: boolean;
  /** The file is not there any more. */
  readonly isGone: boolean;
}

/** The text of a file: written, saved, and compared with what somebody else has written meanwhile. */
export function TextPane({ place, name, content, mayWrite, isGone }: TextPaneProps) {
  const { t } = useTranslation();
  const file = useTextFile(place, content, isGone);
  const [wantsSave, setWantsSave] = useState(false);
  const { meanwhile, text } = file;
  const isEditable = mayWrite && content?.isWhole !== false;
  const theirs = meanwhile?.kind === 'changed' ? meanwhile.theirs : null;
  const save = () => {
    setWantsSave(true);
    if (meanwhile === null) file.save();
  };
  const leave = (note: string) => {
    const left = draftOf(place);
    file.leave();
    setWantsSave(false);
    tell(note, () => Promise.resolve(keepDraft(place, left)));
  };
  const discard = () => leave(t('reader.discarded', { name }));
  if (theirs && wantsSave)
    return (
      <>
        <Sides
          isSaving={file.isSaving}
          onMine={() => file.insist(theirs)}
          onTheirs={() => leave(t('reader.taken', { name }))}
          onBack={() => setWantsSave(false)}
        />
        <Failure error={file.error} />
        <Suspense fallback={<div className="compare">{GHOSTS}</div>}>
          <Compare
            path={place.path}
            mine={text}
            theirs={theirs.text}
            onChange={file.write}
            onSave={() => file.insist(theirs)}
          />
        </Suspense>
      </>
    );
  return (
    <>
      {isEditable && <Tools file={file} onSave={save} onDiscard={discard} />}
      {theirs && <Changed onCompare={() => setWantsSave(true)} />}
      {meanwhile?.kind === 'gone' && <GoneMeanwhile onCreate={file.createAgain} onDiscard={discard} />}
      <Failure error={file.error} />
      {content && <Extent content={content} />}
      <Suspense fallback={<div className="code">{GHOSTS}</div>}>
        <Code
          // What ends its lines otherwise is another text to the editor.
          key={String(hasWindowsLines(text))}
          label={t('reader.text_of', { name })}
          path={place.path}
          text={text}
          isReadOnly={!isEditable}
          onChange={(next) => {
            setWantsSave(false);
            file.write(next);
          }}
          onSave={save}
        />
      </Suspense>
    </>
  );
}

interface ToolsProps {
  readonly file: ReturnType<typeof useTextFile>;
  readonly onSave: () => void;
  readonly onDiscard: () => void;
}

function Tools({ file: { draft, isSaving, isSaved }, onSave, onDiscard }: ToolsProps) {
  const { t } = useTranslation();
  const isIdle = draft === null || isSaving;
  return (
    <div className="row reader-tools">
      <button
        type="button"
        className="btn primary sm"
        aria-disabled={isIdle || undefined}
        title={draft === null ? t('reader.nothing_to_save') : 'Ctrl S'}
        onClick={() => !isIdle && onSave()}
      >
        {isSaving ? t('edit.saving') : t('edit.save')}
      </button>
      {draft !== null && (
        <button type="button" className="btn ghost sm" onClick={onDiscard}>
          {t('reader.discard')}
        </button>
      )}
      <span role="status">
        {draft !== null && (
          <span className="chip wait">
            <CircleDot className="i" aria-hidden="true" />
            {t('reader.unsaved')}
          </span>
        )}
        {isSaved && (
          <span className="chip ok">
            <Check className="i" aria-hidden="true" />
            {t('reader.saved')}
          </span>
        )}
      </span>
      <span className="f12 t3 push">
        <kbd>Ctrl S</kbd>
      </span>
    </div>
  );
}

interface SidesProps {
  readonly isSaving: boolean;
  readonly onMine: () => void;
  readonly onTheirs: () => void;
  readonly onBack: () => void;
}

/** What can be done with either side stands above it. */
function Sides({ isSaving, onMine, onTheirs, onBack }: SidesProps) {
  const { t } = useTranslation();
  return (
    <>
      <div className="banner wait" role="alert">
        <GitCompareArrows className="i" aria-hidden="true" />
        <div className="b">
          <strong>{t('reader.changed')}</strong>
          <p>{t('reader.compare_help')}</p>
        </div>
        <button type="button" className="btn ghost sm" onClick={onBack}>
          {t('reader.back')}
        </button>
      </div>
      <div className="sides">
        <div className="row mine">
          <strong className="grow">{t('reader.mine')}</strong>
          <button type="button" className="btn primary sm" aria-disabled={isSaving || undefined} onClick={onMine}>
            {t('reader.keep_mine')}
          </button>
        </div>
        <div className="row theirs">
          <strong className="grow">{t('reader.theirs')}</strong>
          <button type="button" className="btn sm" onClick={onTheirs}>
            {t('reader.take_theirs')}
          </button>
        </div>
      </div>
    </>
  );
}

interface MeanwhileProps {
  readonly title: string;
  readonly text: string;
  readonly icon: typeof Info;
  readonly children: ReactNode;
}

/** What has become of the file meanwhile, and what can be done. */
function Notice({ title, text, icon: Icon, children }: MeanwhileProps) {
  return (
    <div className="banner wait" role="alert">
      <Icon className="i" aria-hidden="true" />
      <div className="b">
        <strong>{title}</strong>
        <p>{text}</p>
        <div className="acts">{children}</div>
      </div>
    </div>
  );
}

function Changed({ onCompare }: { readonly onCompare: () => void }) {
  const { t } = useTranslation();
  return (
    <Notice icon={GitCompareArrows} title={t('reader.changed')} text={t('reader.changed_help')}>
      <button type="button" className="btn sm" onClick={onCompare}>
        {t('reader.compare')}
      </button>
    </Notice>
  );
}

interface GoneMeanwhileProps {
  readonly onCreate: () => void;
  readonly onDiscard: () => void;
}

function GoneMeanwhile({ onCreate, onDiscard }: GoneMeanwhileProps) {
  const { t } = useTranslation();
  return (
    <Notice icon={FileX2} title={t('reader.gone')} text={t('reader.gone_help')}>
      <button type="button" className="btn sm" onClick={onCreate}>
        {t('reader.create_again')}
      </button>
      <button type="button" className="btn ghost sm" onClick={onDiscard}>
        {t('reader.discard')}
      </button>
    </Notice>
  );
}

function Failure({ error }: { readonly error: unknown }) {
  return error ? (
    <div className="reader-note">
      <Refused error={error} />
    </div>
  ) : null;
}

/** Says so where not all of a text is shown, or where it is too long to be rendered. */
function Extent({ content: { isWhole, sizeBytes, kind } }: { readonly content: Content }) {
  const { t, i18n } = useTranslation();
  const size = (bytes: number) => sizeText(bytes, i18n.language);
  if (isWhole || kind === 'image') return null;
  return (
    <p className="reader-note">
      <Info className="i s14" aria-hidden="true" />
      {t('reader.beginning', { shown: size(BEGINNING_BYTES), whole: size(sizeBytes) })}
    </p>
  );
}

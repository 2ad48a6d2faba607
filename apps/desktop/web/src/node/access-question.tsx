import type { AccessPreview } from '@workspace-graph/contracts';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { Question } from '../parts/confirm';
import { useOneAtATime } from '../parts/one-at-a-time';

interface AccessQuestionProps {
  readonly preview: AccessPreview | null;
  /** Stands before what the change does to access. */
  readonly title?: string;
  /** What else it does. */
  readonly detail?: ReactNode;
  /** What is done. */
  readonly confirm: string;
  /** Awaited: what is pressed meanwhile does nothing. */
  readonly onConfirm: () => unknown;
  readonly onCancel: () => void;
}

/** Who gains and who loses access, before it happens. */
export function AccessQuestion({ preview, title, detail, confirm, onConfirm, onCancel }: AccessQuestionProps) {
  const { t } = useTranslation();
  const [act, isSending] = useOneAtATime(async () => {
    await onConfirm();
  });
  return (
    <Question
      look="wait"
      title={title ?? t('access.question')}
      action={confirm}
      isSending={isSending}
      onAct={act}
      onLeave={onCancel}
    >
      {preview && <AccessEffect preview={preview} />}
      {detail}
    </Question>
  );
}

function AccessEffect({ preview: { gains, loses, opens_to_everyone, complete } }: { readonly preview: AccessPreview }) {
  const { t } = useTranslation();
  const names = (list: AccessPreview['gains']) =>
    list
      .slice(0, 5)
      .map(({ user_name }) => user_name)
      .join(', ') + (list.length > 5 ? '…' : '');
  return (
    <>
      {opens_to_everyone > 0 && <p>{t('access.opens', { count: opens_to_everyone })}</p>}
      {gains.length > 0 && <p>{t('access.gains', { count: gains.length, names: names(gains) })}</p>}
      {loses.length > 0 && <p>{t('access.loses', { count: loses.length, names: names(loses) })}</p>}
      {gains.length + loses.length + opens_to_everyone === 0 && <p>{t('access.nobody')}</p>}
      {!complete && <p>{t('access.more')}</p>}
    </>
  );
}

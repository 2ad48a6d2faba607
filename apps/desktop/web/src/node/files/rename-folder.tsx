import { type InputOf, LIMITS, type OutputOf, renameFolder } from '@workspace-graph/contracts';
import { FolderPen } from 'lucide-react';
import { type FormEvent, type KeyboardEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { change, HalfDone, refreshNode } from '../../api/change';
import { Question } from '../../parts/confirm';
import { useOneAtATime } from '../../parts/one-at-a-time';
import { Refused } from '../../parts/problem';
import { moveDraft } from '../../reader/drafts';

type Renamed = OutputOf<typeof renameFolder>;

interface RenameFolderProps {
  readonly nodeId: string;
  readonly prefix: string;
  readonly count: number;
  readonly onDone: () => void;
}

/** Renames a folder file by file: first it is shown what would happen, then it is confirmed. */
export function RenameFolder({ nodeId, prefix, onDone }: RenameFolderProps) {
  const { t } = useTranslation();
  const [name, setName] = useState(prefix);
  const [preview, setPreview] = useState<Renamed | null>(null);
  const [remaining, setRemaining] = useState<number | null>(null);
  const [error, setError] = useState<unknown>(null);
  const input = {
    node_id: nodeId,
    old_prefix: prefix,
    new_prefix: name.replace(/\/+$/, ''),
    limit: LIMITS.renameFolderMax,
  };
  const guard = async (act: () => Promise<void>) => {
    setError(null);
    try {
      await act();
    } catch (cause) {
      setError(cause);
    }
  };
  const ask = (event: FormEvent) => {
    event.preventDefault();
    if (input.new_prefix === prefix) return onDone();
    void guard(async () => setPreview(await change(renameFolder, { ...input, dry_run: true })));
  };
  const [apply, isRenaming] = useOneAtATime(() =>
    guard(async () => {
      await renameAll(input, setRemaining);
      onDone();
    }),
  );
  const staying = preview?.renamed.filter(({ problem }) => problem !== null) ?? [];
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Escape') return;
    event.stopPropagation();
    onDone();
  };
  return (
    <form className="adder padded" onSubmit={ask} onKeyDown={onKeyDown}>
      <input
        className="input"
        aria-label={t('files.folder_name')}
        value={name}
        // biome-ignore lint/a11y/noAutofocus: it was opened to be written into
        autoFocus
        onChange={(event) => {
          setName(event.currentTarget.value);
          setPreview(null);
        }}
      />
      <Refused error={error} />
      {preview === null ? (
        <div className="row">
          <button type="submit" className="btn primary sm">
            {t('files.rename_preview')}
          </button>
          <button type="button" className="btn ghost sm" onClick={onDone}>
            {t('edit.cancel')}
          </button>
        </div>
      ) : (
        <Question
          icon={FolderPen}
          look="wait"
          title={t('files.rename_question', { count: preview.remaining, to: input.new_prefix })}
          action={t('files.rename_confirm')}
          isSending={isRenaming}
          onAct={apply}
          onLeave={onDone}
        >
          {staying.length > 0 && <p>{t('files.staying', { count: staying.length })}</p>}
          <ul className="mono wrap">
            {staying.map(({ file_id, from, problem }) => (
              <li key={file_id}>
                {from}: <span lang="en">{problem}</span>
              </li>
            ))}
          </ul>
          {remaining !== null && <p role="status">{t('files.remaining', { count: remaining })}</p>}
        </Question>
      )}
    </form>
  );
}

type Wanted = Omit<InputOf<typeof renameFolder>, 'dry_run'>;

/** Renames file by file, and tells how many are left. @throws Refusal, Unreachable, Error */
async function renameAll(wanted: Wanted, onRemaining: (count: number) => void): Promise<void> {
  const { node_id: nodeId } = wanted;
  try {
    for (let left = Number.POSITIVE_INFINITY, isMoving = true; isMoving; ) {
      const { renamed, remaining, hint } = await change(renameFolder, { ...wanted, dry_run: false });
      for (const { from, to, problem } of renamed)
        if (problem === null) moveDraft({ nodeId, path: from }, { nodeId, path: to });
      onRemaining(remaining);
      if (hint !== null) throw new HalfDone(hint);
      // What cannot be moved stays, and is not tried for ever.
      isMoving = remaining > 0 && remaining < left;
      left = remaining;
    }
  } finally {
    await refreshNode(nodeId);
  }
}

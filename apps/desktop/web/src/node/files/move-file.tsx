import { type InputOf, moveFile, SECTIONS, type Section } from '@workspace-graph/contracts';
import { type FormEvent, type KeyboardEvent, use, useId, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { change, HalfDone, refreshNode, useChange } from '../../api/change';
import { PickOne } from '../../parts/pick-one';
import { Refused } from '../../parts/problem';
import { showError, tell } from '../../parts/toasts';
import { moveDraft } from '../../reader/drafts';
import type { TrackedFile } from './files-query';
import { FolderNames } from './folder-names';
import { placeOf } from './folder-tree';

type Place = Pick<InputOf<typeof moveFile>, 'new_section' | 'new_subpath' | 'new_filename'>;

/** Moves or renames a file of a node, and offers to take it back. */
export function useMove({ id, node_id, path, section, subpath, filename, version }: TrackedFile, onDone: () => void) {
  const { t } = useTranslation();
  const move = useChange(moveFile, node_id);
  const to = async (place: Place): Promise<void> => {
    try {
      // Awaited, since its row goes to another folder with it.
      const input = { file_id: id, node_id, ...place, expected_version: version, confirmed: true };
      const { to: there, file, hint } = await move.mutateAsync(input);
      onDone();
      moveDraft({ nodeId: node_id, path }, { nodeId: node_id, path: there.path });
      if (hint !== null) return showError(new HalfDone(hint));
      const back = async () => {
        const former = { new_section: section, new_subpath: subpath, new_filename: filename };
        await change(moveFile, { ...input, ...former, expected_version: file?.version });
        moveDraft({ nodeId: node_id, path: there.path }, { nodeId: node_id, path });
        await refreshNode(node_id);
      };
      tell(t('files.moved', { path: there.path }), file ? back : undefined);
    } catch {
      // What it was refused with is shown below the field.
    }
  };
  return { to, error: move.error, isPending: move.isPending };
}

interface MoveProps {
  readonly file: TrackedFile;
  readonly onDone: () => void;
}

/** Another section or folder for a file, asked under its row. */
export function MoveFile({ file, onDone }: MoveProps) {
  const { t } = useTranslation();
  const folders = useId();
  const [section, setSection] = useState<Section>(file.section);
  const [subpath, setSubpath] = useState(file.subpath ?? '');
  const move = useMove(file, onDone);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    const new_subpath = subpath.replace(/^\/+|\/+$/g, '') || null;
    if (section === file.section && new_subpath === file.subpath) return onDone();
    void move.to({ new_section: section, new_subpath });
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Escape') return;
    event.stopPropagation();
    onDone();
  };
  const known = use(FolderNames).flatMap((prefix) => {
    const place = placeOf(prefix);
    return place.section === section && place.subpath !== null ? [place.subpath] : [];
  });
  return (
    <form
      className="adder padded"
      onSubmit={submit}
      onKeyDown={onKeyDown}
      aria-label={t('files.move', { name: file.filename })}
    >
      <div className="row">
        <PickOne
          label={t('files.section')}
          options={SECTIONS.map((value) => ({ value, text: `${value}/` }))}
          value={section}
          onPick={setSection}
        />
        <input
          className="input"
          aria-label={t('files.folder')}
          placeholder={t('files.folder_hint')}
          list={folders}
          value={subpath}
          // biome-ignore lint/a11y/noAutofocus: it was opened to be written into
          autoFocus
          onChange={(event) => setSubpath(event.currentTarget.value)}
        />
        <datalist id={folders}>
          {known.map((folder) => (
            <option key={folder} value={folder} />
          ))}
        </datalist>
      </div>
      <Refused error={move.error} />
      <div className="row">
        <button type="submit" className="btn primary sm" aria-disabled={move.isPending || undefined}>
          {t('files.move_here')}
        </button>
        <button type="button" className="btn ghost sm" onClick={onDone}>
          {t('edit.cancel')}
        </button>
      </div>
    </form>
  );
}

import { useSessionStorage } from '@mantine/hooks';
import { type Node, updateNode } from '@workspace-graph/contracts';
import { Pencil } from 'lucide-react';
import { type KeyboardEvent, type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { change, refreshNode } from '../api/change';
import { COMMAND_KEY } from '../parts/command-key';
import { IconButton } from '../parts/icon-button';
import { Refused } from '../parts/problem';
import { useFocusBack } from '../parts/returned-focus';
import { tell } from '../parts/toasts';
import { TooLong } from '../parts/too-long';
import { EditedMeanwhile } from './edited-meanwhile';
import { putOnto } from './node-update';

export type TextField = 'name' | 'description' | 'goal';

/** What is being written in place of a text. Kept by the browser tab, so that no way out of the view loses it. */
interface Draft {
  readonly text: string;
  /** What it is to replace. */
  readonly base: string;
}

/**
 * Writes one text of a node. Where only other fields changed meanwhile, it is put onto those; where this very text did,
 * nothing is written and the text that stands there now is answered. @throws Refusal, Unreachable
 */
function write(nodeId: string, field: TextField, { text, base }: Draft): Promise<string | null> {
  return putOnto(nodeId, async (current) => {
    if (current[field] !== base) return current[field] === text ? null : current[field];
    await change(updateNode, { node_id: nodeId, [field]: text, expected_version: current.version });
    return null;
  });
}

/** The state of one text that can be edited where it stands. */
export function useTextField(node: Node, field: TextField) {
  const [draft, setDraft, forget] = useSessionStorage<Draft | null>({
    key: `svc:draft ${node.id} ${field}`,
    defaultValue: null,
    getInitialValueInEffect: false,
  });
  const [isSaving, setSaving] = useState(false);
  const [error, setError] = useState<unknown>(null);
  /** What somebody else has written there meanwhile. */
  const [theirs, setTheirs] = useState<string | null>(null);
  const { t } = useTranslation();
  const end = () => {
    forget();
    setError(null);
    setTheirs(null);
  };
  const leave = () => {
    const left = draft;
    end();
    if (left && left.text !== left.base) tell(t('edit.left'), () => Promise.resolve(setDraft(left)));
  };
  const save = async (given: Draft) => {
    setSaving(true);
    setError(null);
    try {
      const other = await write(node.id, field, given);
      await refreshNode(node.id);
      if (other === null) end();
      else setTheirs(other);
    } catch (cause) {
      setError(cause);
    } finally {
      setSaving(false);
    }
  };
  return {
    draft,
    isSaving,
    error,
    theirs,
    edit: () => setDraft({ text: node[field], base: node[field] }),
    write: (text: string) => draft && setDraft({ ...draft, text }),
    save: () => draft && save(draft),
    /** Writes over what somebody else has written, which has been shown. */
    insist: () => draft && theirs !== null && save({ text: draft.text, base: theirs }),
    /** Gives up what was written; its note takes that back. */
    leave,
  };
}

interface EditorProps {
  readonly field: ReturnType<typeof useTextField>;
  readonly label: string;
  readonly isOneLine?: boolean;
}

/** The text while it is written: kept on Save or Ctrl-Enter, left on Cancel or Escape. */
export function TextEditor({ field, label, isOneLine = false }: EditorProps) {
  const { t } = useTranslation();
  const { draft, isSaving, error, theirs, save, insist, write, leave } = field;
  if (draft === null) return null;
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') leave();
    else if (event.key === 'Enter' && (isOneLine || event.ctrlKey || event.metaKey)) void save();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const given = {
    className: 'input',
    'aria-label': label,
    value: draft.text,
    autoFocus: true,
    onKeyDown,
    onChange: ({ currentTarget }: { readonly currentTarget: { readonly value: string } }) => write(currentTarget.value),
  };
  return (
    <div className="editor">
      {isOneLine ? (
        <input {...given} />
      ) : (
        <textarea {...given} rows={Math.min(14, draft.text.split('\n').length + 2)} />
      )}
      {theirs !== null && (
        <EditedMeanwhile onMine={() => void insist()} onTheirs={leave}>
          <p className="prose">{theirs}</p>
        </EditedMeanwhile>
      )}
      {isOneLine || <TooLong text={draft.text} />}
      <Refused error={error} />
      {theirs === null && (
        <div className="row acts">
          <button
            type="button"
            className="btn primary sm"
            aria-disabled={isSaving || undefined}
            onClick={() => void save()}
          >
            {isSaving ? t('edit.saving') : t('edit.save')}
          </button>
          <button type="button" className="btn ghost sm" onClick={leave}>
            {t('edit.cancel')}
          </button>
          {!isOneLine && (
            <span className="f12 t3 push">
              <kbd>{COMMAND_KEY} Enter</kbd>
            </span>
          )}
        </div>
      )}
    </div>
  );
}

interface TextSectionProps {
  readonly node: Node;
  readonly field: 'description' | 'goal';
  readonly mayManage: boolean;
}

/** A text of a node under its heading, with its pencil. */
export function TextSection({ node, field: name, mayManage }: TextSectionProps): ReactNode {
  const { t } = useTranslation();
  const field = useTextField(node, name);
  const pencil = useFocusBack<HTMLButtonElement>(field.draft !== null);
  const label = t(`node.${name}`);
  if (node[name] === '' && !mayManage) return null;
  return (
    <section className="ds">
      <header>
        <h3>{label}</h3>
        {mayManage && field.draft === null && (
          <IconButton
            ref={pencil}
            icon={Pencil}
            label={t('edit.edit', { what: label })}
            onClick={field.edit}
            className="ed show"
          />
        )}
      </header>
      {field.draft === null ? (
        <p className={node[name] === '' ? 'prose t3' : 'prose'}>{node[name] || t(`node.no_${name}`)}</p>
      ) : (
        <TextEditor field={field} label={label} />
      )}
    </section>
  );
}

import { useSessionStorage } from '@mantine/hooks';
import { type EventKind, type GraphEvent, logEvent, supersedeEvent } from '@workspace-graph/contracts';
import { type FormEvent, type KeyboardEvent, useId } from 'react';
import { useTranslation } from 'react-i18next';
import { useChange } from '../api/change';
import { COMMAND_KEY } from '../parts/command-key';
import { EVENT_KINDS } from '../parts/event-kind-filter';
import { useOneAtATime } from '../parts/one-at-a-time';
import { PickOne } from '../parts/pick-one';
import { Refused } from '../parts/problem';
import { useReturnedFocus } from '../parts/returned-focus';
import { tell } from '../parts/toasts';
import { TooLong } from '../parts/too-long';

/** What is being written of an event. Kept by the browser tab, so that no way out of the view loses it. */
interface Draft {
  readonly kind: EventKind;
  readonly content: string;
}

const EMPTY: Draft = { kind: 'note', content: '' };

/** The new event of a node, or the one that takes the place of another: `draft` is null while nobody writes it. */
export function useEventDraft(of: { readonly node: string } | { readonly replaces: GraphEvent }) {
  const { t } = useTranslation();
  const before: Draft = 'replaces' in of ? of.replaces : EMPTY;
  const [draft, setDraft, forget] = useSessionStorage<Draft | null>({
    key: `svc:draft ${'replaces' in of ? of.replaces.id : of.node} event`,
    defaultValue: null,
    getInitialValueInEffect: false,
  });
  return {
    draft,
    begin: () => setDraft({ kind: before.kind, content: before.content }),
    write: setDraft,
    /** What was written since then stays. */
    end: (sent: Draft) => setDraft((now) => (now?.content === sent.content ? null : now)),
    /** Gives up what was written; its note takes that back. */
    leave: () => {
      forget();
      if (draft && draft.content !== before.content) tell(t('edit.left'), () => Promise.resolve(setDraft(draft)));
    },
  };
}

interface EventFormProps {
  readonly nodeId: string;
  /** What the new one takes the place of. */
  readonly replaces?: GraphEvent;
  readonly writing: ReturnType<typeof useEventDraft>;
}

/** An event while it is written: kept by its button or Ctrl-Enter, left on Cancel or Escape. */
export function EventForm({ nodeId, replaces, writing }: EventFormProps) {
  const { t } = useTranslation();
  useReturnedFocus();
  const id = useId();
  const { draft, write, end, leave } = writing;
  const log = useChange(logEvent, nodeId);
  const supersede = useChange(supersedeEvent, nodeId);
  const [send, isSending] = useOneAtATime(async (sent: Draft) => {
    if (replaces) await supersede.mutateAsync({ event_id: replaces.id, ...sent, expected_version: replaces.version });
    else await log.mutateAsync({ node_id: nodeId, ...sent });
    end(sent);
  });
  if (draft === null) return null;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    send(draft);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key === 'Escape') leave();
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) send(draft);
  };
  return (
    <form className="adder padded" onSubmit={submit}>
      <div className="row">
        <PickOne
          label={t('events.kind')}
          className="input"
          options={EVENT_KINDS.map((value) => ({ value, text: t(`event.${value}`) }))}
          value={draft.kind}
          onPick={(kind) => write({ ...draft, kind })}
        />
      </div>
      <textarea
        id={id}
        className="input"
        rows={3}
        aria-label={t('events.content')}
        placeholder={t('events.content')}
        value={draft.content}
        // biome-ignore lint/a11y/noAutofocus: it was opened to be written into
        autoFocus
        onChange={({ currentTarget }) => write({ ...draft, content: currentTarget.value })}
        onKeyDown={onKeyDown}
      />
      <TooLong text={draft.content} />
      <Refused error={log.error ?? supersede.error} />
      <div className="row acts">
        <button type="submit" className="btn primary sm" aria-disabled={isSending || undefined}>
          {replaces ? t('events.supersede') : t('events.log')}
        </button>
        <button type="button" className="btn ghost sm" onClick={leave}>
          {t('edit.cancel')}
        </button>
        <span className="f12 t3 push">
          <kbd>{COMMAND_KEY} Enter</kbd>
        </span>
      </div>
    </form>
  );
}

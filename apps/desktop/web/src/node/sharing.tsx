import {
  type AccessPreview,
  listGroups,
  listUsers,
  type Node,
  type NodeAccess,
  setAccess,
  type Visibility,
} from '@workspace-graph/contracts';
import { Check, CircleDashed, CornerLeftUp, Globe, Lock, Users, X } from 'lucide-react';
import { useEffect, useId, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ChangedMeanwhile, change, isConflict, refreshNode } from '../api/change';
import { client } from '../api/client';
import { Avatar } from '../parts/avatar';
import { Ghosts } from '../parts/ghosts';
import { NodeLink } from '../parts/node-link';
import { PickOne } from '../parts/pick-one';
import { type Option, Picker } from '../parts/picker';
import { Problem, Refused } from '../parts/problem';
import { Segment } from '../parts/segment';
import { AccessQuestion } from './access-question';
import { readAccess, useAccess } from './node-query';

type Recipient = NodeAccess['effective'][number]['recipients'][number];
/** A setting of its own; null: none, so that the node inherits. */
interface Setting {
  readonly visibility: Visibility;
  readonly recipients: readonly Recipient[];
}

/** A setting that is being put together, or asked about, and what it is to replace. */
interface Draft {
  readonly setting: Setting;
  readonly onto: Setting | null;
}

/** Whether a setting is only tried, or what it does is confirmed. */
interface How {
  readonly confirmed?: boolean;
  readonly dry_run?: boolean;
}

const MODES = [
  { value: 'everyone', icon: Globe },
  { value: 'private', icon: Lock },
  { value: 'group', icon: Users },
] as const;
const SAVED_MS = 2_000;
const TRIES = 4;

interface SharingProps {
  readonly node: Node;
  readonly mayManage: boolean;
}

/** Who sees a node: inherited, or by a setting of its own. */
export function Sharing({ node, mayManage }: SharingProps) {
  const { t } = useTranslation();
  const { data: access, error, refetch } = useAccess(node.id);
  if (error) return <Problem error={error} onRetry={() => void refetch()} />;
  if (!access)
    return (
      <section className="ds">
        <header>
          <h3>{t('sharing.title')}</h3>
        </header>
        <Ghosts rows={1} height={28} />
      </section>
    );
  return mayManage ? <Managed access={access} /> : <Told access={access} />;
}

/** As it is told to whoever cannot change it. */
function Told({ access }: { readonly access: NodeAccess }) {
  const { t } = useTranslation();
  return (
    <section className="ds">
      <header>
        <h3>{t('sharing.title')}</h3>
      </header>
      {access.own ? <Mode visibility={access.own.visibility} /> : <Inherited access={access} />}
    </section>
  );
}

function Managed({ access }: { readonly access: NodeAccess }) {
  const { t } = useTranslation();
  const id = useId();
  const saving = useSaving(access.node_id);
  /** What is being put together and not sent yet. */
  const [begun, setBegun] = useState<Draft | null>(null);
  /** What would take the last recipient away, until it is confirmed. */
  const [emptied, setEmptied] = useState<Draft | null>(null);
  // Somebody else has set it meanwhile: that stands there, and not what was to replace something else.
  const isOver = begun !== null && !saving.isSending && !isSame(begun.onto, access.own);
  const draft = isOver ? null : begun;
  const isInherited = access.own === null && access.effective.length > 0;
  const shown = draft?.setting ?? access.own ?? { visibility: 'everyone', recipients: [] };
  const onto = draft ? draft.onto : access.own;
  const save = async (next: Setting | null, over = onto, isConfirmed = false) => {
    setEmptied(null);
    if (await saving.save(next, over, isConfirmed)) setBegun(null);
  };
  const take = (setting: Setting) => {
    saving.reset();
    const step = stepOf(shown, setting, isInherited);
    if (step === 'draft') return setBegun({ setting, onto });
    if (isOver) setBegun(null);
    if (step === 'confirm-empty') setEmptied({ setting, onto });
    else if (step === 'preview') void saving.ask(setting, onto);
    else void save(setting);
  };
  return (
    <section className="ds" aria-labelledby={id}>
      <header>
        <h3 id={id}>{t('sharing.title')}</h3>
        <Saved isSaved={saving.isSaved} isDraft={draft !== null} />
      </header>
      {isInherited && draft === null ? (
        <Inherited access={access} onOwn={take} />
      ) : (
        <Editor setting={shown} onChange={take} />
      )}
      {draft !== null && !isInherited && <p className="f12 t3">{t('sharing.first')}</p>}
      {draft !== null && isInherited && (
        <Unsaved onSave={() => void save(draft.setting)} onCancel={() => setBegun(null)} />
      )}
      {emptied && (
        <AccessQuestion
          preview={null}
          title={t('sharing.remove_last')}
          confirm={t('sharing.remove')}
          onConfirm={() => save(emptied.setting, emptied.onto, true)}
          onCancel={() => setEmptied(null)}
        />
      )}
      {saving.question && (
        <AccessQuestion
          preview={saving.question.preview}
          title={t(`sharing.become.${saving.question.next?.visibility ?? 'inherited'}`)}
          confirm={t('sharing.apply')}
          onConfirm={() => saving.question && save(saving.question.next, saving.question.onto, true)}
          onCancel={saving.reset}
        />
      )}
      <Refused error={saving.error ?? (isOver ? new ChangedMeanwhile() : null)} />
      {access.own !== null && (
        <button type="button" className="btn ghost sm" onClick={() => void save(null)}>
          <CornerLeftUp className="i" aria-hidden="true" />
          {t('sharing.inherit')}
        </button>
      )}
    </section>
  );
}

/**
 * What a change in the card does: what is inherited becomes a draft first; a group without recipients is not kept until it
 * has one; taking the last one away, or leaving a list, is confirmed; everything else is saved at once.
 */
function stepOf(shown: Setting, next: Setting, isInherited: boolean): 'draft' | 'confirm-empty' | 'preview' | 'save' {
  const hadSome = shown.visibility === 'group' && shown.recipients.length > 0;
  if (isInherited) return 'draft';
  if (next.visibility === 'group' && next.recipients.length === 0) return hadSome ? 'confirm-empty' : 'draft';
  return hadSome && next.visibility !== 'group' ? 'preview' : 'save';
}

function Saved({ isSaved, isDraft }: { readonly isSaved: boolean; readonly isDraft: boolean }) {
  const { t } = useTranslation();
  return (
    <span className="push" role="status">
      {isSaved && (
        <span className="fs ok">
          <Check className="i" aria-hidden="true" />
          {t('edit.saved')}
        </span>
      )}
      {isDraft && (
        <span className="chip wait">
          <CircleDashed className="i" aria-hidden="true" />
          {t('sharing.unsaved')}
        </span>
      )}
    </span>
  );
}

function Unsaved({ onSave, onCancel }: { readonly onSave: () => void; readonly onCancel: () => void }) {
  const { t } = useTranslation();
  return (
    <>
      <p className="f12 t3">{t('sharing.taken_over')}</p>
      <div className="row acts">
        <button type="button" className="btn primary sm" onClick={onSave}>
          {t('edit.save')}
        </button>
        <button type="button" className="btn ghost sm" onClick={onCancel}>
          {t('edit.cancel')}
        </button>
      </div>
    </>
  );
}

/** Sends settings of a node's sharing; one that moves access comes back as a question. */
function useSaving(nodeId: string) {
  const [error, setError] = useState<unknown>(null);
  const [question, setQuestion] = useState<{
    readonly next: Setting | null;
    readonly onto: Setting | null;
    readonly preview: AccessPreview | null;
  } | null>(null);
  const [isSending, setSending] = useState(false);
  const [savedAt, setSavedAt] = useState(0);
  useEffect(() => {
    if (savedAt === 0) return;
    const timer = setTimeout(() => setSavedAt(0), SAVED_MS);
    return () => clearTimeout(timer);
  }, [savedAt]);
  const reset = () => {
    setError(null);
    setQuestion(null);
  };
  const send = async (next: Setting | null, onto: Setting | null, how: How) => {
    reset();
    setSending(true);
    try {
      const { applied, preview } = await setOnto(nodeId, next, onto, how);
      if (!applied) setQuestion({ next, onto, preview });
      else setSavedAt(Date.now());
      await refreshNode(nodeId);
      return applied;
    } catch (cause) {
      setError(cause);
      return false;
    } finally {
      setSending(false);
    }
  };
  return {
    error,
    question,
    isSending,
    isSaved: savedAt > 0,
    reset,
    /** Whether it is stored now in place of what it was to replace. */
    save: (next: Setting | null, onto: Setting | null, confirmed: boolean) => send(next, onto, { confirmed }),
    /** Shows what it would do. */
    ask: (next: Setting | null, onto: Setting | null) => send(next, onto, { dry_run: true }),
  };
}

/** Replaces the setting that was seen, and no other; other fields that changed meanwhile do not matter. */
async function setOnto(nodeId: string, next: Setting | null, seen: Setting | null, how: How) {
  const recipients =
    next?.visibility === 'group' ? next.recipients.map(({ kind, id, access }) => ({ kind, id, access })) : [];
  for (let tries = 0; ; tries++) {
    const current = await readAccess(nodeId);
    if (!isSame(current.own, seen)) throw new ChangedMeanwhile();
    try {
      const setting = { visibility: next?.visibility ?? null, recipients, expected_version: current.version };
      return await change(setAccess, { node_id: nodeId, ...setting, ...how });
    } catch (error) {
      if (!isConflict(error) || tries >= TRIES) throw error;
    }
  }
}

function isSame(one: Setting | null, other: Setting | null): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

function Mode({ visibility }: { readonly visibility: Visibility }) {
  const { t } = useTranslation();
  const Icon = MODES.find(({ value }) => value === visibility)?.icon ?? Globe;
  return (
    <p className="row">
      <Icon className="i" aria-hidden="true" />
      {t(`sharing.${visibility}`)}
    </p>
  );
}

interface InheritedProps {
  readonly access: NodeAccess;
  /** Begins a setting of its own; absent for whoever cannot. */
  readonly onOwn?: (setting: Setting) => void;
}

/** What applies without a setting of its own, and from where; one action. */
function Inherited({ access: { effective }, onOwn }: InheritedProps) {
  const { t } = useTranslation();
  const nearest = effective.at(-1);
  if (!nearest) return <Mode visibility="everyone" />;
  return (
    <>
      {effective.map(({ node, visibility, recipients }) => (
        <div key={node.id}>
          <div className="row inherited">
            <Mode visibility={visibility} />
            <span className="t3 row cut">
              <CornerLeftUp className="i s14" aria-hidden="true" />
              {t('sharing.from')} <NodeLink node={node} />
            </span>
          </div>
          <ul>
            {recipients.map((recipient) => (
              <li className="li" key={`${recipient.kind} ${recipient.id}`}>
                <Who recipient={recipient} />
                <span className="end">{t(`access.${recipient.access}`)}</span>
              </li>
            ))}
          </ul>
        </div>
      ))}
      {onOwn && (
        <button
          type="button"
          className="btn sm"
          onClick={() => onOwn({ visibility: nearest.visibility, recipients: nearest.recipients })}
        >
          {t('sharing.own')}
        </button>
      )}
    </>
  );
}

function Who({ recipient: { kind, name } }: { readonly recipient: Recipient }) {
  return (
    <>
      {kind === 'group' ? <Users className="i s14" aria-hidden="true" /> : <Avatar name={name} />}
      <span className="cut">{name}</span>
    </>
  );
}

interface EditorProps {
  readonly setting: Setting;
  readonly onChange: (next: Setting) => void;
}

function Editor({ setting, onChange }: EditorProps) {
  const { t } = useTranslation();
  const { visibility, recipients } = setting;
  return (
    <>
      <Segment
        aria-label={t('sharing.title')}
        options={MODES.map(({ value, icon }) => ({ value, icon, text: t(`sharing.${value}`) }))}
        value={visibility}
        onPick={(value) => onChange({ visibility: value, recipients: value === 'group' ? recipients : [] })}
      />
      {visibility === 'group' && (
        <Recipients recipients={recipients} onChange={(next) => onChange({ visibility, recipients: next })} />
      )}
    </>
  );
}

interface RecipientsProps {
  readonly recipients: readonly Recipient[];
  readonly onChange: (next: readonly Recipient[]) => void;
}

interface Addressee extends Option {
  readonly recipient: Recipient;
}

function Recipients({ recipients, onChange }: RecipientsProps) {
  const { t } = useTranslation();
  const keyOf = ({ kind, id }: Recipient) => `${kind} ${id}`;
  const held = new Set(recipients.map(keyOf));
  const find = async (query: string, signal: AbortSignal): Promise<Addressee[]> => {
    const given = { query, limit: 10 };
    const [groups, users] = await Promise.all([
      client.call(listGroups, given, { signal }),
      client.call(listUsers, given, { signal }),
    ]);
    const all = [
      ...groups.items.map(({ id, name }) => ({ kind: 'group' as const, id, name, access: 'read' as const })),
      ...users.items.map(({ id, name }) => ({ kind: 'user' as const, id, name, access: 'read' as const })),
    ];
    return all
      .filter((recipient) => !held.has(keyOf(recipient)))
      .map((recipient) => ({
        id: keyOf(recipient),
        text: recipient.name,
        note: t(`sharing.kind.${recipient.kind}`),
        lead:
          recipient.kind === 'group' ? (
            <Users className="i s14" aria-hidden="true" />
          ) : (
            <Avatar name={recipient.name} />
          ),
        recipient,
      }));
  };
  return (
    <>
      <ul>
        {recipients.map((recipient) => (
          <li className="li" key={keyOf(recipient)}>
            <Who recipient={recipient} />
            <span className="end">
              <PickOne
                label={t('sharing.access_of', { name: recipient.name })}
                options={(['read', 'write'] as const).map((value) => ({ value, text: t(`access.${value}`) }))}
                value={recipient.access}
                onPick={(access) => onChange(recipients.map((one) => (one === recipient ? { ...one, access } : one)))}
              />
              <button
                type="button"
                className="btn ghost sm icon"
                aria-label={t('sharing.remove_named', { name: recipient.name })}
                onClick={() => onChange(recipients.filter((one) => one !== recipient))}
              >
                <X className="i" aria-hidden="true" />
              </button>
            </span>
          </li>
        ))}
      </ul>
      <Picker
        isStanding
        label={t('sharing.add')}
        basis={[...held].join(' ')}
        load={find}
        onPick={({ recipient }) => onChange([...recipients, recipient])}
      />
    </>
  );
}

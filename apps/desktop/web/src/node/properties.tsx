import { type Health, LIFECYCLES, type Lifecycle, listActors, type Node } from '@workspace-graph/contracts';
import { UserRound } from 'lucide-react';
import { type ReactNode, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { client } from '../api/client';
import { Avatar } from '../parts/avatar';
import { PickOne } from '../parts/pick-one';
import { Picker } from '../parts/picker';
import { Refused } from '../parts/problem';
import { useFocusBack } from '../parts/returned-focus';
import { HealthIcon, LifecycleIcon } from '../parts/state-icon';
import { tell } from '../parts/toasts';
import { AccessQuestion } from './access-question';
import { Meanwhile } from './meanwhile';
import { type Chosen, ChosenMeanwhile, useNodeUpdate } from './node-update';

const HEALTHS = ['on_track', 'at_risk', 'off_track'] as const satisfies readonly Health[];

interface PropertiesProps {
  readonly node: Node;
  readonly mayManage: boolean;
}

/** What is set by choosing: in force at once, and taken back by the note that tells of it. */
export function Properties({ node, mayManage }: PropertiesProps) {
  const { t } = useTranslation();
  const update = useNodeUpdate(node);
  /** The reason while it is written; what could not be written stays. */
  const [reason, setReason] = useState<string | null>(null);
  const set = async (what: Chosen, back: Chosen, text: string) => {
    if (!(await update.run(what))) return;
    // What was written since stays.
    setReason((now) => (now === what.health_note ? null : now));
    tell(text, () => update.undo(back, what));
  };
  const { lifecycle, health, type } = node;
  const lifecycles: readonly Lifecycle[] = LIFECYCLES[type];
  return (
    <>
      <dl className="props">
        <dt>{t('node.lifecycle')}</dt>
        <dd>
          <LifecycleIcon of={lifecycle} />
          {mayManage ? (
            <PickOne
              label={t('node.lifecycle')}
              options={lifecycles.map((value) => ({ value, text: t(`lifecycle.${value}`) }))}
              value={lifecycle}
              onPick={(value) => {
                const text = t('node.lifecycle_set', { value: t(`lifecycle.${value}`) });
                void set({ lifecycle: value }, { lifecycle }, text);
              }}
            />
          ) : (
            t(`lifecycle.${lifecycle}`)
          )}
        </dd>
        {health !== null && (
          <>
            <dt>{t('node.health')}</dt>
            <dd>
              <HealthIcon of={health} />
              {mayManage ? (
                <PickOne
                  label={t('node.health')}
                  className={`health ${health}`}
                  options={HEALTHS.map((value) => ({ value, text: t(`health.${value}`) }))}
                  value={health}
                  onPick={(value) => {
                    const former = { health, health_note: node.health_report?.note ?? null };
                    void set({ health: value }, former, t('node.health_set', { value: t(`health.${value}`) }));
                  }}
                />
              ) : (
                <span className={`health ${health}`}>{t(`health.${health}`)}</span>
              )}
            </dd>
            {health !== 'on_track' && (
              <HealthNote
                note={node.health_report?.note ?? ''}
                mayManage={mayManage}
                text={reason}
                onText={setReason}
                onSet={(what) => void set(what, update.formerOf(what), `${t('node.health_note')}: ${what.health_note}`)}
              />
            )}
          </>
        )}
        <dt>{t('node.owner')}</dt>
        <dd>
          <Owner
            node={node}
            mayManage={mayManage}
            onSet={(owner_id, name) =>
              void set(
                { owner_id },
                { owner_id: node.owner?.id ?? null },
                name === null ? t('node.no_owner_set') : t('node.owner_set', { name }),
              )
            }
          />
        </dd>
        <Keys node={node} />
      </dl>
      <Unset
        update={update}
        onKeep={({ what }, text) => void set(what, update.formerOf(what), text)}
        onTake={() => {
          setReason(null);
          update.reset();
        }}
      />
    </>
  );
}

/** Where it lies on this machine, and what it is called on remotes. */
function Keys({ node }: Pick<PropertiesProps, 'node'>) {
  const { t } = useTranslation();
  return (
    <>
      {node.local_path !== null && (
        <>
          <dt>{t('node.folder')}</dt>
          <dd>
            <span className="mono cut" title={node.local_path}>
              {node.local_path}
            </span>
          </dd>
        </>
      )}
      <dt>{t('node.sync_key')}</dt>
      <dd>
        <span className="mono cut t2" title={node.sync_key}>
          {node.sync_key}
        </span>
      </dd>
    </>
  );
}

interface UnsetProps {
  readonly update: ReturnType<typeof useNodeUpdate>;
  readonly onKeep: (conflict: ChosenMeanwhile, text: string) => void;
  readonly onTake: () => void;
}

/** Why what was chosen is not in force: it is asked about, was chosen by somebody else meanwhile, or was refused. */
function Unset({ update: { question, error, run, reset }, onKeep, onTake }: UnsetProps) {
  const { t } = useTranslation();
  const kept = error instanceof ChosenMeanwhile && <Meanwhile conflict={error} onKeep={onKeep} onTake={onTake} />;
  return (
    <>
      {question && (
        <div className="beside">
          <AccessQuestion
            preview={question.preview}
            confirm={t('access.go_on')}
            onConfirm={() => run(question.what, true)}
            onCancel={reset}
          />
        </div>
      )}
      {error !== null && <div className="beside">{kept || <Refused error={error} />}</div>}
    </>
  );
}

interface HealthNoteProps {
  readonly note: string;
  readonly mayManage: boolean;
  /** What is written in its place; null for nothing. */
  readonly text: string | null;
  readonly onText: (text: string | null) => void;
  readonly onSet: (what: { readonly health_note: string }) => void;
}

/** Why a project is not on track. */
function HealthNote({ note, mayManage, text, onText, onSet }: HealthNoteProps) {
  const { t } = useTranslation();
  const leave = () => {
    if (text === note) onText(null);
    else if (text !== null) onSet({ health_note: text });
  };
  return (
    <>
      <dt>{t('node.health_note')}</dt>
      <dd>
        {mayManage ? (
          <input
            className="quiet"
            aria-label={t('node.health_note')}
            placeholder={t('node.why')}
            value={text ?? note}
            onChange={(event) => onText(event.currentTarget.value)}
            onBlur={leave}
            onKeyDown={(event) => event.key === 'Enter' && event.currentTarget.blur()}
          />
        ) : (
          note
        )}
      </dd>
    </>
  );
}

interface OwnerProps extends PropertiesProps {
  readonly onSet: (actorId: string | null, name: string | null) => void;
}

function Owner({ node: { owner }, mayManage, onSet }: OwnerProps): ReactNode {
  const { t } = useTranslation();
  const [isOpen, setOpen] = useState(false);
  const back = useFocusBack<HTMLButtonElement>(isOpen);
  const shown = (
    <>
      {owner ? (
        <Avatar name={owner.name} isAgent={owner.type === 'automation'} />
      ) : (
        <UserRound className="i s14" aria-hidden="true" />
      )}
      <span className={owner ? 'cut' : 'cut t3'}>{owner?.name ?? t('node.no_owner')}</span>
    </>
  );
  if (!mayManage) return shown;
  if (!isOpen)
    return (
      <button
        ref={back}
        type="button"
        className="plain row"
        onClick={() => setOpen(true)}
        aria-label={t('node.change_owner')}
      >
        {shown}
      </button>
    );
  const close = () => setOpen(false);
  return (
    <Picker
      label={t('node.find_actor')}
      load={async (query, signal) => {
        const { items } = await client.call(listActors, { query, limit: 20 }, { signal });
        const actors = items.map(({ id, name, type }) => ({
          id,
          text: name,
          lead: <Avatar name={name} isAgent={type === 'automation'} />,
        }));
        return owner && query === '' ? [{ id: '', text: t('node.no_owner'), lead: null }, ...actors] : actors;
      }}
      onPick={({ id, text }) => {
        close();
        onSet(id === '' ? null : id, id === '' ? null : text);
      }}
      onLeave={close}
      basis={owner?.id ?? ''}
    />
  );
}

import { useQuery } from '@tanstack/react-query';
import {
  type Actor,
  type ActorType,
  createActor,
  getActor,
  getUser,
  listActors,
  listUsers,
  updateActor,
} from '@workspace-graph/contracts';
import { X } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { change } from '../../../api/change';
import { client } from '../../../api/client';
import { AccessQuestion } from '../../../node/access-question';
import { useGuarded } from '../../../node/guarded';
import { useMe } from '../../../node/node-query';
import { Avatar } from '../../../parts/avatar';
import { IconButton } from '../../../parts/icon-button';
import { useOneAtATime } from '../../../parts/one-at-a-time';
import { PickOne } from '../../../parts/pick-one';
import { Picker } from '../../../parts/picker';
import { Refused } from '../../../parts/problem';
import { tell } from '../../../parts/toasts';
import { ActorRemoval } from './actor-removal';
import { changeListed, Directory, refreshDirectories, takeBack } from './directory';
import { Facts, Fields } from './fields';
import { Duties } from './owned';

const TYPES: readonly ActorType[] = ['person', 'automation'];
const FOUND = 10;

/** People and automations that own nodes and answer for responsibilities. */
export function Actors() {
  const mayManage = useMe().scope === 'manage';
  return (
    <Directory
      kind="actors"
      load={(asked, signal) => client.call(listActors, asked, { signal })}
      row={(actor) => <ActorLine actor={actor} />}
      detail={(actor) => (mayManage ? <ActorDetail actor={actor} /> : <Duties actor={actor} />)}
      {...(mayManage && { create: (onClose: () => void) => <NewActor onClose={onClose} /> })}
    />
  );
}

function ActorLine({ actor: { type, name, placeholder } }: { readonly actor: Actor }) {
  const { t } = useTranslation();
  return (
    <>
      <Avatar name={name} isAgent={type === 'automation'} />
      <bdi className="med cut" title={name}>
        {name}
      </bdi>
      <span className="end">
        {placeholder && <span className="chip line">{t('people.placeholder')}</span>}
        <span className="of">{t(`people.type.${type}`)}</span>
      </span>
    </>
  );
}

function ActorDetail({ actor }: { readonly actor: Actor }) {
  const { t } = useTranslation();
  const { id: actor_id, name, type, version } = actor;
  return (
    <>
      <Fields
        kept={actor_id}
        fields={[{ name: 'name', label: t('people.name'), value: name, isRequired: true }]}
        submit={t('edit.save')}
        onSubmit={async ({ name: written }) => {
          const made = await changeListed(updateActor, { actor_id, name: written ?? '', expected_version: version });
          tell(t('people.saved', { name: written }), () => putBack(made.actor, { name }));
        }}
      />
      {type === 'person' && <Account actor={actor} />}
      <Duties actor={actor} />
      <ActorRemoval actor={actor} />
    </>
  );
}

/** Puts former values back into an actor that was made this. @throws ChangedMeanwhile, Refusal, Unreachable */
function putBack(made: Actor, former: Partial<Pick<Actor, 'name' | 'user_id'>>): Promise<void> {
  const { id: actor_id } = made;
  return takeBack({
    made,
    fields: Object.keys(former) as (keyof typeof former)[],
    read: () => client.call(getActor, { actor_id }),
    write: (version) => change(updateActor, { actor_id, ...former, expected_version: version, confirmed: true }),
  });
}

/** A user that a person is made, or null to part them. */
interface Tie {
  readonly user_id: string | null;
  readonly name: string;
}

/** The user that a person is: owning nodes then lets them see these. */
function Account({ actor }: { readonly actor: Actor }) {
  const { t } = useTranslation();
  const { id: actor_id, user_id, version } = actor;
  const { data: user } = useQuery({
    enabled: user_id !== null,
    queryKey: ['directory', 'user', user_id],
    queryFn: ({ signal }) => client.call(getUser, { user_id: user_id ?? '' }, { signal }),
  });
  const guarded = useGuarded(
    (tie: Tie, confirmed) =>
      change(updateActor, { actor_id, user_id: tie.user_id, expected_version: version, confirmed }),
    () => refreshDirectories(),
  );
  const [put] = useOneAtATime(async (tie: Tie, isConfirmed: boolean) => {
    if (!(await guarded.run(tie, isConfirmed))) return;
    const words = t(tie.user_id === null ? 'people.untied' : 'people.tied', { name: actor.name, user: tie.name });
    tell(words, () => putBack({ ...actor, user_id: tie.user_id }, { user_id }));
  });
  const { question } = guarded;
  return (
    <div className="stack">
      <Facts
        facts={[
          [
            t('people.account'),
            user_id === null ? (
              <Picker
                key="pick"
                isStanding
                label={t('people.find_user')}
                load={async (query, signal) => {
                  const { items } = await client.call(listUsers, { query, limit: FOUND }, { signal });
                  return items.map(({ id, name, email, handle }) => ({
                    id,
                    text: name,
                    lead: <Avatar name={name} />,
                    note: email ?? handle ?? '',
                  }));
                }}
                onPick={({ id, text }) => put({ user_id: id, name: text }, false)}
              />
            ) : (
              <span className="row" key="tied">
                <bdi className="cut">{user?.name}</bdi>
                <IconButton
                  icon={X}
                  label={t('people.untie', { name: user?.name })}
                  onClick={() => put({ user_id: null, name: user?.name ?? '' }, false)}
                />
              </span>
            ),
          ],
        ]}
      />
      {question && (
        <AccessQuestion
          preview={question.preview}
          confirm={t('access.go_on')}
          onConfirm={() => put(question.what, true)}
          onCancel={guarded.reset}
        />
      )}
      <Refused error={guarded.error} />
    </div>
  );
}

function NewActor({ onClose }: { readonly onClose: () => void }) {
  const { t } = useTranslation();
  const [type, setType] = useState<ActorType>('person');
  return (
    <Fields
      kept="new actor"
      fields={[{ name: 'name', label: t('people.name'), value: null, isRequired: true }]}
      submit={t('people.actors.create')}
      onCancel={onClose}
      onSubmit={async ({ name }) => {
        await changeListed(createActor, { type, name: name ?? '' });
        tell(t('people.actors.created', { name }));
        onClose();
      }}
    >
      <div className="sr">
        <span>{t('people.kind')}</span>
        <PickOne
          label={t('people.kind')}
          className="input"
          options={TYPES.map((value) => ({ value, text: t(`people.type.${value}`) }))}
          value={type}
          onPick={setType}
        />
      </div>
    </Fields>
  );
}

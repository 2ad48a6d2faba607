import {
  createUser,
  getUser,
  type InputOf,
  listUsers,
  type Scope,
  type User,
  updateUser,
} from '@workspace-graph/contracts';
import { Ban, RotateCcw } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { change } from '../../../api/change';
import { client } from '../../../api/client';
import { AccessQuestion } from '../../../node/access-question';
import { useMe } from '../../../node/node-query';
import { Avatar } from '../../../parts/avatar';
import { useOneAtATime } from '../../../parts/one-at-a-time';
import { PickOne } from '../../../parts/pick-one';
import { Refused } from '../../../parts/problem';
import { tell } from '../../../parts/toasts';
import { changeListed, Directory, takeBack } from './directory';
import { Facts, Fields } from './fields';
import { OwnedByUser } from './owned';

/** From the least. */
const SCOPES: readonly Scope[] = ['read', 'write', 'manage'];

/** Who may sign in here. Whoever does not manage sees themselves. */
export function People() {
  const { scope, user } = useMe();
  if (scope !== 'manage') return <Told user={user} />;
  return (
    <Directory
      kind="people"
      load={(asked, signal) => client.call(listUsers, asked, { signal })}
      row={(one) => <UserLine user={one} />}
      detail={(one) => <UserDetail user={one} />}
      create={(onClose) => <NewUser onClose={onClose} />}
    />
  );
}

function UserLine({ user }: { readonly user: User }) {
  const { t } = useTranslation();
  const me = useMe();
  const { id, name, email, handle, max_scope, disabled, groups } = user;
  const facts = [email ?? handle, groups.map((group) => group.name).join(', ')].filter(Boolean).join(' · ');
  return (
    <>
      <Avatar name={name} />
      <bdi className="med cut" title={name}>
        {name}
      </bdi>
      {id === me.user.id && <span className="chip line">{t('people.you')}</span>}
      {disabled && <span className="chip">{t('people.disabled')}</span>}
      <span className="end">
        <span className="cut" title={facts}>
          {facts}
        </span>
        <span className="of">{t(`people.scope.${max_scope}`)}</span>
      </span>
    </>
  );
}

/** What is known of a user and cannot be changed here. */
function Told({ user }: { readonly user: User }) {
  const { t } = useTranslation();
  const none = <span className="t3">{t('people.nothing_set')}</span>;
  return (
    <Facts
      facts={[
        [t('people.name'), <bdi key="name">{user.name}</bdi>],
        [t('people.email'), user.email ?? none],
        [t('people.handle'), user.handle ?? none],
        [t('people.may'), t(`people.scope.${user.max_scope}`)],
        [t('settings.groups.title'), user.groups.map(({ name }) => name).join(', ') || none],
      ]}
    />
  );
}

type UserFields = Omit<InputOf<typeof updateUser>, 'user_id' | 'expected_version'>;

/** Changes a user as it is shown; the note of it takes it back. */
async function put(user: User, fields: UserFields, words: string): Promise<void> {
  const { id: user_id, version: expected_version } = user;
  const made = await changeListed(updateUser, { user_id, ...fields, expected_version });
  const before = Object.fromEntries(Object.keys(fields).map((name) => [name, user[name as keyof UserFields]]));
  tell(words, () =>
    takeBack({
      made,
      fields: Object.keys(fields) as (keyof UserFields)[],
      read: () => client.call(getUser, { user_id }),
      write: (version) => change(updateUser, { user_id, ...before, expected_version: version }),
    }),
  );
}

function UserDetail({ user }: { readonly user: User }) {
  const { t } = useTranslation();
  const { name, email, handle, external_id, claim_scope, groups } = user;
  const none = <span className="t3">{t('people.nothing_set')}</span>;
  return (
    <>
      <Fields
        kept={user.id}
        fields={[
          { name: 'name', label: t('people.name'), value: name, isRequired: true },
          { name: 'email', label: t('people.email'), value: email },
          { name: 'handle', label: t('people.handle'), value: handle, help: t('people.handle_help') },
        ]}
        submit={t('edit.save')}
        onSubmit={({ name: written, ...rest }) =>
          put(
            user,
            { ...rest, ...(written === undefined ? {} : { name: written ?? '' }) },
            t('people.saved', { name: written ?? name }),
          )
        }
      />
      <Reach user={user} />
      <Facts
        facts={[
          [t('settings.groups.title'), groups.map((group) => group.name).join(', ') || none],
          [t('people.provider'), external_id ? <code>{external_id}</code> : none],
          ...(claim_scope ? [[t('people.claim_scope'), t(`people.scope.${claim_scope}`)] as const] : []),
        ]}
      />
      <Standing user={user} />
    </>
  );
}

/** What they may do at most. Whoever lowers themselves cannot take it back, and is asked. */
function Reach({ user }: { readonly user: User }) {
  const { t } = useTranslation();
  const me = useMe();
  const [error, setError] = useState<unknown>(null);
  const [asked, setAsked] = useState<Scope | null>(null);
  const [take, isSending] = useOneAtATime(async (max_scope: Scope) => {
    setAsked(null);
    setError(null);
    try {
      const words = t('people.may_now', { name: user.name, scope: t(`people.scope.${max_scope}`) });
      await put(user, { max_scope }, words);
    } catch (cause) {
      setError(cause);
    }
  });
  const pick = (next: Scope) =>
    user.id === me.user.id && SCOPES.indexOf(next) < SCOPES.indexOf(user.max_scope) ? setAsked(next) : take(next);
  return (
    <div className="stack">
      <div className="sr">
        <span>{t('people.may')}</span>
        <PickOne
          label={t('people.may_of', { name: user.name })}
          className="input"
          options={SCOPES.map((value) => ({ value, text: t(`people.scope.${value}`) }))}
          value={asked ?? user.max_scope}
          onPick={(next) => !isSending && pick(next)}
        />
      </div>
      {asked && (
        <AccessQuestion
          preview={null}
          title={t('people.lower_self')}
          detail={<p>{t('people.lower_self_help')}</p>}
          confirm={t('people.lower')}
          onConfirm={() => take(asked)}
          onCancel={() => setAsked(null)}
        />
      )}
      <Refused error={error} />
    </div>
  );
}

/** Turned off after it is said what that means; on again at once. */
function Standing({ user }: { readonly user: User }) {
  const { t } = useTranslation();
  const me = useMe();
  const [isAsking, setAsking] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const [turn, isSending] = useOneAtATime(async (disabled: boolean) => {
    setAsking(false);
    setError(null);
    try {
      const words = t(disabled ? 'people.is_disabled' : 'people.is_enabled', { name: user.name });
      await put(user, { disabled }, words);
    } catch (cause) {
      setError(cause);
    }
  });
  return (
    <div className="stack">
      {isAsking && (
        <AccessQuestion
          preview={null}
          title={t('people.disable_question', { name: user.name })}
          detail={
            <>
              <p>{t(user.id === me.user.id ? 'people.disable_self' : 'people.disable_help')}</p>
              <OwnedByUser user={user} />
            </>
          }
          confirm={t('people.disable')}
          onConfirm={() => turn(true)}
          onCancel={() => setAsking(false)}
        />
      )}
      <Refused error={error} />
      {!isAsking && (
        <div className="row acts">
          <button
            type="button"
            className={user.disabled ? 'btn sm' : 'btn ghost sm danger'}
            aria-disabled={isSending || undefined}
            onClick={() => (user.disabled ? turn(false) : setAsking(true))}
          >
            {user.disabled ? <RotateCcw className="i" aria-hidden="true" /> : <Ban className="i" aria-hidden="true" />}
            {t(user.disabled ? 'people.enable' : 'people.disable')}
          </button>
        </div>
      )}
    </div>
  );
}

function NewUser({ onClose }: { readonly onClose: () => void }) {
  const { t } = useTranslation();
  const [scope, setScope] = useState<Scope>('write');
  return (
    <Fields
      kept="new user"
      fields={[
        { name: 'name', label: t('people.name'), value: null, isRequired: true },
        { name: 'email', label: t('people.email'), value: null },
      ]}
      submit={t('people.people.create')}
      onCancel={onClose}
      onSubmit={async ({ name, email = null }) => {
        await changeListed(createUser, { name: name ?? '', email, max_scope: scope });
        tell(t('people.people.created', { name }));
        onClose();
      }}
    >
      <div className="sr">
        <span>{t('people.may')}</span>
        <PickOne
          label={t('people.may')}
          className="input"
          options={SCOPES.map((value) => ({ value, text: t(`people.scope.${value}`) }))}
          value={scope}
          onPick={setScope}
        />
      </div>
      <p className="f12 t3">{t('people.people.create_help')}</p>
    </Fields>
  );
}

import {
  changeGroupMembers,
  createGroup,
  deleteGroup,
  type Group,
  listGroupMembers,
  listGroups,
  listUsers,
  updateGroup,
} from '@workspace-graph/contracts';
import { Trash2, Users, X } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { change } from '../../../api/change';
import { client } from '../../../api/client';
import { usePages } from '../../../api/pages';
import { AccessQuestion } from '../../../node/access-question';
import { useGuarded } from '../../../node/guarded';
import { Avatar } from '../../../parts/avatar';
import { IconButton } from '../../../parts/icon-button';
import { More } from '../../../parts/more';
import { useOneAtATime } from '../../../parts/one-at-a-time';
import { Picker } from '../../../parts/picker';
import { Problem, Refused } from '../../../parts/problem';
import { tell } from '../../../parts/toasts';
import { changeListed, Directory, refreshDirectories, takeBack } from './directory';
import { Fields } from './fields';

const PAGE = 20;
const FOUND = 10;

/** Groups of people, to whom nodes are shared together. */
export function Groups() {
  return (
    <Directory
      kind="groups"
      load={(asked, signal) => client.call(listGroups, asked, { signal })}
      row={(group) => <GroupLine group={group} />}
      detail={(group) => <GroupDetail group={group} />}
      create={(onClose) => <NewGroup onClose={onClose} />}
    />
  );
}

function GroupLine({ group: { name, claim, member_count } }: { readonly group: Group }) {
  const { t } = useTranslation();
  return (
    <>
      <Users className="i s14" aria-hidden="true" />
      <bdi className="med cut" title={name}>
        {name}
      </bdi>
      <span className="end">
        {claim !== null && (
          <span className="chip line cut" title={claim}>
            {claim}
          </span>
        )}
        <span className="of">{t('people.members', { count: member_count })}</span>
      </span>
    </>
  );
}

function GroupDetail({ group }: { readonly group: Group }) {
  const { t } = useTranslation();
  const { id: group_id, name, claim } = group;
  return (
    <>
      <Fields
        kept={group_id}
        fields={[
          { name: 'name', label: t('people.name'), value: name, isRequired: true },
          { name: 'claim', label: t('people.claim'), value: claim, help: t('people.claim_help') },
        ]}
        submit={t('edit.save')}
        onSubmit={async ({ name: written, ...rest }) => {
          const fields = { ...rest, ...(written === undefined ? {} : { name: written ?? '' }) };
          const made = await changeListed(updateGroup, { group_id, ...fields, expected_version: group.version });
          const before = { ...('claim' in fields && { claim }), ...('name' in fields && { name }) };
          tell(t('people.saved', { name: written ?? name }), () =>
            takeBack({
              made,
              fields: ['name', 'claim'],
              read: async () => {
                const { items } = await client.call(listGroups, { query: made.name });
                return items.find(({ id }) => id === group_id);
              },
              write: (version) => change(updateGroup, { group_id, ...before, expected_version: version }),
            }),
          );
        }}
      />
      <Members group={group} />
      <Removal group={group} />
    </>
  );
}

/** What is done to the members of a group. */
interface Membership {
  readonly add?: string;
  readonly remove?: string;
  readonly name: string;
}

function Members({ group }: { readonly group: Group }) {
  const { t } = useTranslation();
  const { put, guarded } = useMembership(group);
  const { question } = guarded;
  return (
    <div className="stack">
      <h3>{t('people.members_of')}</h3>
      {group.claim !== null && <p className="f12 t3">{t('people.filled', { claim: group.claim })}</p>}
      <MemberList groupId={group.id} onRemove={({ id, name }) => put({ remove: id, name }, false)} />
      <Picker
        isStanding
        label={t('people.add_member')}
        basis={`${group.id} ${group.version} ${group.member_count}`}
        load={async (query, signal) => {
          const { items } = await client.call(listUsers, { query, limit: FOUND }, { signal });
          return items.map(({ id, name, email, handle, groups }) => ({
            id,
            text: name,
            lead: <Avatar name={name} />,
            note: email ?? handle ?? '',
            ...(groups.some((one) => one.id === group.id) ? { off: t('people.is_member') } : {}),
          }));
        }}
        onPick={({ id, text }) => put({ add: id, name: text }, false)}
      />
      {question && (
        <AccessQuestion
          preview={question.preview}
          title={t(question.what.add ? 'people.add_question' : 'people.take_out_question', {
            name: question.what.name,
            group: group.name,
          })}
          confirm={t(question.what.add ? 'people.add' : 'people.take_out_short')}
          onConfirm={() => put(question.what, true)}
          onCancel={guarded.reset}
        />
      )}
      <Refused error={guarded.error} />
    </div>
  );
}

/** Puts people into a group and takes them out: asked about where somebody gains access by it, and taken back from its note. */
function useMembership({ id: group_id, name: group }: Group) {
  const { t } = useTranslation();
  const send = ({ add, remove }: Membership, confirmed: boolean) =>
    change(changeGroupMembers, { group_id, add: add ? [add] : [], remove: remove ? [remove] : [], confirmed });
  const guarded = useGuarded(send, () => refreshDirectories());
  const [put] = useOneAtATime(async (what: Membership, isConfirmed: boolean) => {
    if (!(await guarded.run(what, isConfirmed))) return;
    const { add, remove, name } = what;
    tell(t(add ? 'people.added' : 'people.taken_out', { name, group }), async () => {
      await send({ name, ...(add ? { remove: add } : {}), ...(remove ? { add: remove } : {}) }, true);
      await refreshDirectories();
    });
  });
  return { put, guarded };
}

interface MemberListProps {
  readonly groupId: string;
  readonly onRemove: (member: { readonly id: string; readonly name: string }) => void;
}

function MemberList({ groupId: group_id, onRemove }: MemberListProps) {
  const { t } = useTranslation();
  const {
    items: members,
    isRead,
    error,
    next,
    refetch,
  } = usePages({
    queryKey: ['directory', 'members', group_id],
    load: (place, options) => client.call(listGroupMembers, { group_id, limit: PAGE, ...place }, options),
  });
  return (
    <>
      {error && <Problem error={error} onRetry={refetch} />}
      {isRead && members.length === 0 && <p className="t3">{t('people.no_members')}</p>}
      <ul>
        {members.map((member) => (
          <li className="li" key={member.id}>
            <Avatar name={member.name} />
            <bdi className="cut">{member.name}</bdi>
            <span className="end">
              <IconButton icon={X} label={t('people.take_out', member)} onClick={() => onRemove(member)} />
            </span>
          </li>
        ))}
      </ul>
      <More next={next} />
    </>
  );
}

/** Gone from every sharing list: who loses access is shown before. */
function Removal({ group: { id: group_id, name } }: { readonly group: Group }) {
  const { t } = useTranslation();
  const guarded = useGuarded(
    (_: null, confirmed) => change(deleteGroup, { group_id, confirmed }),
    async () => undefined,
  );
  const [remove, isSending] = useOneAtATime(async (isConfirmed: boolean) => {
    if (!(await guarded.run(null, isConfirmed))) return false;
    tell(t('people.deleted', { name }));
    await refreshDirectories(group_id);
    return true;
  });
  const { question } = guarded;
  return (
    <div className="stack">
      {question && (
        <AccessQuestion
          preview={question.preview}
          title={t('people.delete_question', { name })}
          detail={<p>{t('people.delete_group_help')}</p>}
          confirm={t('people.delete')}
          onConfirm={() => remove(true)}
          onCancel={guarded.reset}
        />
      )}
      <Refused error={guarded.error} />
      {!question && (
        <div className="row acts">
          <button
            type="button"
            className="btn ghost sm danger"
            aria-disabled={isSending || undefined}
            onClick={() => remove(false)}
          >
            <Trash2 className="i" aria-hidden="true" />
            {t('people.groups.delete')}
          </button>
        </div>
      )}
    </div>
  );
}

function NewGroup({ onClose }: { readonly onClose: () => void }) {
  const { t } = useTranslation();
  return (
    <Fields
      kept="new group"
      fields={[
        { name: 'name', label: t('people.name'), value: null, isRequired: true },
        { name: 'claim', label: t('people.claim'), value: null, help: t('people.claim_help') },
      ]}
      submit={t('people.groups.create')}
      onCancel={onClose}
      onSubmit={async ({ name, claim = null }) => {
        await changeListed(createGroup, { name: name ?? '', claim });
        tell(t('people.groups.created', { name }));
        onClose();
      }}
    />
  );
}

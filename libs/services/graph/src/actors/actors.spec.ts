import {
  addResponsibility,
  createActor,
  deleteActor,
  getActor,
  getNode,
  type InputOf,
  listActors,
  updateActor,
} from '@workspace-graph/contracts';
import { newId } from '@workspace-graph/platform';
import { type GraphFixture, startGraph } from '../testing/graph.fixture.js';

let graph: GraphFixture;
beforeAll(async () => {
  graph = await startGraph();
});
afterAll(() => graph.close());

const update = (actor_id: string, extra: Partial<InputOf<typeof updateActor>>) =>
  graph.call(updateActor, { actor_id, ...extra }, graph.admin);
const remove = (actor_id: string, extra: Partial<InputOf<typeof deleteActor>> = {}) =>
  graph.call(deleteActor, { actor_id, ...extra }, graph.admin);
const newUser = async (name: string) => (await graph.user(name)).user_id;

describe('an actor', () => {
  it('is a person, perhaps a placeholder, or an automation [graph.actors.types] [graph.actors.placeholder-person]', async () => {
    const user_id = await newUser('Paula');
    expect(await graph.actor('Nobody yet')).toMatchObject({
      type: 'person',
      user_id: null,
      placeholder: true,
      version: 1,
    });
    expect(await graph.actor('Paula', { user_id })).toMatchObject({ type: 'person', user_id, placeholder: false });
    const robot = await graph.actor('Robot', { type: 'automation' });
    expect(robot).toMatchObject({ type: 'automation', user_id: null, placeholder: false });
    expect(await graph.call(getActor, { actor_id: robot.id }, graph.reader)).toEqual(robot);
    await graph.refusal(createActor, { type: 'team', name: 'X' }, graph.admin, 'VALIDATION_FAILED');
    await graph.refusal(createActor, { type: 'person', name: '' }, graph.admin, 'VALIDATION_FAILED');
    await graph.refusal(getActor, { actor_id: newId() }, graph.reader, 'ACTOR_NOT_FOUND');
  });

  it('is tied to at most one user, no user to two, and an automation to none [graph.actors.tied-to-user]', async () => {
    const user_id = await newUser('Tom');
    const tom = await graph.actor('Tom', { user_id });
    const other = await graph.actor('Other Tom');
    const robot = await graph.actor('Tom bot', { type: 'automation' });
    for (const error of [
      await graph.refusal(createActor, { type: 'person', name: 'Third Tom', user_id }, graph.admin, 'CONFLICT'),
      await graph.refusal(updateActor, { actor_id: other.id, user_id }, graph.admin, 'CONFLICT'),
    ])
      expect(error.details).toEqual({ current: tom });
    for (const error of [
      await graph.refusal(
        createActor,
        { type: 'automation', name: 'X', user_id: await newUser('Free') },
        graph.admin,
        'VALIDATION_FAILED',
      ),
      await graph.refusal(
        updateActor,
        { actor_id: robot.id, user_id: await newUser('Free too') },
        graph.admin,
        'VALIDATION_FAILED',
      ),
    ])
      expect(error.details).toMatchObject({ issues: [{ path: 'user_id' }] });
    await graph.refusal(createActor, { type: 'person', name: 'X', user_id: newId() }, graph.admin, 'USER_NOT_FOUND');
    await graph.refusal(updateActor, { actor_id: other.id, user_id: newId() }, graph.admin, 'USER_NOT_FOUND');
  });

  it('takes a user once when several ask at the same moment', async () => {
    const user_id = await newUser('Wanted');
    const placeholder = await graph.actor('Wanted placeholder');
    const outcomes = await Promise.allSettled([
      graph.actor('Wanted 1', { user_id }),
      graph.actor('Wanted 2', { user_id }),
      update(placeholder.id, { user_id }),
    ]);
    expect(outcomes.map((outcome) => (outcome.status === 'rejected' ? outcome.reason.code : 'done')).sort()).toEqual([
      'CONFLICT',
      'CONFLICT',
      'done',
    ]);
  });

  it('is renamed under a new version, with an audit row; a stale version is refused', async () => {
    const actor = await graph.actor('Before');
    const node = await graph.node('area', 'Shows the name', { owner_id: actor.id });
    const { applied, preview, actor: after } = await update(actor.id, { name: 'After', expected_version: 1 });
    expect({ applied, preview, name: after.name, version: after.version }).toEqual({
      applied: true,
      preview: null,
      name: 'After',
      version: 2,
    });
    expect((await update(actor.id, { name: 'After' })).actor).toEqual(after);
    expect(
      (
        await graph.refusal(
          updateActor,
          { actor_id: actor.id, name: 'X', expected_version: 1 },
          graph.admin,
          'CONFLICT',
        )
      ).details,
    ).toEqual({ current: after });
    expect(
      await graph.sql(`SELECT before, after FROM audit.entry WHERE target_id = $1 AND action = 'update_actor'`, [
        actor.id,
      ]),
    ).toEqual([{ before: { name: 'Before' }, after: { name: 'After' } }]);
    expect(
      await graph.sql(`SELECT payload FROM outbox.event WHERE payload->>'action' = 'update_actor'`),
    ).toContainEqual({ payload: { node_ids: [node.id], action: 'update_actor' } });
    await graph.refusal(updateActor, { actor_id: newId(), name: 'X' }, graph.admin, 'ACTOR_NOT_FOUND');
  });

  it('tied to a user opens to that user what it owns, once that is confirmed [access.preview.widening-needs-confirmation]', async () => {
    const reader = await graph.user('Owning reader', 'read');
    const actor = await graph.actor('Owner to be');
    const node = await graph.node('area', 'Private to its owner', { visibility: 'private', owner_id: actor.id });
    const child = await graph.node('project', 'Below it', { parent_ids: [node.id] });
    const asked = await update(actor.id, { user_id: reader.user_id, name: 'Owner' });
    expect(asked).toMatchObject({
      applied: false,
      actor,
      preview: { gains: [{ user_name: 'Owning reader', node_count: 2 }] },
    });
    await graph.refusal(getNode, { node_id: child.id }, reader, 'NODE_NOT_FOUND');
    expect(await update(actor.id, { user_id: reader.user_id, name: 'Owner', confirmed: true })).toMatchObject({
      applied: true,
      actor: { name: 'Owner', version: 2 },
    });
    expect((await graph.call(getNode, { node_id: child.id }, reader)).access.level).toBe('write');
    expect(await update(actor.id, { user_id: null })).toMatchObject({
      applied: true,
      preview: { loses: [{ user_name: 'Owning reader' }] },
    });
    await graph.refusal(getNode, { node_id: child.id }, reader, 'NODE_NOT_FOUND');
  });

  it('is changed at manage only [access.tier.structure-needs-manage]', async () => {
    for (const operation of [createActor, updateActor, deleteActor]) {
      await graph.refusal(operation, { type: 'person', name: 'X', actor_id: newId() }, graph.writer, 'FORBIDDEN');
    }
  });
});

describe('the list of actors', () => {
  beforeAll(async () => {
    for (const name of ['Zoë Lister', 'Ádám Lister', 'List bot'])
      await graph.actor(name, { type: name.endsWith('bot') ? 'automation' : 'person' });
  });
  const names = async (input: InputOf<typeof listActors>) =>
    (await graph.call(listActors, input, graph.reader)).items.map(({ name }) => name);

  it('is by name, narrowed by type and a folded part of the name', async () => {
    expect(await names({ query: 'LIST' })).toEqual(['Ádám Lister', 'List bot', 'Zoë Lister']);
    expect(await names({ query: 'list', type: 'automation' })).toEqual(['List bot']);
    expect(await names({ query: 'zoe' })).toEqual(['Zoë Lister']);
  });

  it('comes page by page, each once [graph.paging.cursor] [graph.paging.bad-cursor-refused]', async () => {
    const first = await graph.call(listActors, { query: 'list', limit: 2 }, graph.reader);
    const second = await graph.call(
      listActors,
      { query: 'list', limit: 2, cursor: first.next_cursor ?? '' },
      graph.reader,
    );
    expect([...first.items, ...second.items].map(({ name }) => name)).toEqual([
      'Ádám Lister',
      'List bot',
      'Zoë Lister',
    ]);
    expect(second.next_cursor).toBeNull();
    await graph.refusal(listActors, { cursor: 'rubbish' }, graph.reader, 'VALIDATION_FAILED');
  });
});

describe('deleting an actor', () => {
  it('that nothing uses removes it', async () => {
    const actor = await graph.actor('Unused');
    expect(await remove(actor.id)).toEqual({ applied: true, preview: null, reassigned: 0 });
    await graph.refusal(getActor, { actor_id: actor.id }, graph.admin, 'ACTOR_NOT_FOUND');
    await graph.refusal(deleteActor, { actor_id: actor.id }, graph.admin, 'ACTOR_NOT_FOUND');
  });

  it('in use is refused with its uses [graph.actors.delete-in-use-refused]', async () => {
    const actor = await graph.actor('Used');
    const node = await graph.node('area', 'Uses it', { owner_id: actor.id });
    const duty = await graph.call(
      addResponsibility,
      { node_id: node.id, title: 'Duty', assignee_ids: [actor.id] },
      graph.admin,
    );
    const error = await graph.refusal(deleteActor, { actor_id: actor.id }, graph.admin, 'IN_USE');
    expect(error.details).toEqual({
      use_count: 2,
      uses: [
        { kind: 'owner', node_id: node.id, node_name: 'Uses it', responsibility_id: null },
        { kind: 'assignee', node_id: node.id, node_name: 'Uses it', responsibility_id: duty.id },
      ],
    });
    expect((await graph.call(getActor, { actor_id: actor.id }, graph.admin)).id).toBe(actor.id);
  });

  it('hands every ownership and duty to another one [graph.actors.delete-reassigns]', async () => {
    const [actor, heir] = [await graph.actor('Leaving'), await graph.actor('Heir')];
    const node = await graph.node('area', 'Handed over', { owner_id: actor.id });
    const [only, both] = [
      await graph.call(addResponsibility, { node_id: node.id, title: 'Only', assignee_ids: [actor.id] }, graph.admin),
      await graph.call(
        addResponsibility,
        { node_id: node.id, title: 'Both', assignee_ids: [actor.id, heir.id] },
        graph.admin,
      ),
    ];
    expect(await remove(actor.id, { reassign_to: heir.id })).toMatchObject({ applied: true, reassigned: 3 });
    const after = await graph.call(getNode, { node_id: node.id }, graph.admin);
    expect(after.owner?.name).toBe('Heir');
    expect(after.responsibilities.map(({ id, assignees }) => [id, assignees.map(({ name }) => name)])).toEqual([
      [only.id, ['Heir']],
      [both.id, ['Heir']],
    ]);
    expect(
      await graph.sql(
        `SELECT target_kind, before, after FROM audit.entry WHERE action = 'delete_actor' AND target_id = ANY ($1)`,
        [[node.id, actor.id]],
      ),
    ).toEqual(
      expect.arrayContaining([
        { target_kind: 'node', before: { owner_id: actor.id }, after: { owner_id: heir.id } },
        {
          target_kind: 'actor',
          before: { type: 'person', name: 'Leaving', user_id: null },
          after: { reassigned_to: heir.id },
        },
      ]),
    );
  });

  it('asks first when the heir gains sight of restricted nodes [access.preview.widening-needs-confirmation]', async () => {
    const [actor, heir] = [await graph.actor('Keeper'), await graph.actor('Will', { user_id: graph.writer.user_id })];
    const node = await graph.node('area', 'Kept', { owner_id: actor.id, visibility: 'private' });
    expect(await remove(actor.id, { reassign_to: heir.id })).toMatchObject({
      applied: false,
      reassigned: 1,
      preview: { gains: [{ user_name: 'Will Writer' }] },
    });
    expect((await graph.call(getNode, { node_id: node.id }, graph.admin)).owner?.name).toBe('Keeper');
    expect(await remove(actor.id, { reassign_to: heir.id, confirmed: true })).toMatchObject({ applied: true });
    expect((await graph.call(getNode, { node_id: node.id }, graph.writer)).owner?.name).toBe('Will');
  });

  it('refuses itself and nobody as heir', async () => {
    const actor = await graph.actor('No heir');
    await graph.refusal(deleteActor, { actor_id: actor.id, reassign_to: actor.id }, graph.admin, 'VALIDATION_FAILED');
    await graph.refusal(deleteActor, { actor_id: actor.id, reassign_to: newId() }, graph.admin, 'ACTOR_NOT_FOUND');
    expect((await graph.call(getActor, { actor_id: actor.id }, graph.admin)).version).toBe(1);
  });

  it('while it is being assigned never leaves a use behind', async () => {
    for (let round = 0; round < 5; round += 1) {
      const [actor, heir] = [await graph.actor(`Raced ${round}`), await graph.actor(`Raced heir ${round}`)];
      const node = await graph.node('area', `Raced ${round}`, { owner_id: actor.id });
      const outcomes = await Promise.allSettled([
        graph.call(addResponsibility, { node_id: node.id, title: 'Late', assignee_ids: [actor.id] }, graph.admin),
        remove(actor.id, { reassign_to: heir.id }),
        graph.node('area', `Raced more ${round}`, { owner_id: actor.id }),
      ]);
      expect(
        outcomes
          .flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason.code] : []))
          .filter((code) => code !== 'ACTOR_NOT_FOUND'),
      ).toEqual([]);
      expect(await graph.sql('SELECT 1 FROM graph.actor WHERE id = $1', [actor.id])).toEqual([]);
    }
  });
});

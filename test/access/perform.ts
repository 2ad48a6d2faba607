import { Act } from './act.js';
import * as nodes from './node-acts.js';
import * as people from './people-acts.js';
import type { Session } from './session.js';
import type { Change, Step } from './step.js';

/** Carries a step out in the product and in the world; fails when the product answers otherwise than the rules say. */
export function perform(session: Session, step: Step): Promise<void> {
  return carryOut(new Act(session, step), step.change);
}

function carryOut(act: Act, change: Change): Promise<void> {
  switch (change.do) {
    case 'create_node':
      return nodes.createNodeAct(act, change);
    case 'set_access':
      return nodes.setAccessAct(act, change);
    case 'connect':
      return nodes.connectAct(act, change);
    case 'disconnect':
      return nodes.disconnectAct(act, change);
    case 'move_node':
      return nodes.moveNodeAct(act, change);
    case 'purge_node':
      return nodes.purgeNodeAct(act, change);
    case 'set_owner':
      return nodes.setOwnerAct(act, change);
    case 'archive':
      return nodes.archiveAct(act, change);
    case 'log':
      return nodes.logAct(act, change);
    case 'create_group':
      return people.createGroupAct(act, change);
    case 'change_members':
      return people.changeMembersAct(act, change);
    case 'delete_group':
      return people.deleteGroupAct(act, change);
    case 'create_actor':
      return people.createActorAct(act, change);
    case 'tie_actor':
      return people.tieActorAct(act, change);
    case 'delete_actor':
      return people.deleteActorAct(act, change);
    case 'disable_user':
      return people.disableUserAct(act, change);
    case 'request':
      return people.requestAct(act, change);
  }
}

import {
  Bot,
  Cable,
  IdCard,
  KeyRound,
  Laptop,
  type LucideIcon,
  Plug,
  RefreshCw,
  Stethoscope,
  SunMoon,
  UserRound,
  Users,
} from 'lucide-react';
import type { ComponentType } from 'react';
import type { Me } from '../../api/person';
import { Devices } from './devices';
import { Diagnosis } from './diagnosis';
import { Integrations } from './integrations';
import { Look } from './look';
import { Mcp } from './mcp';
import { Actors } from './people/actors';
import { Groups } from './people/groups';
import { People } from './people/users';
import { Runners } from './runners';
import { Sync, SyncMark } from './sync';
import { Tokens } from './tokens/tokens';

/** A part of the settings; its texts are `settings.<id>.title` and `settings.<id>.about`. */
interface SectionOf<Id extends string> {
  readonly id: Id;
  readonly icon: LucideIcon;
  readonly Body: ComponentType;
  /** What stands beside its name when something in it is to be looked at. */
  readonly Mark?: ComponentType;
  /** Whether there is anything in it for this person; absent: for everybody. */
  readonly isFor?: (me: Me) => boolean;
}

const section = <Id extends string>(one: SectionOf<Id>): SectionOf<Id> => one;

/** The settings, in their order. */
export const SECTIONS = [
  section({ id: 'look', icon: SunMoon, Body: Look }),
  section({ id: 'mcp', icon: Plug, Body: Mcp }),
  section({ id: 'tokens', icon: KeyRound, Body: Tokens }),
  section({ id: 'people', icon: UserRound, Body: People }),
  section({ id: 'groups', icon: Users, Body: Groups, isFor: ({ scope }) => scope === 'manage' }),
  section({ id: 'actors', icon: IdCard, Body: Actors }),
  section({ id: 'sync', icon: RefreshCw, Body: Sync, Mark: SyncMark }),
  section({ id: 'integrations', icon: Cable, Body: Integrations }),
  section({ id: 'runners', icon: Bot, Body: Runners }),
  section({ id: 'devices', icon: Laptop, Body: Devices }),
  section({ id: 'diagnosis', icon: Stethoscope, Body: Diagnosis, isFor: ({ scope }) => scope === 'manage' }),
];
export type Section = (typeof SECTIONS)[number];

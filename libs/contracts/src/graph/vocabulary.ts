import { z } from 'zod';

export const NODE_TYPES = ['organization', 'project', 'process', 'area', 'principle'] as const;
export const NodeType = z.enum(NODE_TYPES);
export type NodeType = z.infer<typeof NodeType>;

/** Lifecycle values of each node type; the first one is the value of a new node. */
export const LIFECYCLES = {
  organization: ['active', 'inactive', 'archived'],
  project: ['backlog', 'planned', 'in_progress', 'on_hold', 'done', 'cancelled'],
  process: ['not_implemented', 'implementing', 'operating', 'at_risk', 'broken', 'retired'],
  area: ['active', 'needs_attention', 'inactive', 'archived'],
  principle: ['active', 'archived'],
} as const satisfies Record<NodeType, readonly string[]>;

export const Lifecycle = z
  .enum([
    'active',
    'inactive',
    'archived',
    'backlog',
    'planned',
    'in_progress',
    'on_hold',
    'done',
    'cancelled',
    'not_implemented',
    'implementing',
    'operating',
    'at_risk',
    'broken',
    'retired',
    'needs_attention',
  ])
  .describe('State of a node in the life of its type.');
export type Lifecycle = z.infer<typeof Lifecycle>;

export const NodeStatus = z
  .enum(['active', 'completed', 'archived'])
  .describe('Derived from the lifecycle; never set by itself.');
export type NodeStatus = z.infer<typeof NodeStatus>;

/** The status that follows from each lifecycle; there is no other way to a status. */
export const STATUS_OF_LIFECYCLE: Readonly<Record<Lifecycle, NodeStatus>> = {
  active: 'active',
  backlog: 'active',
  planned: 'active',
  in_progress: 'active',
  on_hold: 'active',
  not_implemented: 'active',
  implementing: 'active',
  operating: 'active',
  at_risk: 'active',
  broken: 'active',
  needs_attention: 'active',
  done: 'completed',
  archived: 'archived',
  retired: 'archived',
  cancelled: 'archived',
  inactive: 'archived',
};

export const Health = z.enum(['on_track', 'at_risk', 'off_track']).describe('Health of a project.');
export type Health = z.infer<typeof Health>;

export const Relation = z.enum(['belongs_to', 'related_to', 'applies', 'informed_by']);
export type Relation = z.infer<typeof Relation>;

export const Visibility = z.enum(['everyone', 'private', 'group']);
export type Visibility = z.infer<typeof Visibility>;

export const AccessLevel = z.enum(['read', 'write']);
export type AccessLevel = z.infer<typeof AccessLevel>;

export const EventKind = z.enum(['decision', 'discovery', 'blocker', 'reference', 'milestone', 'note', 'change']);
export type EventKind = z.infer<typeof EventKind>;

export const EventStatus = z.enum(['active', 'resolved', 'superseded', 'archived']);
export type EventStatus = z.infer<typeof EventStatus>;

export const ActorType = z.enum(['person', 'automation']);
export type ActorType = z.infer<typeof ActorType>;

/** Types that carry responsibilities, data sources and tools. */
export const WORKING_TYPES = ['project', 'process', 'area'] as const satisfies readonly NodeType[];

import { Id, Relation } from '@workspace-graph/contracts';
import { cursorOf, FIRST_ID } from '@workspace-graph/database';
import { z } from 'zod';

type EdgeKey = [rank: number, relation: string, otherId: string];

/** Sort key of a node's edges: 0 outgoing and 1 incoming, the relation, the node at the other end. */
export const EDGE_CURSOR = cursorOf<EdgeKey>('list_edges', z.tuple([z.int().min(0).max(1), Relation, Id]));

export const EDGES_START: EdgeKey = [0, '', FIRST_ID];

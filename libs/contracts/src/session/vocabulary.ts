import { z } from 'zod';
import { Id } from '../common.js';

/** A session where another record tells of it. */
export const SessionRef = z.strictObject({ id: Id, name: z.string() });

export const AgentName = z.string().nullable().describe('The program at work; null when it is not known.');

/** A session ends by an explicit close alone; whatever else happens to its run suspends it. */
export const SessionState = z.enum(['running', 'suspended', 'closed', 'archived']);
export type SessionState = z.infer<typeof SessionState>;

/** Where a session comes from: an agent that connected by MCP, or a task that was started here. */
export const SessionOrigin = z.enum(['connection', 'task']);
export type SessionOrigin = z.infer<typeof SessionOrigin>;

/** Why a session was suspended. */
export const SuspendReason = z.enum([
  'disconnect',
  'idle',
  'terminal_exit',
  'server_restart',
  'agent_missed_handoff',
  'user',
]);
export type SuspendReason = z.infer<typeof SuspendReason>;

/** How a run takes up what was before: `conversation` goes on with it, `handoff` starts afresh from the handoff. */
export const RunMode = z.enum(['fresh', 'conversation', 'handoff']);
export type RunMode = z.infer<typeof RunMode>;

export const ResumeMode = RunMode.exclude(['fresh']);
export type ResumeMode = z.infer<typeof ResumeMode>;

export const RunOutcome = z.enum(['completed', 'interrupted', 'suspended', 'closed', 'failed', 'lost']);
export type RunOutcome = z.infer<typeof RunOutcome>;

export const QuestionType = z.enum(['approval', 'input']);
export type QuestionType = z.infer<typeof QuestionType>;

/** How a node came into the scope of a session. */
export const ScopeAddedVia = z.enum(['seed', 'expand', 'write', 'disconnected', 'user']);
export type ScopeAddedVia = z.infer<typeof ScopeAddedVia>;

export const ScopeAccess = z.enum(['read', 'write']);
export type ScopeAccess = z.infer<typeof ScopeAccess>;

/** What a person made of a node that an agent brought into its scope. */
export const ScopeReview = z.enum(['accepted', 'rejected']);
export type ScopeReview = z.infer<typeof ScopeReview>;

/**
 * Who did something to a session. The owner has no name here, for those who see the session need not know whose it is;
 * `manager` is somebody else with the scope manage.
 */
export const SessionActor = z.strictObject({
  role: z.enum(['owner', 'manager', 'agent', 'server']),
  name: z.string().nullable().describe('Of a manager; null for everybody else.'),
});
export type SessionActor = z.infer<typeof SessionActor>;

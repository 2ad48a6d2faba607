import 'reflect-metadata';
import { runProcess } from '@workspace-graph/platform';
import { serveSessions } from './serve-sessions.js';

/** The session service of a central workspace: records and logs of what agents do, and their sweeps. */
await runProcess('session-svc', process.env, (parts) => serveSessions(parts));

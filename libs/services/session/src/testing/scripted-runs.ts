import type { Decision, Runner } from '@workspace-graph/contracts';
import type { RunOrder, RunRef, SessionRuns, WrittenHandoff } from '../runs/session-runs.js';

/** Runs that do what a test says: a runner without a program. */
export class ScriptedRuns implements SessionRuns {
  readonly holder = 'scripted';
  available: readonly Runner[] = [
    { id: 'scripted', name: 'Scripted', installed: true, logged_in: true },
    { id: 'absent', name: 'Absent', installed: false, logged_in: false },
    { id: 'logged-out', name: 'Logged out', installed: true, logged_in: false },
  ];
  /** Everything that was asked, in order. */
  readonly asked: string[] = [];
  readonly orders: RunOrder[] = [];
  readonly messages: { readonly run_id: string; readonly seq: number; readonly text: string }[] = [];
  readonly answers: { readonly request_id: string; readonly decision: Decision | null }[] = [];
  /** Run ids that are there. */
  readonly live = new Set<string>();
  /** What the next handover answers; null keeps silent until it is given up. */
  handoff: WrittenHandoff | null = { title: 'Draft is ready', text: 'The draft lies in wip/draft.md.' };
  canContinue = false;
  failToStart: string | null = null;
  /** Whoever drives the runs cannot be reached. */
  isAway = false;

  async runners(): Promise<readonly Runner[]> {
    return this.available;
  }

  async start(order: RunOrder): Promise<void> {
    this.asked.push('start');
    if (this.failToStart !== null) throw new Error(this.failToStart);
    this.orders.push(order);
    this.live.add(order.run_id);
  }

  async message({ run_id }: RunRef, message: { readonly seq: number; readonly text: string }): Promise<boolean> {
    this.beThere();
    this.asked.push('message');
    this.messages.push({ run_id, ...message });
    return this.live.has(run_id);
  }

  async answer({ run_id }: RunRef, request_id: string, decision: Decision | null): Promise<boolean> {
    this.beThere();
    this.asked.push('answer');
    this.answers.push({ request_id, decision });
    return this.live.has(run_id);
  }

  async interrupt({ run_id }: RunRef): Promise<boolean> {
    this.beThere();
    this.asked.push('interrupt');
    return this.live.has(run_id);
  }

  async handOver(
    _run: RunRef,
    signal: AbortSignal,
  ): Promise<{ readonly handoff: WrittenHandoff | null; readonly can_continue: boolean }> {
    this.beThere();
    this.asked.push('handOver');
    if (this.handoff === null)
      await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
    return { handoff: this.handoff, can_continue: this.canContinue };
  }

  async stop({ run_id }: RunRef, why: 'suspended' | 'closed'): Promise<void> {
    this.beThere();
    this.asked.push(`stop ${why}`);
    this.live.delete(run_id);
  }

  private beThere(): void {
    if (this.isAway) throw new Error('The device is away.');
  }
}

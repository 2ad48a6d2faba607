import type { SessionEvent } from '@workspace-graph/contracts';

export type ToolCall = Extract<SessionEvent, { readonly kind: 'tool_call' }>;
export type Question = Extract<SessionEvent, { readonly kind: 'question' }>;

/** Some events of a log that follow each other, as far as they are known. */
export class LogPage {
  characters = 0;
  private readonly events = new Map<number, SessionEvent>();
  private readonly starts = new Map<string, ToolCall>();
  private readonly ends = new Map<string, ToolCall>();
  private readonly questions = new Map<string, Question>();

  at(seq: number): SessionEvent | undefined {
    return this.events.get(seq);
  }

  startOf(callId: string): ToolCall | undefined {
    return this.starts.get(callId);
  }

  endOf(callId: string): ToolCall | undefined {
    return this.ends.get(callId);
  }

  question(requestId: string): Question | undefined {
    return this.questions.get(requestId);
  }

  /** An event that is known already stays as it is. */
  put(event: SessionEvent): void {
    if (this.events.has(event.seq)) return;
    this.events.set(event.seq, event);
    this.characters += lengthOf(event.payload);
    if (event.kind === 'tool_call') {
      const { phase, call_id } = event.payload;
      (phase === 'started' ? this.starts : this.ends).set(call_id, event);
    }
    if (event.kind === 'question') this.questions.set(event.payload.request_id, event);
  }
}

function lengthOf(payload: object): number {
  return Object.values(payload).reduce<number>(
    (sum, value) => sum + (typeof value === 'string' ? value.length : 20),
    0,
  );
}

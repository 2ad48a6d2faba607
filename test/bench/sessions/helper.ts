import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';

/** What a process can be asked for, by name. */
export type Calls = Readonly<Record<string, (input: never) => Promise<unknown>>>;

type InputOf<Call> = Call extends (input: infer Input) => unknown ? Input : never;
type AnswerOf<Call> = Call extends (input: never) => Promise<infer Answer> ? Answer : never;

interface Returned {
  readonly id: number;
  readonly answer?: unknown;
  readonly error?: string;
}

interface Waiting {
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: Error) => void;
}

const hooks = new URL('../source-names.mjs', import.meta.url).href;

/** One process of the benchmark, seen from the one that coordinates. */
export class Helper<Its extends Calls> implements AsyncDisposable {
  private readonly child: ChildProcess;
  private readonly waiting = new Map<number, Waiting>();
  private sent = 0;

  constructor(file: URL) {
    this.child = fork(file, {
      execArgv: ['--expose-gc', '--disable-warning=ExperimentalWarning', '--import', hooks],
      serialization: 'advanced',
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    this.child.on('message', (returned: Returned) => this.settle(returned));
    this.child.on('exit', (code, signal) =>
      this.fail(new Error(`A process of the benchmark ended (${signal ?? code})`)),
    );
    this.child.on('error', (error) => this.fail(error));
  }

  call<Name extends keyof Its & string>(name: Name, input: InputOf<Its[Name]>): Promise<AnswerOf<Its[Name]>> {
    const id = ++this.sent;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve: (answer) => resolve(answer as AnswerOf<Its[Name]>), reject });
      this.child.send({ id, name, input }, (error) => error && this.fail(error));
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) return;
    const ended = once(this.child, 'exit');
    this.child.disconnect();
    await ended;
  }

  private settle({ id, answer, error }: Returned): void {
    const waiting = this.waiting.get(id);
    this.waiting.delete(id);
    if (error === undefined) waiting?.resolve(answer);
    else waiting?.reject(new Error(error));
  }

  private fail(error: Error): void {
    for (const { reject } of this.waiting.values()) reject(error);
    this.waiting.clear();
  }
}

/** Lets the process that started this one call functions here. It ends with that process. */
export function answerCalls(calls: Calls): void {
  process.on('message', ({ id, name, input }: { id: number; name: string; input: unknown }) => {
    const call = calls[name] as ((input: unknown) => Promise<unknown>) | undefined;
    const send = (returned: Returned): void => void process.send?.(returned);
    Promise.resolve(call?.(input)).then(
      (answer) => send({ id, answer }),
      (error: unknown) => send({ id, error: error instanceof Error ? (error.stack ?? error.message) : String(error) }),
    );
  });
  process.on('disconnect', () => process.exit());
}

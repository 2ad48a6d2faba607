import { Injectable } from '@nestjs/common';
import { LIMITS, type OutputOf, type ParsedInputOf, type renameFolder, ServiceError } from '@workspace-graph/contracts';
import { type CommandContext, Database } from '@workspace-graph/database';
import { filePathParts, type Prefixes, pathKey, renamedPrefixes } from '@workspace-graph/domain';
import { FILES_UNDER } from './remote-file.statements.js';
import { isTaken, RemoteFiles } from './remote-files.js';
import { RemoteMoves } from './remote-moves.js';

type Input = ParsedInputOf<typeof renameFolder>;
type Output = OutputOf<typeof renameFolder>;
type Step = Output['renamed'][number];

interface Renaming {
  readonly input: Input;
  readonly context: CommandContext;
  readonly signal: AbortSignal;
}

/** What came of one file. */
interface Renamed {
  readonly step: Step;
  readonly hint: string | null;
  /** Why it stays where it is. */
  readonly refusal: ServiceError | null;
}

/** Renames folders on remotes: each of their files is a move of its own, which is finished or taken back by itself. */
@Injectable()
export class RemoteRenames {
  constructor(
    private readonly database: Database,
    private readonly files: RemoteFiles,
    private readonly moves: RemoteMoves,
  ) {}

  /** @throws ServiceError NODE_NOT_FOUND, FORBIDDEN, VALIDATION_FAILED, FILE_NOT_FOUND; what kept every file from moving */
  async run(renaming: Renaming): Promise<Output> {
    const { input, context } = renaming;
    await this.files.writable(input.node_id, context.caller);
    const prefixes = renamedPrefixes(input);
    const { steps, total } = await this.plan(renaming, prefixes);
    const told = { repair_needed: false, hint: null };
    if (input.dry_run) return { ...told, applied: false, renamed: steps, remaining: total };
    const outcomes: Renamed[] = [];
    for (const step of steps) outcomes.push(await this.rename(step, renaming));
    const [first] = outcomes;
    if (first?.refusal && outcomes.every(({ refusal }) => refusal?.code === first.refusal?.code)) throw first.refusal;
    const hint = outcomes.find((outcome) => outcome.hint !== null)?.hint ?? null;
    return {
      applied: hint === null,
      renamed: outcomes.map(({ step }) => step),
      remaining: await this.count(input.node_id, prefixes.from),
      repair_needed: hint !== null,
      hint,
    };
  }

  /** The first files that can move, up to the limit, and at most as many of those that cannot. */
  private async plan({ input }: Renaming, { from, to }: Prefixes): Promise<{ steps: Step[]; total: number }> {
    const limit = input.dry_run ? LIMITS.renameFolderMax : input.limit;
    const rows = await this.database.rows<{ id: string; path: string }>(FILES_UNDER, [input.node_id, from]);
    if (rows.length === 0 && (await this.count(input.node_id, to)) === 0)
      throw new ServiceError('FILE_NOT_FOUND', `old_prefix: there is no tracked file under ${from}.`, { path: from });
    const goalOf = (path: string): string => `${to}${path.slice(from.length)}`;
    const goals = rows.map(({ path }) => goalOf(path));
    const taken = await this.files.taken(input.node_id, goals);
    const steps: Step[] = [];
    let movable = 0;
    for (const { id, path } of rows) {
      if (movable === limit) break;
      const goal = goalOf(path);
      const there = taken.get(pathKey(goal));
      const problem = there && there.id !== id ? isTaken(there.path).message : null;
      if (problem === null) movable += 1;
      if (problem === null || steps.length - movable < limit)
        steps.push({ file_id: id, from: path, to: goal, already_at_target: false, problem });
    }
    return { steps, total: rows.length };
  }

  private async rename(step: Step, { input, context, signal }: Renaming): Promise<Renamed> {
    if (step.problem !== null) return { step, hint: null, refusal: null };
    const { section, subpath, filename } = filePathParts(step.to);
    const to = { new_section: section, new_subpath: subpath, new_filename: filename };
    const move = { node_id: input.node_id, file_id: step.file_id, ...to, confirmed: true };
    // Each is a change of its own, which is applied once however often this call is repeated.
    const envelope = { ...context.envelope, callId: `${context.envelope.callId}/${step.file_id}` };
    try {
      const reply = await this.moves.run({ input: move, context: { ...context, envelope, input: move }, signal });
      const { already_at_target, hint } =
        'parse' in reply ? (reply.parse() as { already_at_target: boolean; hint: string | null }) : reply;
      return { step: { ...step, already_at_target }, hint, refusal: null };
    } catch (error) {
      if (!(error instanceof ServiceError) || signal.aborted) throw error;
      return { step: { ...step, problem: error.message }, hint: null, refusal: error };
    }
  }

  private async count(nodeId: string, prefix: string): Promise<number> {
    return (await this.database.rows(FILES_UNDER, [nodeId, prefix])).length;
  }
}

import type { Tool } from '@modelcontextprotocol/server';
import { type Operation, SCOPES, type Scope, scopeIncludes, type Tier } from '@workspace-graph/contracts';
import { z } from 'zod';
import { BUDGET_INPUT, isBudgeted } from './answer-budget.js';
import { inputSchemaOf } from './tool-schema.js';
import { inToolNames } from './tool-words.js';

/** One tool: what a client is told about it, and the operation behind it. */
export interface ToolEntry {
  readonly operation: Operation;
  readonly scope: Scope;
  readonly tool: Tool;
  /** Whether the tool takes `max_tokens` beside the input of its operation. */
  readonly isBudgeted: boolean;
}

/** The tools of all operations with an MCP binding. Built once; every session shares it. */
export class ToolTable {
  private readonly entries = new Map<string, ToolEntry>();
  private readonly lists: ReadonlyMap<Scope, readonly Tool[]>;

  /** @throws Error for a tool without a scope, declared twice, without a word on what it does, or with a result that is no object */
  constructor(
    operations: Iterable<Operation>,
    private readonly unlisted: readonly Operation[] = [],
  ) {
    for (const operation of operations) {
      if (operation.mcp) this.add(entryOf(operation, operation.mcp.tool));
    }
    this.lists = new Map(SCOPES.map((scope) => [scope, this.within(scope)]));
  }

  get size(): number {
    return this.entries.size;
  }

  /** The tools that agents are told of. */
  all(): readonly ToolEntry[] {
    return [...this.entries.values()].filter(({ operation }) => !this.unlisted.includes(operation));
  }

  find(name: string): ToolEntry | undefined {
    return this.entries.get(name);
  }

  /** What a credential of this scope may call, in the order of the operations table. */
  listFor(scope: Scope): readonly Tool[] {
    return this.lists.get(scope) ?? [];
  }

  private add(entry: ToolEntry): void {
    const { name } = entry.tool;
    if (this.entries.has(name)) throw new Error(`Tool ${name} is bound to two operations`);
    this.entries.set(name, entry);
  }

  private within(scope: Scope): readonly Tool[] {
    return this.all()
      .filter((entry) => scopeIncludes(scope, entry.scope))
      .map((entry) => entry.tool);
  }
}

function entryOf(operation: Operation, name: string): ToolEntry {
  if (!operation.doc.trim()) throw new Error(`Tool ${name} has no description`);
  const budgeted = isBudgeted(operation);
  const { input, output } = operation;
  if (!(output instanceof z.ZodObject) && z.toJSONSchema(output, { io: 'output' }).type !== 'object')
    throw new Error(`The result of tool ${name} must be an object`);
  let inputSchema: Tool['inputSchema'] | undefined;
  return {
    operation,
    scope: scopeOf(operation.tier, name),
    isBudgeted: budgeted,
    tool: {
      name,
      title: operation.mcp?.title,
      description: inToolNames(operation.doc),
      // Made when the first client asks: all of them take a tenth of the time of a start.
      get inputSchema() {
        inputSchema ??= inputSchemaOf(budgeted ? input.extend(BUDGET_INPUT) : input);
        return inputSchema;
      },
      annotations: {
        readOnlyHint: operation.readOnly,
        destructiveHint: !operation.readOnly && !operation.mcp?.additive,
        idempotentHint: operation.idempotent,
        openWorldHint: false,
      },
    },
  };
}

function scopeOf(tier: Tier | undefined, name: string): Scope {
  const scope = SCOPES.find((candidate) => candidate === tier);
  if (!scope) throw new Error(`Tool ${name} declares no scope`);
  return scope;
}

/** Whether nodes have folders; in a central workspace their files are on its remotes, and on its devices in folders. */
export function hasFolders(table: ToolTable): boolean {
  return table.find('svc_mirror') !== undefined;
}

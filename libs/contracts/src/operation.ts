import type { z } from 'zod';
import { SCOPES, type Scope, type Via } from './caller.js';
import type { ErrorCode } from './errors.js';

/** The service that answers an operation. */
export const OWNERS = ['identity', 'graph', 'file', 'device', 'session', 'workspace'] as const;
export type Owner = (typeof OWNERS)[number];

/**
 * Access tier: a scope; `device` for what devices ask on behalf of their person, whose scope must include write for a
 * command; `internal` for calls between our own processes. No surface offers the last two.
 */
export type Tier = Scope | 'device' | 'internal';

/** What an agent's session must hold of what a field names: nothing, its read scope or its write scope. */
export type ReachAccess = 'free' | 'read' | 'write';

/**
 * Says for each field of an input that names a node, or what belongs to one, what of it a session must hold; a field
 * that is absent from a call names nothing. `internal` for calls between our own processes, which no session makes.
 */
export type Reach = Readonly<Record<string, ReachAccess>> | 'internal';

export type HttpMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** REST binding. Path parameters are `{name}`; the rest of the input is the query (GET, DELETE) or the JSON body. */
export interface RestBinding {
  /** GET and DELETE take the rest of the input from the query, the others from the body. */
  readonly method: HttpMethod;
  /** Path with its parameters in braces, such as `/nodes/{node_id}`. */
  readonly path: `/${string}`;
  /** HTTP status of success. Default 200. */
  readonly status?: number;
  /** Groups routes in the OpenAPI document. */
  readonly tag: string;
  /** Inputs that mean nothing to a caller over REST; the document leaves them out. */
  readonly unused?: readonly string[];
}

/** MCP binding of an operation. */
export interface McpBinding {
  /** Name of the tool, unique. */
  readonly tool: `svc_${string}`;
  /** Name of the tool for people. */
  readonly title: string;
  /** A change that only adds: nothing that is there is altered, moved or removed. */
  readonly additive?: boolean;
  /** The answer is only useful as a whole; the operation itself limits its size. */
  readonly whole?: boolean;
  /** A change that is called for what it answers: its tool takes max_tokens as those do that only read. */
  readonly budgeted?: boolean;
  /** Where to find what was omitted from an answer, in addition to pages and a larger max_tokens. */
  readonly more?: string;
}

export type ObjectSchema = z.ZodObject;

/**
 * One thing that the product can do, declared once. A handler implements it; REST routes, MCP tools and bus
 * subjects are bindings onto it.
 */
export interface Operation<I extends ObjectSchema = ObjectSchema, O extends z.ZodType = z.ZodType> {
  /** Verb first, snake case, unique. */
  readonly name: string;
  /** The service that carries it out. */
  readonly owner: Owner;
  /** Who may call it; the edge and the owner's registry both check it. */
  readonly tier: Tier;
  /** What of it an agent's session must hold in its scope. */
  readonly reach: Reach;
  /** False for operations that change state; those are applied once per call id. */
  readonly readOnly: boolean;
  /** Repeating the call with the same input leaves the same state (annotation for clients). */
  readonly idempotent: boolean;
  /** One line for people and agents: OpenAPI summary and MCP tool description. */
  readonly doc: string;
  /** Validated by the owner before the handler runs; defaults are then filled in. */
  readonly input: I;
  /** What a handler returns. Checked by the tests, not at run time. */
  readonly output: O;
  /** Codes in addition to those that every operation may return (COMMON_ERRORS). */
  readonly errors: readonly ErrorCode[];
  /** Without it, REST does not offer the operation. */
  readonly rest?: RestBinding;
  /** Without it, there is no tool. */
  readonly mcp?: McpBinding;
  /** Of the device: the centre carries it out too, on the remote, for a caller who has no workstation. */
  readonly atCentre?: boolean;
  /**
   * Internal, and for devices over their link too, whose person has this scope: what it may do follows from the caller, whom
   * the gateway names.
   */
  readonly overLink?: Scope;
  /** Time the bus waits for the whole reply, in milliseconds. */
  readonly timeoutMs: number;
}

/** Codes that any operation may answer. */
export const COMMON_ERRORS = [
  'VALIDATION_FAILED',
  'UNAUTHENTICATED',
  'FORBIDDEN',
  'HOST_NOT_ALLOWED',
  'ORIGIN_NOT_ALLOWED',
  'PAYLOAD_TOO_LARGE',
  'HEADERS_TOO_LARGE',
  'RATE_LIMITED',
  'REQUEST_TIMEOUT',
  'REQUEST_CANCELLED',
  'INTERNAL',
  'SERVICE_UNAVAILABLE',
  'TIMEOUT',
] as const satisfies readonly ErrorCode[];

export const DEFAULT_TIMEOUT_MS = 10_000;

type Declaration<I extends ObjectSchema, O extends z.ZodType> = Omit<
  Operation<I, O>,
  'readOnly' | 'idempotent' | 'errors' | 'timeoutMs'
> &
  Partial<Pick<Operation<I, O>, 'idempotent' | 'errors' | 'timeoutMs'>>;

/** Declares an operation that only reads. */
export function query<I extends ObjectSchema, O extends z.ZodType>(declaration: Declaration<I, O>): Operation<I, O> {
  return { errors: [], timeoutMs: DEFAULT_TIMEOUT_MS, ...declaration, readOnly: true, idempotent: true };
}

/** Declares an operation that changes state. */
export function command<I extends ObjectSchema, O extends z.ZodType>(declaration: Declaration<I, O>): Operation<I, O> {
  return { errors: [], timeoutMs: DEFAULT_TIMEOUT_MS, idempotent: false, ...declaration, readOnly: false };
}

/** Whether people and programs may call the operation over a surface. */
export function isOffered(operation: Operation): operation is Operation & { readonly tier: Scope } {
  return (SCOPES as readonly Tier[]).includes(operation.tier);
}

/** What a caller calls an operation: the tool on MCP, method and path on REST. */
export function nameOn(via: Via, { name, mcp, rest }: Operation): string {
  if (via === 'mcp' && mcp) return mcp.tool;
  return rest ? `${rest.method} ${rest.path}` : name;
}

/** What a caller passes. */
export type InputOf<Op extends Operation> = z.input<Op['input']>;
/** What a handler receives: validated, defaults filled in. */
export type ParsedInputOf<Op extends Operation> = z.output<Op['input']>;
export type OutputOf<Op extends Operation> = z.output<Op['output']>;

/** Members of an answer that surfaces need, sent with its text so that they need not parse it. */
export interface JsonFacts {
  /** Of the record that is answered, or that the answer of a change holds. */
  readonly version?: number;
  /** Whether a change was carried out. */
  readonly applied?: boolean;
  /** Identifies the state of the answer, as a version does for a record. */
  readonly token?: string;
  /** Nothing has changed since the token that was asked about. */
  readonly unchanged?: boolean;
}

/**
 * An answer that is JSON text already, such as one assembled by the database. Transports and surfaces pass it on as it
 * came, as text or as UTF-8 bytes, without parsing it. It must be a valid JSON value of the operation's output schema,
 * and its facts are what that text says.
 */
export class RawJson {
  private decoded: string | undefined;

  constructor(
    readonly source: string | Uint8Array,
    readonly facts: JsonFacts = {},
  ) {}

  get text(): string {
    if (typeof this.source === 'string') return this.source;
    this.decoded ??= new TextDecoder().decode(this.source);
    return this.decoded;
  }

  parse(): unknown {
    return JSON.parse(this.text);
  }
}

/** What a handler may answer. */
export type ReplyOf<Op extends Operation> = OutputOf<Op> | RawJson;

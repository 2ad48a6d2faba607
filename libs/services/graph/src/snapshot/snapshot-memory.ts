import { Injectable } from '@nestjs/common';
import type { Caller } from '@workspace-graph/contracts';
import { Turns } from '../shared/turns.js';
import type { RememberedContent } from './snapshot-content.js';

/** What a viewer was shown last, and the snapshot of the database in which it was so. */
export interface LastShown {
  readonly token: string;
  readonly asOf: string;
}

interface Viewer {
  readonly last: Map<boolean, LastShown>;
  /** Tokens that this viewer was given, oldest first. */
  readonly tokens: Set<string>;
}

const CONTENT_BYTES = 64 * 1_048_576;
const VIEWERS = 5_000;
const TOKENS_PER_VIEWER = 16;
/** A whole graph takes the memory of several of its answers while it is read. */
const READ_AT_ONCE = 2;

/**
 * Remembers what callers were shown, for deltas and for the question whether anything has changed. Whether a memory
 * still holds is asked of the database at each request; nothing here decides what somebody may see. Bounded: the
 * longest unused goes first. A content is kept once however many viewers see it, and only a viewer who was given its
 * token gets a delta from it.
 */
@Injectable()
export class SnapshotMemory {
  /** Whoever reads a whole graph takes one, so that memory stays bounded and other requests get on. */
  readonly turns = new Turns(READ_AT_ONCE);
  private readonly viewers = new Map<string, Viewer>();
  private readonly contents = new Map<string, RememberedContent>();
  private bytes = 0;

  last(caller: Caller, includeArchived: boolean): LastShown | undefined {
    return this.viewerOf(caller).last.get(includeArchived);
  }

  /** Remembers that the viewer sees this content as of that snapshot of the database. */
  show(caller: Caller, includeArchived: boolean, content: RememberedContent, asOf: string): void {
    this.keep(content);
    const viewer = this.viewerOf(caller);
    viewer.last.set(includeArchived, { token: content.token, asOf });
    viewer.tokens.delete(content.token);
    viewer.tokens.add(content.token);
    for (const token of viewer.tokens) {
      if (viewer.tokens.size <= TOKENS_PER_VIEWER) break;
      viewer.tokens.delete(token);
    }
  }

  /** What is shown now is still what was shown last. */
  confirm(caller: Caller, includeArchived: boolean, token: string, asOf: string): void {
    this.viewerOf(caller).last.set(includeArchived, { token, asOf });
  }

  /** The content of a token that this viewer was given; undefined for any other. */
  given(caller: Caller, token: string): RememberedContent | undefined {
    if (!this.viewerOf(caller).tokens.has(token)) return undefined;
    const content = this.contents.get(token);
    if (content) this.keep(content);
    return content;
  }

  private viewerOf(caller: Caller): Viewer {
    const key = `${caller.scope === 'manage' ? 'all' : 'own'}:${caller.user_id}`;
    const viewer = this.viewers.get(key) ?? { last: new Map(), tokens: new Set() };
    this.viewers.delete(key);
    this.viewers.set(key, viewer);
    for (const oldest of this.viewers.keys()) {
      if (this.viewers.size <= VIEWERS) break;
      this.viewers.delete(oldest);
    }
    return viewer;
  }

  private keep(content: RememberedContent): void {
    const known = this.contents.get(content.token);
    if (known) this.bytes -= known.members.length;
    this.contents.delete(content.token);
    this.contents.set(content.token, known ?? content);
    this.bytes += content.members.length;
    for (const [token, { members }] of this.contents) {
      if (this.bytes <= CONTENT_BYTES) break;
      this.contents.delete(token);
      this.bytes -= members.length;
    }
  }
}

import type { getSnapshot, OutputOf } from '@workspace-graph/contracts';
import type { Session } from './session.js';
import type { Name } from './world.js';

type Answer = OutputOf<typeof getSnapshot>;
type Whole = Extract<Answer, { full: boolean }>;

/** What a client has drawn of the graph. */
class Drawing {
  token: string | null = null;
  readonly nodes = new Set<string>();
  /** `source relation target` */
  readonly edges = new Set<string>();

  apply(answer: Answer): void {
    this.token = answer.token;
    if (!('full' in answer)) return;
    if (answer.full) {
      this.nodes.clear();
      this.edges.clear();
    }
    for (const id of answer.nodes.id) this.nodes.add(id);
    for (const id of answer.removed) this.nodes.delete(id);
    for (const edge of [...triplesOf(answer), ...namesOf(answer, answer.edges_added)]) this.edges.add(edge);
    for (const edge of namesOf(answer, answer.edges_removed)) this.edges.delete(edge);
  }
}

/** Edges of a whole answer, whose ends are rows. */
function triplesOf({ edges, nodes, relations }: Whole): string[] {
  const found: string[] = [];
  for (let at = 0; at < edges.length; at += 3) {
    const [source = -1, target = -1, relation = -1] = edges.slice(at, at + 3);
    found.push(`${nodes.id[source]} ${relations[relation]} ${nodes.id[target]}`);
  }
  return found;
}

function namesOf({ relations }: Whole, edges: Whole['edges_added']): string[] {
  return edges.map(([source, target, relation]) => `${source} ${relations[relation]} ${target}`);
}

const drawings = new WeakMap<Session, Map<Name, Drawing>>();

/** The drawing of one user's client in a session. */
export function drawingOf(session: Session, user: Name): Drawing {
  const ofSession = drawings.get(session) ?? new Map<Name, Drawing>();
  drawings.set(session, ofSession);
  const drawing = ofSession.get(user) ?? new Drawing();
  ofSession.set(user, drawing);
  return drawing;
}

import type { Colours } from './colours';

/** What is more important keeps its label: 3 selected, 2 beside it, 1 plain, 0 faded. */
export type Rank = 0 | 1 | 2 | 3;

/** A label that would be drawn, in pixels of the canvas. */
interface Candidate {
  readonly x: number;
  readonly y: number;
  readonly size: number;
  readonly label: string | null;
  readonly rank: Rank;
}

interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

const FONTS = ['420 11.5px', '520 11.5px', '600 12.5px', '600 14px'] as const;
/** From this size on, nodes have larger names. */
const LARGE_PX = 7;
const FAMILY = 'Inter, system-ui, sans-serif';
const GAP = 5;

/** The names of nodes: noted as they come, drawn by their importance, and never one over another. */
export class Labels {
  private noted: Candidate[] = [];

  constructor(private readonly colours: () => Colours) {}

  note(candidate: Candidate): void {
    this.noted.push(candidate);
  }

  /** Draws what was noted since the last time, and the ring of the selected node. */
  draw(context: CanvasRenderingContext2D, selected: Omit<Candidate, 'label' | 'rank'> | null): void {
    const list = this.noted.sort((a, b) => b.rank - a.rank || b.size - a.size);
    this.noted = [];
    const drawn: Box[] = [];
    if (selected) drawn.push(this.ring(context, selected));
    for (const candidate of list) this.drawOne(context, candidate, drawn);
  }

  /** The name of the node under the pointer, over everything. */
  hover(context: CanvasRenderingContext2D, { x, y, size, label, rank }: Candidate): void {
    const { text, surface } = this.colours();
    if (label === null) return;
    context.font = `${FONTS[2]} ${FAMILY}`;
    const width = context.measureText(label).width;
    context.fillStyle = surface;
    context.shadowColor = 'rgb(0 0 0 / 0.25)';
    context.shadowBlur = 6;
    context.beginPath();
    context.roundRect(x + size + GAP - 4, y - 10, width + 8, 20, 4);
    context.fill();
    context.shadowBlur = 0;
    context.fillStyle = text;
    context.textBaseline = 'middle';
    context.fillText(label, x + size + GAP, y);
    if (rank === 3) this.ring(context, { x, y, size });
  }

  private drawOne(context: CanvasRenderingContext2D, { x, y, size, label, rank }: Candidate, drawn: Box[]): void {
    if (label === null) return;
    const { text, faint, surface } = this.colours();
    context.font = `${fontOf(rank, size)} ${FAMILY}`;
    const half = context.measureText(label).width / 2 + 2;
    const top = y + size + GAP - 2;
    // Beside the edge of the drawing a name is not cut, but moved in.
    const middle = Math.max(half, Math.min(x, context.canvas.clientWidth - half));
    const box = { left: middle - half, right: middle + half, top, bottom: top + 15 };
    if (drawn.some((other) => isOver(box, other))) return;
    drawn.push(box);
    context.textAlign = 'center';
    context.textBaseline = 'top';
    context.lineJoin = 'round';
    context.lineWidth = 3;
    context.strokeStyle = surface;
    context.strokeText(label, middle, top + 2);
    context.fillStyle = rank === 0 ? faint : text;
    context.fillText(label, middle, top + 2);
    context.textAlign = 'start';
  }

  private ring(context: CanvasRenderingContext2D, { x, y, size }: Omit<Candidate, 'label' | 'rank'>): Box {
    context.beginPath();
    context.arc(x, y, size + 4, 0, 2 * Math.PI);
    context.lineWidth = 2;
    context.strokeStyle = this.colours().hot;
    context.stroke();
    return { left: x - size - 5, right: x + size + 5, top: y - size - 5, bottom: y + size + 2 };
  }
}

function isOver(a: Box, b: Box): boolean {
  return a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
}

function fontOf(rank: Rank, size: number): string {
  return FONTS[rank === 1 && size > LARGE_PX ? 2 : rank];
}

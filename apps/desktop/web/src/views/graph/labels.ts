import type { Colours } from './colours';
import { type Box, boxOf, placesAmong, placesAround, type Size, type Spot, Taken } from './name-places';

/** What is more important keeps its label: 3 selected, 2 beside it, 1 plain, 0 faded. */
export type Rank = 0 | 1 | 2 | 3;

/** A node on the canvas, in pixels. */
export interface DrawnNode extends Spot {
  readonly name: string;
  readonly rank: Rank;
  /** Large enough to show its name among many. */
  readonly isLarge: boolean;
}

const FONTS = {
  faded: { font: '420 11.5px', height: 15 },
  plain: { font: '520 11.5px', height: 15 },
  large: { font: '600 12.5px', height: 16 },
  selected: { font: '600 14px', height: 18 },
} as const;
/** From this size on, nodes have larger names. */
const LARGE_PX = 7;
const FAMILY = 'Inter, system-ui, sans-serif';
/** Beside a text, so that names do not touch. */
const MARGIN_PX = 3;
/** Between the letters of a name and the sides of its box. */
const INK = { x: 2, y: 1.5 } as const;
/** Fewer nodes than that on the canvas all show their names, where there is room. */
const FEW = 60;
/** Among up to that many nodes, room is looked for every name; among more, only for so many as one frame has time for. */
const MANY = { nodes: 1_500, names: 300 } as const;
/** How far the ring is around the selected node. */
const RING_PX = 4;

/** The names of nodes: where there is room for them, and never one over another or over a node. */
export class Labels {
  constructor(private readonly colours: () => Colours) {}

  /** Names the nodes, those first that come first, and draws the ring of the selected one. */
  draw(context: CanvasRenderingContext2D, nodes: readonly DrawnNode[]): void {
    const nodesAt = new Taken();
    const namesAt = new Taken();
    for (const node of nodes) nodesAt.add(boxOf(around(node)));
    const selected = nodes.find(({ rank }) => rank === 3);
    if (selected) this.ring(context, selected);
    const canvas = { width: context.canvas.clientWidth, height: context.canvas.clientHeight };
    const isNamed = ({ rank, isLarge }: DrawnNode) => nodes.length < FEW || rank > 1 || isLarge;
    const isCrowded = nodes.length > MANY.nodes;
    const among = placesAmong(nodes.length, isCrowded);
    const most = isCrowded ? MANY.names : nodes.length;
    for (const node of nodes.filter(isNamed).slice(0, most)) {
      const { font, height } = fontOf(node);
      context.font = `${font} ${FAMILY}`;
      const size: Size = { width: context.measureText(node.name).width + 2 * MARGIN_PX, height };
      const places = placesAround(around(node), size, canvas, among);
      // The selected node and its large neighbours keep their names, over other nodes if need be.
      const isKept = node.rank === 3 || (node.rank === 2 && node.isLarge);
      const box =
        places.find((one) => namesAt.isFree(one) && nodesAt.isFree(inkOf(one))) ??
        (isKept ? places.find((one) => namesAt.isFree(one)) : undefined);
      if (!box) continue;
      namesAt.add(box);
      this.write(context, node, box);
    }
  }

  /** The name of the node under the pointer, over everything. */
  hover(context: CanvasRenderingContext2D, node: Omit<DrawnNode, 'isLarge'>): void {
    const { x, y, radius, name, rank } = node;
    const { text, surface } = this.colours();
    context.font = `${FONTS.large.font} ${FAMILY}`;
    const width = context.measureText(name).width;
    const left = x + radius + 5;
    context.fillStyle = surface;
    context.shadowColor = 'rgb(0 0 0 / 0.25)';
    context.shadowBlur = 6;
    context.beginPath();
    context.roundRect(left - 4, y - 10, width + 8, 20, 4);
    context.fill();
    context.shadowBlur = 0;
    context.fillStyle = text;
    context.textBaseline = 'middle';
    context.fillText(name, left, y);
    if (rank === 3) this.ring(context, node);
  }

  private write(context: CanvasRenderingContext2D, { name, rank }: DrawnNode, { left, top, bottom }: Box): void {
    const { text, faint, surface } = this.colours();
    const middle = (top + bottom) / 2;
    context.textBaseline = 'middle';
    context.lineJoin = 'round';
    context.lineWidth = 3;
    context.strokeStyle = surface;
    context.strokeText(name, left + MARGIN_PX, middle);
    context.fillStyle = rank === 0 ? faint : text;
    context.fillText(name, left + MARGIN_PX, middle);
  }

  private ring(context: CanvasRenderingContext2D, { x, y, radius }: Spot): void {
    context.beginPath();
    context.arc(x, y, radius + RING_PX, 0, 2 * Math.PI);
    context.lineWidth = 2;
    context.strokeStyle = this.colours().hot;
    context.stroke();
  }
}

/** What the letters of a name take of its box: nodes may come nearer than other names. */
function inkOf({ left, top, right, bottom }: Box): Box {
  return { left: left + INK.x, top: top + INK.y, right: right - INK.x, bottom: bottom - INK.y };
}

/** A node with its ring. */
function around({ x, y, radius, rank }: DrawnNode): Spot {
  return { x, y, radius: rank === 3 ? radius + RING_PX + 1 : radius };
}

function fontOf({ rank, radius, isLarge }: DrawnNode): (typeof FONTS)[keyof typeof FONTS] {
  if (rank === 3) return FONTS.selected;
  if (rank === 0) return FONTS.faded;
  return (rank === 2 && isLarge) || radius > LARGE_PX ? FONTS.large : FONTS.plain;
}

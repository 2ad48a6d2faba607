import type { NodeType } from '@workspace-graph/contracts';
import Graph from 'graphology';
import Sigma from 'sigma';
import type { MouseCoords, NodeDisplayData, SigmaNodeEventPayload } from 'sigma/types';
import { graphExtent } from 'sigma/utils';
import type { Shown } from '../../graph/filters';
import { type GraphEdge, isEnd, isImplied, parentsOf } from '../../graph/graph';
import { roomOn } from './canvas-room';
import { type Colours, readColours } from './colours';
import { EdgeLayer, type Strength } from './edge-layer';
import { type DrawnNode, Labels, type Rank } from './labels';
import type { Place, Places } from './layout';
import { pointOn, screenOf } from './screen';
import { ShapeProgram } from './shape-program';
import { roomFor, sizesOf } from './sizes';

interface NodeLook {
  x: number;
  y: number;
  size: number;
  name: string;
  shape: NodeType;
}

interface Handlers {
  readonly onSelect: (id: string | null) => void;
  /** Somebody has put a node there. */
  readonly onMove: (id: string, place: Place) => void;
}

/** Size from which on a node shows its name, at its full size. */
const NAMED_PX = 5;
const CAMERA_MS = 240;
/** Around the outermost nodes: room for their names. */
const PADDING_PX = 32;
/** What the selected node gains in size. */
const SELECTED = 1.3;
export type Direction = 'ArrowUp' | 'ArrowDown' | 'ArrowLeft' | 'ArrowRight';
const HEADINGS: Readonly<Record<Direction, readonly [number, number]>> = {
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
};

/** The drawing of a graph on a canvas. Nodes move when somebody drags them, and while they have no place yet; never else. */
export class Drawing {
  /** The nodes as sigma draws them; the edges are a layer of their own. */
  private graph = new Graph<NodeLook>();
  private edges: readonly GraphEdge[] = [];
  private readonly sigma: Sigma<NodeLook>;
  private readonly edgeLayer: EdgeLayer;
  private readonly labels: Labels;
  /** The largest first. */
  private bySize: readonly string[] = [];
  /** The part of its full size that a node is drawn in. */
  private room = 1;
  /** The part of it that a canvas of this size has room for. */
  private canvasRoom = 1;
  private colours: Colours = readColours();
  private selected: string | null = null;
  private wanted: string | null = null;
  private near: ReadonlySet<string> = new Set();
  private dragged: string | null = null;
  private hasMoved = false;
  private readonly resized: ResizeObserver;

  /** @throws where the browser draws no WebGL */
  constructor(
    private readonly container: HTMLElement,
    private readonly handlers: Handlers,
  ) {
    this.labels = new Labels(() => this.colours);
    this.canvasRoom = roomOn(container.clientWidth, container.clientHeight);
    this.sigma = new Sigma<NodeLook>(this.graph, container, {
      defaultNodeType: 'shape',
      nodeProgramClasses: { shape: ShapeProgram as never },
      nodeReducer: (id, look) => this.nodeLook(id, look),
      defaultDrawNodeHover: (context, data) => this.labels.hover(context, this.drawnNode(String(data['key']), data)),
      renderLabels: false,
      zIndex: true,
      stagePadding: PADDING_PX,
      minCameraRatio: 0.02,
      maxCameraRatio: 4,
      zoomDuration: CAMERA_MS,
      // Taken when it is drawn: no node is looked at again because the canvas has another size.
      zoomToSizeRatioFunction: (ratio) => Math.sqrt(ratio) / this.canvasRoom,
      allowInvalidContainer: true,
    });
    this.edgeLayer = new EdgeLayer(this.sigma as never, container, () => this.colours);
    this.sigma.on('afterRender', () => this.drawOver());
    this.sigma.on('clickNode', ({ node }) => handlers.onSelect(node));
    this.sigma.on('clickStage', () => handlers.onSelect(null));
    this.sigma.on('downNode', (event) => this.startDrag(event));
    this.sigma.on('moveBody', ({ event }) => this.drag(event));
    this.sigma.on('upNode', () => this.endDrag());
    this.sigma.on('upStage', () => this.endDrag());
    this.resized = new ResizeObserver(() => {
      this.canvasRoom = roomOn(container.clientWidth, container.clientHeight);
      this.sigma.resize().scheduleRender();
    });
    this.resized.observe(container);
  }

  /** Draws this part of the graph, each node where it is placed; what has no place is not drawn yet. */
  show({ nodes, edges }: Shown, places: Places): void {
    const wanted = new Map(nodes.filter(({ id }) => places.has(id)).map((node) => [node.id, node]));
    this.edges = edges.filter(({ source, target }) => wanted.has(source) && wanted.has(target));
    const sizes = sizesOf({ nodes: wanted, edges: this.edges });
    this.room = roomFor(wanted.size);
    // A graph that nobody listens to yet: of one that is drawn, sigma would look at every node after each change.
    const graph = new Graph<NodeLook>();
    for (const [id, { type, name }] of wanted) {
      const place = id === this.dragged && this.graph.hasNode(id) ? this.graph.getNodeAttributes(id) : places.get(id);
      if (!place) continue;
      graph.addNode(id, { x: place.x, y: place.y, size: sizes.get(id) ?? 0, name, shape: type });
    }
    this.graph = graph;
    this.bySize = graph.nodes().sort((a, b) => graph.getNodeAttribute(b, 'size') - graph.getNodeAttribute(a, 'size'));
    this.container.dataset['drawn'] = String(this.graph.order);
    const parents = parentsOf({ nodes: wanted, edges: this.edges });
    const strengthOf = (edge: GraphEdge): Strength => {
      if (edge.relation !== 'belongs_to' || wanted.get(edge.target)?.type !== 'organization') return 'plain';
      return isImplied(edge, wanted, parents) ? 'implied' : 'faint';
    };
    this.edgeLayer.show(this.edges, places, strengthOf);
    this.mark(this.wanted);
    // Drawn at once, and once: what is asked of the drawing next depends on where the nodes are.
    this.sigma.setGraph(graph);
  }

  /** Marks a node and what is around it; one that is not drawn yet is marked when it is. */
  select(id: string | null): void {
    if (id === this.wanted) return;
    this.mark(id);
    this.sigma.refresh({ skipIndexation: true, schedule: true });
  }

  /** Takes the colours of the theme as it is now. */
  recolour(): void {
    this.colours = readColours();
    this.edgeLayer.redraw();
    this.sigma.refresh({ skipIndexation: true, schedule: true });
  }

  /** From here on the drawing is not fitted to what is in it by itself. */
  hold(): void {
    this.sigma.setCustomBBox(graphExtent(this.graph));
  }

  zoom(isIn: boolean): void {
    const camera = this.sigma.getCamera();
    void (isIn ? camera.animatedZoom({ duration: CAMERA_MS }) : camera.animatedUnzoom({ duration: CAMERA_MS }));
  }

  /** Shows all of it. */
  fit(): void {
    this.hold();
    this.sigma.refresh();
    void this.sigma.getCamera().animatedReset({ duration: CAMERA_MS });
  }

  /** Shows the selected node with its neighbours. */
  focus(): void {
    const around = [this.selected, ...this.near].flatMap((id) =>
      id === null ? [] : (this.sigma.getNodeDisplayData(id) ?? []),
    );
    if (around.length === 0) return;
    const [xs, ys] = [around.map(({ x }) => x), around.map(({ y }) => y)];
    const [left, right, low, high] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    const ratio = Math.min(1, Math.max(0.08, (right - left) * 1.5, (high - low) * 1.5));
    void this.sigma.getCamera().animate({ x: (left + right) / 2, y: (low + high) / 2, ratio }, { duration: CAMERA_MS });
  }

  /** The neighbour of the selected node that lies that way most; null without one. */
  toward(direction: Direction): string | null {
    const from = this.selected === null ? undefined : this.onScreen(this.selected);
    if (!from) return null;
    const [hx, hy] = HEADINGS[direction];
    let best: { readonly id: string; readonly score: number } | null = null;
    for (const id of this.near) {
      const to = this.onScreen(id);
      if (!to) continue;
      const [dx, dy] = [to.x - from.x, to.y - from.y];
      const far = Math.hypot(dx, dy) || 1;
      const along = (dx * hx + dy * hy) / far;
      const score = along / Math.sqrt(far);
      if (along > 0.4 && (best === null || score > best.score)) best = { id, score };
    }
    return best?.id ?? null;
  }

  dispose(): void {
    this.resized.disconnect();
    this.edgeLayer.dispose();
    this.sigma.kill();
  }

  private mark(id: string | null): void {
    this.wanted = id;
    const selected = id !== null && this.graph.hasNode(id) ? id : null;
    this.selected = selected;
    this.near = new Set(
      this.edges
        .filter((edge) => selected !== null && isEnd(edge, selected))
        .flatMap(({ source, target }) => [source, target])
        .filter((end) => end !== selected),
    );
    this.edgeLayer.select(selected);
  }

  private onScreen(id: string) {
    const data = this.sigma.getNodeDisplayData(id);
    return data && this.sigma.framedGraphToViewport(data);
  }

  private nodeLook(id: string, look: NodeLook): Partial<NodeDisplayData> {
    const rank = this.rankOf(id);
    return {
      ...look,
      type: 'shape',
      color: (rank === 0 ? this.colours.faded : this.colours.types)[look.shape],
      label: null,
      size: this.sizeNow(look, rank),
      zIndex: rank,
    };
  }

  private sizeNow({ size }: NodeLook, rank: Rank): number {
    return rank === 3 ? size * SELECTED : size;
  }

  /** How much a node matters at the moment. */
  private rankOf(id: string): Rank {
    if (this.selected === null) return 1;
    if (id === this.selected) return 3;
    return this.near.has(id) ? 2 : 0;
  }

  /** The names over the nodes that are on the canvas: by how much these matter, then by their sizes. */
  private drawOver(): void {
    const context = this.sigma.getCanvases()['labels']?.getContext('2d');
    if (!context) return;
    const screen = screenOf(this.sigma as never);
    const byRank: readonly DrawnNode[][] = [[], [], [], []];
    for (const id of this.bySize) {
      const point = pointOn(screen, this.graph.getNodeAttributes(id));
      const isOut = point.x < 0 || point.y < 0 || point.x > screen.width || point.y > screen.height;
      if (isOut) continue;
      const node = this.drawnNode(id, point);
      byRank[node.rank]?.push(node);
    }
    this.labels.draw(context, byRank.toReversed().flat());
  }

  private drawnNode(id: string, { x, y }: Place): DrawnNode {
    const look = this.graph.getNodeAttributes(id);
    const rank = this.rankOf(id);
    const radius = this.sigma.scaleSize(this.sizeNow(look, rank));
    return { x, y, radius, name: look.name, rank, isLarge: radius >= NAMED_PX * this.room * this.canvasRoom };
  }

  private startDrag({ node, event }: SigmaNodeEventPayload): void {
    if (event.original instanceof MouseEvent && event.original.button !== 0) return;
    this.dragged = node;
    this.hasMoved = false;
    // Where a node was dragged before, the drawing must not be fitted to it now.
    if (this.sigma.getCustomBBox() === null) this.hold();
  }

  private drag(event: MouseCoords | { readonly touches: readonly { readonly x: number; readonly y: number }[] }): void {
    if (this.dragged === null || !('preventSigmaDefault' in event)) return;
    const { x, y } = this.sigma.viewportToGraph(event);
    this.graph.mergeNodeAttributes(this.dragged, { x, y });
    this.edgeLayer.move(this.dragged, { x, y });
    this.hasMoved = true;
    event.preventSigmaDefault();
    event.original.preventDefault();
    event.original.stopPropagation();
  }

  private endDrag(): void {
    const id = this.dragged;
    this.dragged = null;
    if (id === null || !this.hasMoved) return;
    const { x, y } = this.graph.getNodeAttributes(id);
    this.handlers.onMove(id, { x, y });
  }
}

import type { Relation } from '@workspace-graph/contracts';
import type Sigma from 'sigma';
import { loadFragmentShader, loadProgram, loadVertexShader } from 'sigma/rendering';
import { type GraphEdge, isEnd } from '../../graph/graph';
import { type Colours, parts } from './colours';
import type { Place, Places } from './layout';
import { type Screen, screenOf } from './screen';

/** Edges that are drawn in one frame: at first, and at least. */
const PER_FRAME = { first: 4_000, least: 500 } as const;
/** How long a frame takes where there is room for more, and where it is too much. */
const FRAME_MS = { short: 25, long: 60 } as const;
const DASHES: Readonly<Record<Relation, number>> = { belongs_to: 0, related_to: 1, applies: 2, informed_by: 3 };
const WIDTH_PX = { plain: 1, hot: 1.6 } as const;
/** Numbers of an edge: both ends, its dash, and whether it is faint. */
const ROW = { numbers: 6, bytes: 6 * Float32Array.BYTES_PER_ELEMENT } as const;
/** Corners of an edge, each with the numbers of its edge: a processor would draw instances one by one, a hundred times slower. */
const CORNERS = 6;

/** Two triangles make a band along an edge; of each corner: how far along, and on which side. */
const VERTEX = /* glsl */ `#version 300 es
const vec2 BAND[6] = vec2[](vec2(0, 1), vec2(0, -1), vec2(1, 1), vec2(1, 1), vec2(0, -1), vec2(1, -1));
in vec4 a_ends;
in vec2 a_look;
uniform vec2 u_origin;
uniform vec2 u_x;
uniform vec2 u_y;
uniform vec2 u_pixels;
uniform float u_width;
out float v_along;
out float v_side;
out float v_dash;
out float v_faint;

void main() {
  vec2 corner = BAND[gl_VertexID % 6];
  vec2 from = u_origin + a_ends.x * u_x + a_ends.y * u_y;
  vec2 to = u_origin + a_ends.z * u_x + a_ends.w * u_y;
  float far = max(length(to - from), 0.001);
  vec2 direction = (to - from) / far;
  float half_width = u_width * 0.5 + 1.0;
  vec2 place = mix(from, to, corner.x) + vec2(-direction.y, direction.x) * corner.y * half_width;
  gl_Position = vec4(place.x / u_pixels.x * 2.0 - 1.0, 1.0 - place.y / u_pixels.y * 2.0, 0, 1);
  v_along = corner.x * far;
  v_side = corner.y * half_width;
  v_dash = a_look.x;
  v_faint = a_look.y;
}`;

/** Whole, short dashes, dots or long dashes, in pixels of the screen whatever the zoom. */
const FRAGMENT = /* glsl */ `#version 300 es
precision highp float;
uniform float u_width;
uniform vec3 u_plain;
uniform vec3 u_faint;
in float v_along;
in float v_side;
in float v_dash;
in float v_faint;
out vec4 colour;

void main() {
  float here = 1.0 - smoothstep(u_width * 0.5 - 0.5, u_width * 0.5 + 0.5, abs(v_side));
  float period = v_dash < 1.5 ? 6.0 : v_dash < 2.5 ? 4.4 : 10.0;
  float drawn = v_dash < 1.5 ? 3.0 : v_dash < 2.5 ? 1.4 : 7.0;
  if (v_dash > 0.5 && mod(v_along, period) > drawn) here = 0.0;
  colour = vec4(mix(u_plain, u_faint, v_faint), 1.0) * here;
}`;

/** How an edge is drawn; one that others imply only where its source is selected. */
export type Strength = 'plain' | 'faint' | 'implied';

/**
 * The edges below the nodes. As many are drawn in a frame as the machine draws in time, those that tell most first; the rest
 * follows once the drawing stands still. So a large graph moves at once, and a small one shows all of it in every frame.
 */
export class EdgeLayer {
  private readonly gl: WebGL2RenderingContext;
  private readonly program: WebGLProgram;
  private readonly all: WebGLBuffer;
  private readonly hot: WebGLBuffer;
  /** Those that tell most first. */
  private edges: readonly GraphEdge[] = [];
  /** How many of them are drawn whatever is selected. */
  private visible = 0;
  private rows = new Float32Array();
  private hotCount = 0;
  private selected: string | null = null;
  private perFrame: number = PER_FRAME.first;
  /** Whether other edges are to be drawn than before: their first frame draws other nodes as well, so fewer of them. */
  private isOther = false;
  private drawn = 0;
  /** Of the next ones; 0: none are to follow. */
  private frame = 0;
  /** When the last ones were drawn. */
  private begunMs = 0;
  /** What the picture shows; null: not what is to be shown. */
  private shown: Screen | null = null;

  /** @throws where the browser draws no WebGL 2 */
  constructor(
    private readonly sigma: Sigma<never, never>,
    private readonly container: HTMLElement,
    private readonly colours: () => Colours,
  ) {
    // What was drawn stays while the rest is drawn in later frames.
    const canvas = sigma.createCanvas('links', { afterLayer: 'edges' });
    const gl = sigma.createWebGLContext('links', { canvas, preserveDrawingBuffer: true });
    sigma.resize(true);
    if (!(gl instanceof WebGL2RenderingContext)) throw new Error('Nothing can be drawn without WebGL 2.');
    this.gl = gl;
    this.program = loadProgram(gl, [loadVertexShader(gl, VERTEX), loadFragmentShader(gl, FRAGMENT)]);
    this.all = gl.createBuffer();
    this.hot = gl.createBuffer();
    gl.useProgram(this.program);
    gl.enable(gl.BLEND);
    sigma.on('afterRender', this.follow);
  }

  /** Draws these edges, each between the places of its ends. */
  show(edges: readonly GraphEdge[], places: Places, strengthOf: (edge: GraphEdge) => Strength): void {
    const by: Readonly<Record<Strength, GraphEdge[]>> = { plain: [], faint: [], implied: [] };
    for (const edge of edges) by[strengthOf(edge)].push(edge);
    const { plain, faint, implied } = by;
    this.edges = [...plain, ...faint, ...implied];
    this.visible = plain.length + faint.length;
    this.rows = new Float32Array(this.edges.length * ROW.numbers);
    for (const [row, { source, target, relation }] of this.edges.entries()) {
      const [from, to] = [places.get(source), places.get(target)];
      if (!from || !to) continue;
      const isPlain = row < plain.length;
      this.rows.set([from.x, from.y, to.x, to.y, DASHES[relation], isPlain ? 0 : 1], row * ROW.numbers);
    }
    this.send();
  }

  /** Brings out the edges of a node over the others, which fade; null brings out none. */
  select(id: string | null): void {
    if (id === this.selected) return;
    this.selected = id;
    this.sendHot();
  }

  /** A node is elsewhere. */
  move(id: string, { x, y }: Place): void {
    this.gl.bindBuffer(this.gl.ARRAY_BUFFER, this.all);
    for (const [row, edge] of this.edges.entries()) {
      if (!isEnd(edge, id)) continue;
      const numbers = this.rows.subarray(row * ROW.numbers, (row + 1) * ROW.numbers);
      if (edge.source === id) numbers.set([x, y]);
      if (edge.target === id) numbers.set([x, y], 2);
      this.gl.bufferSubData(this.gl.ARRAY_BUFFER, row * CORNERS * ROW.bytes, cornersOf(numbers));
    }
    this.sendHot();
  }

  /** Draws all of it anew when the nodes are drawn next. */
  redraw(): void {
    this.shown = null;
    this.sigma.scheduleRender();
  }

  dispose(): void {
    cancelAnimationFrame(this.frame);
    this.sigma.off('afterRender', this.follow);
  }

  private send(): void {
    this.gl.bindBuffer(this.gl.ARRAY_BUFFER, this.all);
    this.gl.bufferData(this.gl.ARRAY_BUFFER, cornersOf(this.rows), this.gl.DYNAMIC_DRAW);
    this.isOther = true;
    this.sendHot();
  }

  private sendHot(): void {
    const { selected, visible } = this;
    const isHot = (edge: GraphEdge, row: number) =>
      selected !== null && (row < visible ? isEnd(edge, selected) : edge.source === selected);
    const rows = this.edges.flatMap((edge, row) => (isHot(edge, row) ? [row] : []));
    const numbers = rows.flatMap((row) => [...this.rows.subarray(row * ROW.numbers, (row + 1) * ROW.numbers)]);
    this.hotCount = rows.length;
    this.gl.bindBuffer(this.gl.ARRAY_BUFFER, this.hot);
    this.gl.bufferData(this.gl.ARRAY_BUFFER, cornersOf(new Float32Array(numbers)), this.gl.DYNAMIC_DRAW);
    this.redraw();
  }

  /** The nodes have been drawn: the picture follows where they are elsewhere on the canvas. */
  private readonly follow = (): void => {
    const view = screenOf(this.sigma);
    if (JSON.stringify(view) === JSON.stringify(this.shown)) return;
    this.shown = view;
    // Where the drawing moves in every frame, the rest never follows, but the frames tell the same.
    if (this.frame !== 0) {
      cancelAnimationFrame(this.frame);
      this.adapt();
    }
    delete this.container.dataset['edges'];
    this.gl.clear(this.gl.COLOR_BUFFER_BIT);
    this.drawn = 0;
    this.drawMore(view, this.isOther ? PER_FRAME.least : this.perFrame);
    this.isOther = false;
  };

  private drawMore(view: Screen, most: number): void {
    const { gl, visible, drawn, selected } = this;
    const { edge, membership, fadedEdge, hot } = this.colours();
    const count = Math.min(most, visible - drawn);
    const [plain, faint] = selected === null ? [edge, membership] : [fadedEdge, fadedEdge];
    gl.useProgram(this.program);
    this.setView(view);
    this.draw(this.all, drawn, count, { plain, faint, width: WIDTH_PX.plain });
    this.draw(this.hot, 0, this.hotCount, { plain: hot, faint: hot, width: WIDTH_PX.hot });
    this.drawn += count;
    this.begunMs = performance.now();
    if (this.drawn === visible) {
      this.frame = 0;
      this.container.dataset['edges'] = String(visible);
      return;
    }
    this.frame = requestAnimationFrame(() => {
      if (most === this.perFrame) this.adapt();
      this.drawMore(view, this.perFrame);
    });
  }

  /** A frame has passed since some were drawn: how many the next one draws. */
  private adapt(): void {
    const tookMs = performance.now() - this.begunMs;
    if (tookMs < FRAME_MS.short) this.perFrame *= 2;
    if (tookMs > FRAME_MS.long) this.perFrame = Math.max(PER_FRAME.least, this.perFrame / 2);
  }

  private draw(
    buffer: WebGLBuffer,
    first: number,
    count: number,
    { plain, faint, width }: { readonly plain: string; readonly faint: string; readonly width: number },
  ): void {
    const { gl } = this;
    if (count === 0) return;
    gl.uniform3fv(this.uniform('plain'), parts(plain));
    gl.uniform3fv(this.uniform('faint'), parts(faint));
    gl.uniform1f(this.uniform('width'), width);
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    this.attribute('a_ends', 4, first * CORNERS * ROW.bytes);
    this.attribute('a_look', 2, first * CORNERS * ROW.bytes + 4 * Float32Array.BYTES_PER_ELEMENT);
    gl.drawArrays(gl.TRIANGLES, 0, count * CORNERS);
  }

  /** Reads an attribute from the buffer that is bound. */
  private attribute(name: string, size: number, offset: number): void {
    const at = this.gl.getAttribLocation(this.program, name);
    this.gl.enableVertexAttribArray(at);
    this.gl.vertexAttribPointer(at, size, this.gl.FLOAT, false, ROW.bytes, offset);
  }

  private uniform(name: string): WebGLUniformLocation | null {
    return this.gl.getUniformLocation(this.program, `u_${name}`);
  }

  private setView({ origin, x, y, width, height }: Screen): void {
    this.gl.uniform2f(this.uniform('origin'), origin.x, origin.y);
    this.gl.uniform2f(this.uniform('x'), x.x, x.y);
    this.gl.uniform2f(this.uniform('y'), y.x, y.y);
    this.gl.uniform2f(this.uniform('pixels'), width, height);
  }
}

/** The rows as the corners of their edges. */
function cornersOf(rows: Float32Array): Float32Array<ArrayBuffer> {
  const corners = new Float32Array(rows.length * CORNERS);
  let at = 0;
  for (let row = 0; row < rows.length; row += ROW.numbers)
    for (let corner = 0; corner < CORNERS; corner++)
      for (let number = 0; number < ROW.numbers; number++) corners[at++] = rows[row + number] ?? 0;
  return corners;
}

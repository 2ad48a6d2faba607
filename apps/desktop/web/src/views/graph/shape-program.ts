import type { NodeType } from '@workspace-graph/contracts';
import { NodeProgram } from 'sigma/rendering';
import type { NodeDisplayData, RenderParams } from 'sigma/types';
import { floatColor } from 'sigma/utils';

/** How WebGL counts the shapes below. */
const SHAPES: Readonly<Record<NodeType, number>> = { organization: 0, area: 1, project: 2, process: 3, principle: 4 };

export interface ShapedNode extends NodeDisplayData {
  readonly shape: NodeType;
}

/** A square around each node; what the shape of its type leaves of it is decided for each pixel. */
const NODE_VERTEX = /* glsl */ `
attribute vec4 a_id;
attribute vec4 a_color;
attribute vec2 a_position;
attribute float a_size;
attribute float a_shape;
attribute vec2 a_corner;
uniform mat3 u_matrix;
uniform float u_sizeRatio;
uniform float u_correctionRatio;
varying vec4 v_color;
varying vec2 v_place;
varying float v_shape;
varying float v_pixel;

void main() {
  float radius = a_size * u_correctionRatio / u_sizeRatio * 2.0;
  vec2 place = a_position + a_corner * radius * 1.3;
  gl_Position = vec4((u_matrix * vec3(place, 1)).xy, 0, 1);
  v_place = a_corner * 1.3;
  v_shape = a_shape;
  v_pixel = u_correctionRatio * 2.0 / radius;
  #ifdef PICKING_MODE
  v_color = a_id;
  #else
  v_color = a_color;
  #endif
  v_color.a *= 255.0 / 254.0;
}`;

/** Signed distances from the edges of the shapes: hexagon, rounded square, circle, chevron, triangle. */
const NODE_FRAGMENT = /* glsl */ `
precision highp float;
varying vec4 v_color;
varying vec2 v_place;
varying float v_shape;
varying float v_pixel;

float hexagon(vec2 p) {
  p = abs(p);
  return max(p.x * 0.866 + p.y * 0.5, p.y) - 0.9;
}
float square(vec2 p) {
  vec2 d = abs(p) - 0.58;
  return length(max(d, 0.0)) + min(max(d.x, d.y), 0.0) - 0.26;
}
float chevron(vec2 p) {
  float front = (p.x - 0.95) * 0.77 + abs(p.y) * 0.64;
  float back = -((p.x + 0.42) * 0.77 + abs(p.y) * 0.64);
  return max(max(front, back), abs(p.y) - 0.8);
}
float triangle(vec2 p) {
  return max(-p.y - 0.72, abs(p.x) * 0.866 + p.y * 0.5 - 0.52);
}

void main() {
  float far = length(v_place) - 0.88;
  if (v_shape < 0.5) far = hexagon(v_place);
  else if (v_shape < 1.5) far = square(v_place);
  else if (v_shape > 3.5) far = triangle(v_place);
  else if (v_shape > 2.5) far = chevron(v_place);
  #ifdef PICKING_MODE
  gl_FragColor = length(v_place) > 1.1 ? vec4(0.0) : v_color;
  #else
  gl_FragColor = mix(v_color, vec4(0.0), smoothstep(-v_pixel * 0.5, v_pixel * 0.5, far));
  #endif
}`;

/** Two triangles that make a square, by their corners. Written for each node: a processor draws instances one by one. */
const SQUARE = [
  [-1, -1],
  [1, -1],
  [-1, 1],
  [-1, 1],
  [1, -1],
  [1, 1],
] as const;
const NODE_UNIFORMS = ['u_sizeRatio', 'u_correctionRatio', 'u_matrix'] as const;
type NodeUniform = (typeof NODE_UNIFORMS)[number];

/** Nodes with the shape of their type. */
export class ShapeProgram extends NodeProgram<NodeUniform> {
  getDefinition() {
    const { FLOAT, UNSIGNED_BYTE, TRIANGLES } = WebGLRenderingContext;
    return {
      VERTICES: SQUARE.length,
      VERTEX_SHADER_SOURCE: NODE_VERTEX,
      FRAGMENT_SHADER_SOURCE: NODE_FRAGMENT,
      METHOD: TRIANGLES,
      UNIFORMS: NODE_UNIFORMS,
      ATTRIBUTES: [
        { name: 'a_position', size: 2, type: FLOAT },
        { name: 'a_size', size: 1, type: FLOAT },
        { name: 'a_shape', size: 1, type: FLOAT },
        { name: 'a_color', size: 4, type: UNSIGNED_BYTE, normalized: true },
        { name: 'a_id', size: 4, type: UNSIGNED_BYTE, normalized: true },
        { name: 'a_corner', size: 2, type: FLOAT },
      ],
    };
  }

  processVisibleItem(index: number, start: number, data: NodeDisplayData): void {
    const { array } = this;
    const [shape, colour] = [SHAPES[(data as ShapedNode).shape], floatColor(data.color)];
    let at = start;
    for (const [x, y] of SQUARE) {
      array[at++] = data.x;
      array[at++] = data.y;
      array[at++] = data.size;
      array[at++] = shape;
      array[at++] = colour;
      array[at++] = index;
      array[at++] = x;
      array[at++] = y;
    }
  }

  setUniforms(params: RenderParams, { gl, uniformLocations: at }: ProgramOf<NodeUniform>): void {
    gl.uniform1f(at.u_sizeRatio, params.sizeRatio);
    gl.uniform1f(at.u_correctionRatio, params.correctionRatio);
    gl.uniformMatrix3fv(at.u_matrix, false, params.matrix);
  }
}

/** What sigma hands to `setUniforms`. */
interface ProgramOf<Uniform extends string> {
  readonly gl: WebGLRenderingContext | WebGL2RenderingContext;
  readonly uniformLocations: Record<Uniform, WebGLUniformLocation>;
}

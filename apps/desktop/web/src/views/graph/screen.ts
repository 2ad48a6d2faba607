import type Sigma from 'sigma';
import type { Place } from './layout';

/** Where the graph is on the canvas: its origin, and one unit in each direction, in pixels. */
export interface Screen {
  readonly origin: Place;
  readonly x: Place;
  readonly y: Place;
  readonly width: number;
  readonly height: number;
}

export function screenOf(sigma: Sigma<never, never>): Screen {
  const origin = sigma.graphToViewport({ x: 0, y: 0 });
  const along = (point: Place): Place => {
    const { x, y } = sigma.graphToViewport(point);
    return { x: x - origin.x, y: y - origin.y };
  };
  return { origin, x: along({ x: 1, y: 0 }), y: along({ x: 0, y: 1 }), ...sigma.getDimensions() };
}

/** A point of the graph, in pixels of the canvas. */
export function pointOn({ origin, x: right, y: up }: Screen, { x, y }: Place): Place {
  return { x: origin.x + x * right.x + y * up.x, y: origin.y + x * right.y + y * up.y };
}

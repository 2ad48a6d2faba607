import type { NodeType } from '@workspace-graph/contracts';
import { TYPES } from '../../graph/filters';

/** The colours of the drawing in the theme of the moment, as WebGL and canvases take them. */
export interface Colours {
  readonly types: Readonly<Record<NodeType, string>>;
  /** Of nodes that are not what is looked at: mixed towards the surface, so that no edge shines through. */
  readonly faded: Readonly<Record<NodeType, string>>;
  readonly edge: string;
  readonly membership: string;
  readonly fadedEdge: string;
  readonly hot: string;
  readonly text: string;
  readonly faint: string;
  readonly surface: string;
  readonly halo: string;
}

export function readColours(): Colours {
  const pixel = document.createElement('canvas').getContext('2d', { willReadFrequently: true });
  const styles = getComputedStyle(document.documentElement);
  /** What is computed of a variable may be written in any of the ways of CSS: the pixel that it paints is plain. */
  const rgb = (name: string): readonly number[] => {
    if (!pixel) return [0, 0, 0];
    pixel.fillStyle = styles.getPropertyValue(name).trim();
    pixel.clearRect(0, 0, 1, 1);
    pixel.fillRect(0, 0, 1, 1);
    return [...pixel.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const surface = rgb('--svc-surface');
  const mixed = (colour: readonly number[], part: number): string =>
    `rgb(${colour.map((value, at) => Math.round(value * part + (surface[at] ?? 0) * (1 - part))).join(', ')})`;
  const ofTypes = (part: number) =>
    Object.fromEntries(TYPES.map((type) => [type, mixed(rgb(`--svc-${type}`), part)])) as Record<NodeType, string>;
  const grey = rgb('--svc-text-3');
  return {
    types: ofTypes(1),
    faded: ofTypes(0.38),
    edge: mixed(grey, 0.5),
    membership: mixed(grey, 0.22),
    fadedEdge: mixed(grey, 0.13),
    hot: mixed(rgb('--svc-focus'), 0.8),
    text: mixed(rgb('--svc-text'), 1),
    faint: mixed(grey, 1),
    surface: mixed(surface, 1),
    halo: mixed(rgb('--svc-focus'), 0.18),
  };
}

/** The red, green and blue of a colour as above, each from 0 to 1. */
export function parts(colour: string): readonly number[] {
  return (colour.match(/\d+/g) ?? []).map((part) => Number(part) / 255);
}

import type { NodeType } from '@workspace-graph/contracts';
import { TypeShape } from '../parts/type-glyph';

interface Dot {
  readonly type: NodeType;
  readonly x: number;
  readonly y: number;
}
type Line = readonly [Dot, Dot];

/** Turns by this angle leave no gaps and no rows. */
const GOLDEN = Math.PI * (3 - Math.sqrt(5));
const AREAS = 15;
const PROCESSES = 8;
const PRINCIPLES = 5;
const SCALES: Readonly<Record<NodeType, number>> = {
  organization: 2.1,
  area: 1.3,
  process: 1.2,
  principle: 1.2,
  project: 0.66,
};

const around = (type: NodeType, { x, y }: Pick<Dot, 'x' | 'y'>, angle: number, radius: number): Dot => ({
  type,
  x: Math.round(x + radius * Math.cos(angle)),
  y: Math.round(y + radius * Math.sin(angle)),
});

/** An organization as it may become: always the same one. */
function drawn(): { readonly dots: readonly Dot[]; readonly lines: readonly Line[] } {
  const centre: Dot = { type: 'organization', x: 500, y: 500 };
  const areas = Array.from({ length: AREAS }, (_, at) =>
    around('area', centre, at * GOLDEN, 130 + 350 * Math.sqrt((at + 0.5) / AREAS)),
  );
  const projects = areas.flatMap((area, at) => {
    const count = 5 + ((at * 7) % 9);
    return Array.from({ length: count }, (_, nth): Line => {
      const angle = (2 * Math.PI * nth) / count + at;
      return [around('project', area, angle, 52 + ((nth * 37 + at * 11) % 5) * 8), area];
    });
  });
  const processes = Array.from({ length: PROCESSES }, (_, at) =>
    around('process', centre, at * GOLDEN + 0.7, 95 + 190 * Math.sqrt((at + 0.5) / PROCESSES)),
  );
  const principles = Array.from({ length: PRINCIPLES }, (_, at) =>
    around('principle', centre, (2 * Math.PI * at) / PRINCIPLES + 0.35, 150 + (at % 2) * 90),
  );
  const crossing = processes.flatMap((process, at): Line[] =>
    [3, 8].map((step) => [process, areas[(at * step) % AREAS] ?? centre]),
  );
  return {
    dots: [...projects.map(([project]) => project), ...processes, ...principles, ...areas, centre],
    lines: [...projects, ...crossing, ...[...areas, ...principles].map((dot): Line => [dot, centre])],
  };
}

const { dots, lines } = drawn();

/** What will appear here: a drawing of the five shapes. */
export function Picture() {
  return (
    <svg className="art" viewBox="0 0 1000 1000" preserveAspectRatio="xMidYMid slice" aria-hidden="true">
      <path className="lines" d={lines.map(([from, to]) => `M${from.x} ${from.y}L${to.x} ${to.y}`).join('')} />
      {dots.map(({ type, x, y }) => (
        <g key={`${x} ${y}`} className={`g ${type}`} transform={`translate(${x} ${y}) scale(${SCALES[type]})`}>
          <g transform="translate(-7 -7)">
            <TypeShape type={type} />
          </g>
        </g>
      ))}
    </svg>
  );
}

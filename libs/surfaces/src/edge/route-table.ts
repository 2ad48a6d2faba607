import type { RouteOptions } from 'fastify';

interface Route {
  readonly methods: readonly string[];
  /** Null stands for a parameter. */
  readonly segments: readonly (string | null)[];
}

/** The routes of a server, to tell which methods there are where another one was asked for. */
export class RouteTable {
  private readonly routes: Route[] = [];

  readonly add = ({ method, url }: Pick<RouteOptions, 'method' | 'url'>): void => {
    const segments = url.split('/').map(segmentOf);
    this.routes.push({ methods: [method].flat(), segments });
  };

  /** The methods of a path, in alphabetical order; none for a path of no route. */
  methodsOf(url: string): string[] {
    const [path = ''] = url.split('?');
    const segments = path.split('/');
    const matching = this.routes.filter((route) => matches(route, segments));
    return [...new Set(matching.flatMap(({ methods }) => methods))].sort();
  }
}

/** In the router's spelling two colons are one, and one begins a parameter. */
function segmentOf(text: string): string | null {
  const plain = text.replaceAll('::', '\0');
  return plain.startsWith(':') ? null : plain.replaceAll('\0', ':');
}

function matches({ segments }: Route, asked: readonly string[]): boolean {
  return (
    segments.length === asked.length &&
    segments.every((segment, index) => (segment === null ? asked[index] !== '' : segment === asked[index]))
  );
}

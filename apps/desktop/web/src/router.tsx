import { createRootRoute, createRoute, createRouter, Navigate, retainSearchParams } from '@tanstack/react-router';
import { Shell } from './shell/shell';
import { NotHere } from './views/not-here';
import { Overview } from './views/overview/overview';
import { SettingsView } from './views/settings/settings';
import { Soon } from './views/soon/soon';

/** What every view keeps in its address. */
export interface Search {
  /** The selected node. */
  readonly node?: string;
  /** The session that is looked at. */
  readonly session?: string;
}

const text = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

const rootRoute = createRootRoute({
  component: Shell,
  notFoundComponent: NotHere,
  validateSearch: (given: Record<string, unknown>): Search => {
    const [node, session] = [text(given['node']), text(given['session'])];
    return { ...(node ? { node } : {}), ...(session ? { session } : {}) };
  },
  search: { middlewares: [retainSearchParams(['node'])] },
});
const parent = () => rootRoute;

const routeTree = rootRoute.addChildren([
  createRoute({
    getParentRoute: parent,
    path: '/',
    component: () => <Navigate to="/overview" replace />,
  }),
  createRoute({ getParentRoute: parent, path: '/overview', component: Overview }),
  createRoute({ getParentRoute: parent, path: '/graph', component: () => <Soon view="graph" /> }),
  createRoute({ getParentRoute: parent, path: '/workspace', component: () => <Soon view="workspace" /> }),
  createRoute({ getParentRoute: parent, path: '/sync', component: () => <Soon view="sync" /> }),
  createRoute({ getParentRoute: parent, path: '/settings', component: SettingsView }),
]);

export const router = createRouter({ routeTree, basepath: '/app', defaultPreload: false });

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}

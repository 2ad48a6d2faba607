import {
  createRootRoute,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Navigate,
  retainSearchParams,
} from '@tanstack/react-router';
import { selectionOf } from './shell/selection';
import { Shell } from './shell/shell';
import { NotHere } from './views/not-here';
import { Overview } from './views/overview/overview';
import { Soon } from './views/soon/soon';

const rootRoute = createRootRoute({
  component: Shell,
  notFoundComponent: NotHere,
  validateSearch: selectionOf,
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
  createRoute({
    getParentRoute: parent,
    path: '/graph',
    component: lazyRouteComponent(() => import('./views/graph/graph-view')),
  }),
  createRoute({
    getParentRoute: parent,
    path: '/workspace',
    component: lazyRouteComponent(() => import('./views/workspace/workspace-view')),
  }),
  createRoute({ getParentRoute: parent, path: '/sync', component: () => <Soon view="sync" /> }),
  createRoute({
    getParentRoute: parent,
    path: '/settings',
    component: lazyRouteComponent(() => import('./views/settings/settings')),
  }),
  createRoute({
    getParentRoute: parent,
    path: '/events',
    component: lazyRouteComponent(() => import('./views/events/events-view')),
  }),
  createRoute({
    getParentRoute: parent,
    path: '/start',
    component: lazyRouteComponent(() => import('./start/first-run')),
  }),
  createRoute({
    getParentRoute: parent,
    path: '/transfer',
    component: lazyRouteComponent(() => import('./transfer/transfer-view')),
  }),
]);

export const router = createRouter({ routeTree, basepath: '/app', defaultPreload: false });

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}

/** The operators' console: its pages and their addresses. What a page shows is in the address, so that it can be sent on. */
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { createRootRoute, createRoute, createRouter, RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { CasePage } from './pages/case.tsx';
import { Cases } from './pages/cases.tsx';
import { Home } from './pages/home.tsx';
import { OrderPage } from './pages/order.tsx';
import { Orders } from './pages/orders.tsx';
import { ProposalPage, Proposals } from './pages/proposals.tsx';
import { Search } from './pages/search.tsx';
import { Sessions } from './pages/sessions.tsx';
import { Switches } from './pages/switches.tsx';
import { applyTheme, Shell } from './shell.tsx';

const root = createRootRoute({
  component: Shell,
  validateSearch: (given: Record<string, unknown>): Record<string, string> =>
    Object.fromEntries(Object.entries(given).map(([name, value]) => [name, String(value)])),
  notFoundComponent: () => <h1>There is no such page</h1>,
});
const route = <P extends string>(path: P, component: () => React.ReactNode) =>
  createRoute({ getParentRoute: () => root, path, component });

const routeTree = root.addChildren([
  route('/', Home),
  route('/orders', Orders),
  route('/orders/$order', OrderPage),
  route('/cases', Cases),
  route('/cases/$case', CasePage),
  route('/proposals', Proposals),
  route('/proposals/$proposal', ProposalPage),
  route('/kill-switches', Switches),
  route('/sessions', Sessions),
  route('/search', Search),
]);

/** Filters are texts: the router would read `17` as a number, and a long id would lose its end. */
const router = createRouter({
  routeTree,
  basepath: '/console',
  parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch: (filters) => {
    const filled = Object.entries(filters).filter(([, value]) => value !== undefined && value !== '');
    return filled.length === 0 ? '' : `?${new URLSearchParams(filled.map(([name, value]) => [name, String(value)]))}`;
  },
});

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}

applyTheme();
const element = document.getElementById('root');
if (element === null) throw new Error('The page has no element #root.');
createRoot(element).render(
  <StrictMode>
    <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
      <RouterProvider router={router} />
    </QueryClientProvider>
  </StrictMode>,
);

/** The partners' console: its pages and their URLs. A page's content is determined by its URL, so that it can be shared. */
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { createRootRoute, createRoute, createRouter, RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { applyTheme } from '../frame.tsx';
import { Account } from './pages/account.tsx';
import { Branding } from './pages/branding.tsx';
import { CustomerPage, Customers } from './pages/customers.tsx';
import { Home } from './pages/home.tsx';
import { Keys } from './pages/keys.tsx';
import { OrderPage } from './pages/order.tsx';
import { Orders } from './pages/orders.tsx';
import { Doctor, RequestPage, Requests } from './pages/requests.tsx';
import { Sandbox } from './pages/sandbox.tsx';
import { Join } from './pages/signin.tsx';
import { Statement } from './pages/statement.tsx';
import { Activity, Team } from './pages/team.tsx';
import { WebhookPage, Webhooks } from './pages/webhooks.tsx';
import { Shell } from './shell.tsx';

const root = createRootRoute({
  component: Shell,
  validateSearch: (given: Record<string, unknown>): Record<string, string> =>
    Object.fromEntries(
      Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]])),
    ),
  notFoundComponent: () => <h1>There is no such page</h1>,
});
const route = <P extends string>(path: P, component: () => React.ReactNode) =>
  createRoute({ getParentRoute: () => root, path, component });

const routeTree = root.addChildren([
  route('/', Home),
  route('/join', Join),
  route('/orders', Orders),
  route('/orders/$order', OrderPage),
  route('/customers', Customers),
  route('/customers/$customer', CustomerPage),
  route('/statement', Statement),
  route('/webhooks', Webhooks),
  route('/webhooks/$endpoint', WebhookPage),
  route('/requests', Requests),
  route('/requests/$request', RequestPage),
  route('/doctor', Doctor),
  route('/keys', Keys),
  route('/sandbox', Sandbox),
  route('/branding', Branding),
  route('/team', Team),
  route('/activity', Activity),
  route('/account', Account),
]);

/** Filters are texts: the router would read `17` as a number, and a long id would lose its end. */
const router = createRouter({
  routeTree,
  basepath: '/partner',
  parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch: (filters) => {
    const filled = Object.entries(filters).filter(([, value]) => value !== undefined && value !== '');
    return filled.length === 0 ? '' : `?${new URLSearchParams(filled.map(([name, value]) => [name, String(value)]))}`;
  },
});

applyTheme();
const element = document.getElementById('root');
if (element === null) throw new Error('The page has no element #root.');
createRoot(element).render(
  <StrictMode>
    <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
      <RouterProvider router={router as never} />
    </QueryClientProvider>
  </StrictMode>,
);

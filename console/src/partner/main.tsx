/** The partners' console: its pages and their URLs. */
import { createRoute, createRouter } from '@tanstack/react-router';
import { mount, rootOf, SEARCH } from '../mount.tsx';
import { Account } from './pages/account.tsx';
import { BooksPage } from './pages/books.tsx';
import { BrandingPage } from './pages/branding.tsx';
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

const root = rootOf(Shell);
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
  route('/statement/books', BooksPage),
  route('/webhooks', Webhooks),
  route('/webhooks/$endpoint', WebhookPage),
  route('/requests', Requests),
  route('/requests/$request', RequestPage),
  route('/doctor', Doctor),
  route('/keys', Keys),
  route('/sandbox', Sandbox),
  route('/branding', BrandingPage),
  route('/team', Team),
  route('/activity', Activity),
  route('/account', Account),
]);

const router = createRouter({ routeTree, basepath: '/partner', ...SEARCH });

mount(router);

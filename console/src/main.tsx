/**
 * The operators' console: its pages and their URLs. Pages that work on orders, money and cases do without are loaded when they are
 * first opened, so that the first page is small.
 */
import { createRoute, createRouter, lazyRouteComponent } from '@tanstack/react-router';
import { mount, rootOf, SEARCH } from './mount.tsx';
import { BankLines } from './pages/banklines.tsx';
import { CasePage } from './pages/case.tsx';
import { Cases } from './pages/cases.tsx';
import { Debts } from './pages/debts.tsx';
import { DepositPage, Deposits, Suspense } from './pages/deposits.tsx';
import { Home } from './pages/home.tsx';
import { OrderPage } from './pages/order.tsx';
import { Orders } from './pages/orders.tsx';
import { PayoutPage } from './pages/payout.tsx';
import { Payouts } from './pages/payouts.tsx';
import { ProposalPage, Proposals } from './pages/proposals.tsx';
import { Search } from './pages/search.tsx';
import { Switches } from './pages/switches.tsx';
import { Sweeps, Treasury } from './pages/treasury.tsx';
import { UrgentCases } from './pages/urgent.tsx';
import { Shell } from './shell.tsx';

const root = rootOf(Shell);
const route = <P extends string>(path: P, component: () => React.ReactNode) =>
  createRoute({ getParentRoute: () => root, path, component });

/** A page that is loaded when it is first opened. */
const lazy = <P extends string, N extends string>(
  path: P,
  load: () => Promise<Readonly<Record<N, () => React.ReactNode>>>,
  name: N,
) => createRoute({ getParentRoute: () => root, path, component: lazyRouteComponent(load, name) });

const routeTree = root.addChildren([
  route('/', Home),
  route('/orders', Orders),
  route('/orders/$order', OrderPage),
  route('/cases', Cases),
  route('/cases/urgent', UrgentCases),
  route('/cases/$case', CasePage),
  route('/proposals', Proposals),
  route('/proposals/$proposal', ProposalPage),
  route('/kill-switches', Switches),
  lazy('/sessions', () => import('./pages/sessions.tsx'), 'Sessions'),
  route('/search', Search),
  route('/deposits', Deposits),
  route('/deposits/$deposit', DepositPage),
  route('/suspense', Suspense),
  route('/payouts', Payouts),
  route('/payouts/$payout', PayoutPage),
  route('/treasury', Treasury),
  lazy('/treasury/history', () => import('./pages/treasury.history.tsx'), 'TreasuryHistory'),
  route('/treasury/sweeps', Sweeps),
  lazy('/treasury/own', () => import('./pages/treasury.own.tsx'), 'OwnAddresses'),
  lazy('/bank', () => import('./pages/bank.tsx'), 'Bank'),
  route('/bank-lines', BankLines),
  route('/debts', Debts),
  lazy('/partners', () => import('./pages/partners.tsx'), 'Partners'),
  lazy('/partners/$partner', () => import('./pages/partners.tsx'), 'PartnerPage'),
  lazy('/partners/$partner/requests', () => import('./pages/requests.tsx'), 'PartnerRequests'),
  lazy('/markets', () => import('./pages/markets.tsx'), 'Markets'),
  lazy('/markets/$market', () => import('./pages/markets.tsx'), 'MarketPage'),
  lazy('/webhooks', () => import('./pages/webhooks.tsx'), 'Webhooks'),
  lazy('/webhooks/$endpoint', () => import('./pages/webhooks.tsx'), 'WebhookPage'),
  lazy('/reports', () => import('./pages/reports.tsx'), 'Reports'),
  lazy('/reports/trial-balance', () => import('./pages/reports.tsx'), 'TrialBalance'),
  lazy('/reports/revenue', () => import('./pages/reports.tsx'), 'RevenueReport'),
  lazy('/reports/statement', () => import('./pages/reports.tsx'), 'Statement'),
  lazy('/reports/affected', () => import('./pages/reports.tsx'), 'AffectedOrders'),
  lazy('/reports/partner', () => import('./pages/reports.partner.tsx'), 'PartnerStatement'),
  lazy('/reports/reconciliation', () => import('./pages/reports.reconciliation.tsx'), 'Reconciliation'),
  lazy('/changes', () => import('./pages/changes.tsx'), 'Changes'),
  lazy('/planned', () => import('./pages/planned.tsx'), 'PlannedChanges'),
  lazy('/audit', () => import('./pages/audit.tsx'), 'Audit'),
  lazy('/reviews', () => import('./pages/reviews.tsx'), 'Reviews'),
  lazy('/reviews/$customer', () => import('./pages/reviews.tsx'), 'ReviewPage'),
  lazy('/screening', () => import('./pages/screening.tsx'), 'Screening'),
  lazy('/screening/$hit', () => import('./pages/hit.tsx'), 'HitPage'),
  lazy('/customers/$customer', () => import('./pages/customer.tsx'), 'CustomerPage'),
  lazy('/address-risk', () => import('./pages/addressrisk.tsx'), 'AddressRisk'),
  lazy('/address-risk/$hit', () => import('./pages/addressrisk.tsx'), 'AddressHitPage'),
  lazy('/limits', () => import('./pages/limits.tsx'), 'Limits'),
  lazy('/travel-rules', () => import('./pages/travel.tsx'), 'TravelRules'),
  lazy('/monitoring', () => import('./pages/monitoring.tsx'), 'Monitoring'),
  lazy('/monitoring/try', () => import('./pages/monitoring.tsx'), 'MonitoringTry'),
  lazy('/operators', () => import('./pages/operators.tsx'), 'Operators'),
  lazy('/alerts', () => import('./pages/alerts.tsx'), 'Alerts'),
  lazy('/channels', () => import('./pages/channels.tsx'), 'Channels'),
  lazy('/breaks', () => import('./pages/breaks.tsx'), 'Breaks'),
  lazy('/breaks/movements', () => import('./pages/breaks.tsx'), 'Movements'),
  lazy('/handbook', () => import('./pages/handbook.tsx'), 'Handbook'),
]);

const router = createRouter({ routeTree, basepath: '/console', ...SEARCH });

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}

mount(router);

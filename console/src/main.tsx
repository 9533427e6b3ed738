/** The operators' console: its pages and their URLs. */
import { createRoute, createRouter } from '@tanstack/react-router';
import { mount, rootOf, SEARCH } from './mount.tsx';
import { AddressHitPage, AddressRisk } from './pages/addressrisk.tsx';
import { Alerts } from './pages/alerts.tsx';
import { Audit } from './pages/audit.tsx';
import { Bank } from './pages/bank.tsx';
import { BankLines } from './pages/banklines.tsx';
import { Breaks } from './pages/breaks.tsx';
import { CasePage } from './pages/case.tsx';
import { Cases } from './pages/cases.tsx';
import { Changes } from './pages/changes.tsx';
import { CustomerPage } from './pages/customer.tsx';
import { Debts } from './pages/debts.tsx';
import { DepositPage, Deposits, Suspense } from './pages/deposits.tsx';
import { Handbook } from './pages/handbook.tsx';
import { HitPage } from './pages/hit.tsx';
import { Home } from './pages/home.tsx';
import { Limits } from './pages/limits.tsx';
import { MarketPage, Markets } from './pages/markets.tsx';
import { Monitoring, MonitoringTry } from './pages/monitoring.tsx';
import { Operators } from './pages/operators.tsx';
import { OrderPage } from './pages/order.tsx';
import { Orders } from './pages/orders.tsx';
import { PartnerPage, Partners } from './pages/partners.tsx';
import { PayoutPage } from './pages/payout.tsx';
import { Payouts } from './pages/payouts.tsx';
import { PlannedChanges } from './pages/planned.tsx';
import { ProposalPage, Proposals } from './pages/proposals.tsx';
import { PartnerStatement, Reconciliation } from './pages/reports.partner.tsx';
import { AffectedOrders, Reports, RevenueReport, Statement, TrialBalance } from './pages/reports.tsx';
import { PartnerRequests } from './pages/requests.tsx';
import { ReviewPage, Reviews } from './pages/reviews.tsx';
import { Screening } from './pages/screening.tsx';
import { Search } from './pages/search.tsx';
import { Sessions } from './pages/sessions.tsx';
import { Switches } from './pages/switches.tsx';
import { TravelRules } from './pages/travel.tsx';
import { TreasuryHistory } from './pages/treasury.history.tsx';
import { OwnAddresses } from './pages/treasury.own.tsx';
import { Sweeps, Treasury } from './pages/treasury.tsx';
import { WebhookPage, Webhooks } from './pages/webhooks.tsx';
import { Shell } from './shell.tsx';

const root = rootOf(Shell);
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
  route('/deposits', Deposits),
  route('/deposits/$deposit', DepositPage),
  route('/suspense', Suspense),
  route('/payouts', Payouts),
  route('/payouts/$payout', PayoutPage),
  route('/treasury', Treasury),
  route('/treasury/history', TreasuryHistory),
  route('/treasury/sweeps', Sweeps),
  route('/treasury/own', OwnAddresses),
  route('/bank', Bank),
  route('/bank-lines', BankLines),
  route('/debts', Debts),
  route('/partners', Partners),
  route('/partners/$partner', PartnerPage),
  route('/partners/$partner/requests', PartnerRequests),
  route('/markets', Markets),
  route('/markets/$market', MarketPage),
  route('/webhooks', Webhooks),
  route('/webhooks/$endpoint', WebhookPage),
  route('/reports', Reports),
  route('/reports/trial-balance', TrialBalance),
  route('/reports/revenue', RevenueReport),
  route('/reports/statement', Statement),
  route('/reports/affected', AffectedOrders),
  route('/reports/partner', PartnerStatement),
  route('/reports/reconciliation', Reconciliation),
  route('/changes', Changes),
  route('/planned', PlannedChanges),
  route('/audit', Audit),
  route('/reviews', Reviews),
  route('/reviews/$customer', ReviewPage),
  route('/screening', Screening),
  route('/screening/$hit', HitPage),
  route('/customers/$customer', CustomerPage),
  route('/address-risk', AddressRisk),
  route('/address-risk/$hit', AddressHitPage),
  route('/limits', Limits),
  route('/travel-rules', TravelRules),
  route('/monitoring', Monitoring),
  route('/monitoring/try', MonitoringTry),
  route('/operators', Operators),
  route('/alerts', Alerts),
  route('/breaks', Breaks),
  route('/handbook', Handbook),
]);

const router = createRouter({ routeTree, basepath: '/console', ...SEARCH });

declare module '@tanstack/react-router' {
  interface Register {
    router: typeof router;
  }
}

mount(router);

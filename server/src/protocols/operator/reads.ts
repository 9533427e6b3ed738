/**
 * Operators' reads. Contact, names, accounts and files are a separate action (`customer.personal`). Texts that partners and
 * customers type may contain names too: a reply with such a text names its customer (`personal`), and is a line in the audit.
 *
 * Every list is bounded, and says how to continue.
 */
import type { Vault } from '../../base/crypto.ts';
import type { Tx } from '../../base/db.ts';
import { Refusal } from '../../base/errors.ts';
import { formatUnits } from '../../base/money.ts';
import { spellingsOf } from '../../base/spellings.ts';
import {
  attachmentsOf,
  findCase,
  listAddressHits,
  listAnswers,
  listCases,
  listHits,
  listStates,
  scoreText,
} from '../../compliance/index.ts';
import { type Customer, clientIdOf, comparedAccounts, customersLike, findCustomer } from '../../customers/index.ts';
import { erasureOf } from '../../erasure/index.ts';
import { endpoints } from '../../events/index.ts';
import {
  type AuditProblem,
  FINDINGS,
  findOperator,
  installation,
  operators,
  proposals,
  readAudit,
  sessionsOf,
  tokensOf,
  verifySeals,
} from '../../operators/index.ts';
import {
  bulkOf,
  dormantReport,
  exposureOf,
  findDeposit,
  heldDeposit,
  lookUp,
  MAX_UNPAID,
  opened,
  refundsOfDeposit,
  returnLinksOf,
  returnText,
  trace,
  unpaidOrders,
} from '../../orders/index.ts';
import {
  activityOf,
  allMarkets,
  assets,
  brandingOf,
  containments,
  exposureCaps,
  feesFor,
  findKey,
  findPartner,
  heldItems,
  keysOf,
  killSwitches,
  layersOf,
  listPartners,
  logoPath,
  marketChanges,
  partnerIds,
  policyFor,
  recordedFrom,
} from '../../partners/index.ts';
import { priceLevels } from '../../quotes/index.ts';
import { invitationsOf, membersOf } from '../../team/index.ts';
import { closeExpired } from './action.ts';
import { ERASURE_READS } from './actions/erasure.ts';
import { IDENTITY_READS } from './actions/identities.ts';
import { shownRules } from './actions/operators.ts';
import { marketOf, shownMarket } from './actions/terms.ts';
import { ALERT_READS } from './alerts.ts';
import { asAmounts } from './amounts.ts';
import { changed } from './changes.ts';
import { CHANNEL_READS } from './channels.ts';
import { ADDRESS_RISK } from './declared/addressrisk.ts';
import { CASES, CUSTOMERS } from './declared/cases.ts';
import { DEPOSITS, UNCLAIMED } from './declared/deposits.ts';
import { BULK, ORDERS } from './declared/orders.ts';
import { PARTNERS } from './declared/partners.ts';
import { AUDITED, OPERATORS, PROPOSALS, RULES } from './declared/people.ts';
import { SANCTIONS } from './declared/sanctions.ts';
import { SWITCHES } from './declared/switches.ts';
import { TEAM } from './declared/team.ts';
import { TERMS_OF_TRADE } from './declared/terms.ts';
import { DIFFERENCE_READS } from './differences.ts';
import { HANDBOOK_READS } from './handbook.ts';
import { LIMIT_READS } from './limits.ts';
import { LISTS } from './lists.ts';
import { MARKET_READS } from './marketterms.ts';
import { MONEY_READS } from './money.ts';
import { MONITORING_READS } from './monitoring.ts';
import { ORDER_READS } from './orders.ts';
import { OUTSIDE_READS, shownRequest } from './outside.ts';
import { PLANNED_READS } from './planned.ts';
import { PROPOSAL_READS, shownProposal } from './proposals.ts';
import { amountsIn, type Read, read, requireSpan } from './read.ts';
import { RECONCILIATION_READS } from './reconciliation.ts';
import { REPORTS } from './reports.ts';
import { SESSION_READS } from './session.ts';
import { SWITCHED_READS } from './switched.ts';
import { inAmounts, moneyIn, timeline } from './timeline.ts';
import { TRAVEL_READS } from './travel.ts';
import { TREASURY_READS } from './treasury.ts';
import { URGENT_READS } from './urgent.ts';

const DAY_MS = 86_400_000;

export const READS: readonly Read[] = [
  ...LISTS,
  ...SESSION_READS,
  ...REPORTS,
  ...RECONCILIATION_READS,
  ...LIMIT_READS,
  ...MARKET_READS,
  ...PLANNED_READS,
  ...ALERT_READS,
  ...CHANNEL_READS,
  ...HANDBOOK_READS,
  ...MONEY_READS,
  ...MONITORING_READS,
  ...TRAVEL_READS,
  ...OUTSIDE_READS,
  ...ORDER_READS,
  ...DIFFERENCE_READS,
  ...URGENT_READS,
  ...SWITCHED_READS,
  ...PROPOSAL_READS,
  ...TREASURY_READS,
  ...ERASURE_READS,
  ...IDENTITY_READS,
  read({
    ...OPERATORS.self,
    async answer(_deps, tx, _ask, { operator }) {
      const { name, role } = operator;
      const tokens = await tokensOf(tx, operator.id);
      return { name, role, tokens, installation: await declared(tx) };
    },
  }),
  read({
    ...ORDERS.trace,
    async answer({ vault, orders }, tx, input) {
      const found = await trace(tx, input.order, orders.rails);
      const money = await moneyIn(tx);
      const history = found.history.map((step) => ({ ...step, facts: inAmounts(step.facts, found.order, money) }));
      return { ...found, history, order: opened(vault, found.order) };
    },
    personal(body) {
      const { order } = body as { order: { id: bigint; payerReference: string | null } };
      return order.payerReference === null ? [] : [`order:${order.id}`];
    },
  }),
  read({
    ...ORDERS.timeline,
    answer: ({ orders }, tx, input) => timeline(tx, input.order, orders.rails),
  }),
  // The orders that the actions on unpaid orders would change now.
  read({
    ...BULK.unpaid,
    async answer(_deps, tx, input) {
      const { id: marketId } = await marketOf(tx, input.market);
      const { from, until, partner: partnerId = null, after = 0n, limit: most = MAX_UNPAID } = input;
      const amount = await amountsIn(tx);
      const found = await unpaidOrders(tx, { marketId, partnerId, from, until, after, limit: most + 1 });
      const orders = found.slice(0, most).map((one) => ({
        ...one,
        depositUnits: amount(one.depositUnits, one.depositAsset),
        payoutUnits: amount(one.payoutUnits, one.payoutAsset),
      }));
      return { orders, next: found.length > most ? orders.at(-1)?.id : null };
    },
  }),
  read({
    ...BULK.progress,
    async answer(_deps, tx, input) {
      const found = await bulkOf(tx, input.bulk);
      if (found === undefined) throw new Refusal('unknown_bulk');
      return found;
    },
  }),
  // Unclaimed money, announced and dormant, with its age.
  read({
    ...UNCLAIMED.dormant,
    answer: ({ clock }, tx, { after = 0n, limit: most = 50 }) =>
      dormantReport(tx, { after, limit: most, now: clock.now() }),
  }),
  read({
    ...ORDERS.lookup,
    async answer({ orders, vault, requests }, tx, input) {
      const ids = await partnerIds(tx);
      const texts = spellingsOf(input.text);
      const rails = [...orders.rails.keys()];
      const found = await lookUp(tx, { text: input.text, vault, partnerIds: ids, rails });
      // Omits a worker's internal timer, which has no meaning for a person.
      const payouts = found.payouts.map((one) => ({ ...one, submitLeftMs: undefined }));
      const customers = (await customersLike(tx, vault, { texts, partnerIds: ids })).map((one) =>
        shownCustomer(vault, one),
      );
      const named = await requests.named(tx, { partnerIds: ids, ids: texts });
      return { ...found, payouts, customers, requests: named.map(shownRequest) };
    },
    personal: (body) => (body as { customers: Shown[] }).customers.flatMap(namedIn),
  }),
  read({
    ...DEPOSITS.one,
    async answer({ clock }, tx, input) {
      const found = await findDeposit(tx, input.deposit);
      const refunds = await refundsOfDeposit(tx, input.deposit);
      const ageDays = Math.floor((clock.now().getTime() - found.seenAt.getTime()) / DAY_MS);
      const returnLinks = await returnLinksOf(tx, input.deposit);
      return { ...found, ageDays, refunds, returnLinks, heldBy: (await heldDeposit(tx, input.deposit))?.by ?? null };
    },
  }),
  // The text that the sender of coins signs, so that they are refunded to an address.
  read({
    ...DEPOSITS.returnText,
    answer: async ({ orders }, tx, input) => ({
      text: await returnText(orders, tx, { depositId: input.deposit, address: input.address }),
    }),
  }),
  read({
    ...CUSTOMERS.one,
    async answer({ vault }, tx, input) {
      const customer = await findCustomer(tx, input.customer);
      // The last characters distinguish two accounts for operators who may not see the whole numbers.
      const accounts = await comparedAccounts(tx, vault, customer.id);
      return {
        ...shownCustomer(vault, customer),
        accounts: accounts.map(({ id: account, fiat, hint, holder }) => ({
          ...{ id: account, fiat, hint, holder: holder?.match ?? null },
          holderScore: holder?.score === undefined ? null : scoreText(holder.score),
        })),
        erasure: (await erasureOf(tx, customer.id)) ?? null,
      };
    },
    personal: (body) => namedIn(body as Shown),
  }),
  read({
    ...CASES.list,
    async answer({ clock }, tx, { overdue, ...input }) {
      const last = input.after === undefined ? undefined : (await findCase(tx, input.after))?.found;
      if (input.after !== undefined && last === undefined) throw new Refusal('unknown_case');
      const { limit: most = 50 } = input;
      const found = await listCases(tx, {
        ...input,
        open: input.open ?? true,
        after: last,
        limit: most + 1,
        dueBy: overdue === true ? clock.now() : undefined,
      });
      const cases = found.slice(0, most).map((one) => ({ ...one, facts: asAmounts(one.facts) }));
      return { cases, next: found.length > most ? cases.at(-1)?.id : null };
    },
  }),
  read({
    ...CASES.one,
    async answer(_deps, tx, input) {
      const there = await findCase(tx, input.case);
      if (there === undefined) throw new Refusal('unknown_case');
      const attachments = await attachmentsOf(tx, input.case);
      return { ...there.found, facts: asAmounts(there.found.facts), actions: there.actions, attachments };
    },
  }),
  read({
    ...PARTNERS.list,
    answer: async (_deps, tx, input) => ({
      partners: await listPartners(tx, { after: input.after ?? 0n, limit: input.limit ?? 50 }),
    }),
  }),
  read({
    ...PARTNERS.one,
    async answer({ clock }, tx, input) {
      const found = await findPartner(tx, { id: input.partner });
      if (found === undefined) throw new Refusal('unknown_partner');
      // The partner's webhook endpoints with the key that made each, so that an unknown address is noticed.
      const heard = (await endpoints(tx, input.partner)).map((one) => ({
        ...{ id: one.id, url: one.url, format: one.format, enabled: one.enabled, madeByKey: one.madeByKey },
        ...{ signedByKey: one.apiKey, heldAt: one.heldAt, createdAt: one.createdAt, updatedAt: one.updatedAt },
      }));
      const now = clock.now();
      const caps = await Promise.all(
        [...(await exposureCaps(tx, input.partner))].map(async ([asset, maxUnits]) => {
          const { units: liveUnits } = await exposureOf(tx, { partnerId: input.partner, fiat: asset, now });
          return { asset, maxUnits, liveUnits };
        }),
      );
      const { displayName, accent, accentDark, changedAt, logo } = await brandingOf(tx, input.partner);
      const branding = { displayName, accent, accentDark, changedAt, logo: logo && logoPath(logo) };
      return { ...found, branding, keys: await keysOf(tx, input.partner), endpoints: heard, caps };
    },
  }),
  read({
    ...TEAM.list,
    async answer({ clock }, tx, { partner }) {
      if ((await findPartner(tx, { id: partner })) === undefined) throw new Refusal('unknown_partner');
      const [members, open] = await Promise.all([membersOf(tx, partner), invitationsOf(tx, partner, clock.now())]);
      return {
        team: members.map(
          ({ id, name, role, invitedBy, createdAt, joinedAt, disabledAt, linkFor, linkUntil, heldAt }) => ({
            ...{ id, name, role, invitedBy, createdAt, joinedAt, disabledAt, linkFor, linkUntil, heldAt },
            invitedUntil: open.get(id) ?? null,
          }),
        ),
      };
    },
  }),
  read({
    ...PARTNERS.activity,
    async answer(_deps, tx, { partner, key, limit: most = 50, ...rest }) {
      if ((await findPartner(tx, { id: partner })) === undefined) throw new Refusal('unknown_partner');
      if (key !== undefined && (await findKey(tx, key))?.partnerId !== partner) throw new Refusal('unknown_key');
      if (rest.since !== undefined && rest.until !== undefined && rest.until <= rest.since)
        throw new Refusal('malformed_field', { fields: { until: 'must be after since' } });
      const found = await activityOf(tx, { partnerId: partner, apiKey: key, ...rest, limit: most + 1 });
      const activity = found.slice(0, most);
      const next = found.length > most ? activity.at(-1)?.id : null;
      return { activity, next, recordedFrom: await recordedFrom(tx) };
    },
  }),
  read({
    ...PARTNERS.held,
    async answer(_deps, tx, { partner, state = 'held', after = 0n, limit: most = 50, kind }) {
      if ((await findPartner(tx, { id: partner })) === undefined) throw new Refusal('unknown_partner');
      const found = await heldItems(tx, { partnerId: partner, kind, state, after, limit: most + 1 });
      const held = found.slice(0, most);
      const next = found.length > most ? held.at(-1)?.id : null;
      return { held, next, containments: await containments(tx, partner) };
    },
  }),
  read({
    ...TERMS_OF_TRADE.markets,
    answer: async (_deps, tx) => ({ markets: (await allMarkets(tx)).map(shownMarket) }),
  }),
  read({
    ...TERMS_OF_TRADE.market,
    async answer(_deps, tx, input) {
      const market = await marketOf(tx, input.market);
      const { decimals } = market.fiat;
      const fees = await feesFor(tx, market, input.partner ?? 0n);
      const shown = Object.entries(fees).map(([kind, fee]) => ({
        ...{ kind, fixed: formatUnits(fee.fixedUnits, decimals), bps: fee.bps },
        ...{ minimum: formatUnits(fee.minimumUnits, decimals), gasUnits: String(fee.gasUnits) },
      }));
      const prices = await priceLevels(tx, { marketId: market.id });
      return { ...shownMarket(market), prices, fees: shown, policy: await policyFor(tx, market, input.partner ?? 0n) };
    },
  }),
  read({
    ...TERMS_OF_TRADE.prices,
    async answer(_deps, tx, { halted }) {
      const found = await priceLevels(tx);
      const isWanted = (haltedAt: Date | null): boolean => halted === undefined || halted === (haltedAt !== null);
      return { prices: found.filter(({ haltedAt }) => isWanted(haltedAt)) };
    },
  }),
  read({
    ...TERMS_OF_TRADE.changes,
    async answer(_deps, tx, { market: marketId, partner: partnerId, limit: most = 50, ...rest }) {
      requireSpan(rest);
      const found = await marketChanges(tx, { marketId, partnerId, ...rest, limit: most + 1 });
      const markets = new Map((await allMarkets(tx)).map((one) => [one.id, one]));
      const known = await assets(tx);
      const changes = found.slice(0, most).map((one) => ({ ...one, changed: changed(one, markets, known) }));
      return { changes, next: found.length > most ? changes.at(-1)?.id : null };
    },
  }),
  read({ ...SANCTIONS.lists, answer: async (_deps, tx) => ({ lists: await listStates(tx) }) }),
  read({
    ...SANCTIONS.hits,
    async answer(_deps, tx, { state = 'open', after = 0n, limit: most = 50 }) {
      const found = await listHits(tx, { state, after, limit: most + 1 });
      const hits = found.slice(0, most);
      return { hits, next: found.length > most ? String(hits.at(-1)?.id) : null };
    },
  }),
  read({
    ...ADDRESS_RISK.hits,
    async answer(_deps, tx, { state = 'open', after = 0n, limit: most = 50 }) {
      const found = await listAddressHits(tx, { state, after, limit: most + 1 });
      const hits = found.slice(0, most);
      return { hits, next: found.length > most ? String(hits.at(-1)?.id) : null };
    },
  }),
  read({
    ...ADDRESS_RISK.answers,
    answer: async (_deps, tx, { address, limit: most = 50 }) => ({
      answers: await listAnswers(tx, { address, limit: most }),
    }),
  }),
  read({
    ...SWITCHES.list,
    answer: async (_deps, tx) => ({
      killSwitches: await Promise.all(
        (await killSwitches(tx)).map(async (one) => ({
          ...one,
          laidBy: (await layersOf(tx, one.kind, one.subject)).map(({ by }) => by),
        })),
      ),
    }),
  }),
  read({ ...OPERATORS.list, answer: async (_deps, tx) => ({ operators: await operators(tx) }) }),
  read({
    ...OPERATORS.one,
    async answer(_deps, tx, input) {
      const found = await findOperator(tx, input.operator);
      return { ...found, tokens: await tokensOf(tx, found.id) };
    },
  }),
  read({
    ...OPERATORS.sessions,
    async answer({ clock }, tx, input) {
      const { id } = await findOperator(tx, input.operator);
      const sessions = (await sessionsOf(tx, id, clock.now())).map((one) => ({
        ...{ id: one.id, address: one.address, passkey: one.passkeyId },
        ...{ since: one.begunAt, seen: one.lastSeenAt, expires: one.expiresAt },
      }));
      return { sessions };
    },
  }),
  read({
    ...PROPOSALS.list,
    async answer({ clock }, tx, input) {
      await closeExpired(tx, clock.now());
      requireSpan(input);
      const { limit: most = 50 } = input;
      const found = await proposals(tx, { ...input, limit: most + 1 });
      const page = found.slice(0, most);
      return {
        proposals: page.map(shownProposal),
        next: found.length > most ? page.at(-1)?.id : null,
      };
    },
  }),
  read({
    ...RULES.list,
    async answer(_deps, tx) {
      const rules = await shownRules(tx);
      return { installation: await declared(tx), rules, otherwise: 2, findings: FINDINGS };
    },
  }),
  read({
    ...AUDITED.audit,
    async answer(_deps, tx, { limit: most = 50, ...input }) {
      requireSpan(input);
      // One row more than the page shows, unless that exceeds the maximum per read.
      const found = await readAudit(tx, { ...input, limit: most + 1 });
      const audit = found.slice(0, most);
      return { audit, next: found.length > most ? audit.at(-1)?.id : null };
    },
  }),
  read({
    ...AUDITED.verification,
    async answer({ clock, vault }, tx, { after = 0n, limit: most = 50 }) {
      const problems: AuditProblem[] = [];
      const tell = (problem: AuditProblem): void => {
        if (problems.length < MOST_PROBLEMS) problems.push(problem);
      };
      const { next, ...found } = await verifySeals(tx, tell, clock.now(), { after, limit: most, vault });
      return { ...found, problems, next };
    },
  }),
];

const MOST_PROBLEMS = 100;

interface Shown {
  readonly id: string;
  readonly clientCustomerId: string | null;
}
const namedIn = ({ id, clientCustomerId }: Shown): string[] => (clientCustomerId === null ? [] : [`customer:${id}`]);

/** With the partner's own name for the customer, decrypted; without the login epoch, which only sessions use. */
function shownCustomer(vault: Vault, customer: Customer) {
  const { storedClientId: _, loginEpoch: __, ...shown } = customer;
  return { ...shown, clientCustomerId: clientIdOf(vault, customer) };
}

async function declared(tx: Tx) {
  const { operators: many, delayS } = await installation(tx);
  return many === 'one' ? { operators: many, delayS } : { operators: many };
}

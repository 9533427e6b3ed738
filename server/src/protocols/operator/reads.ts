/**
 * What operators read. Nothing here is personal: that is an act of its own (`customer.personal`).
 *
 * Every list has a bound, and says how to ask for what comes after it.
 */
import type { Tx } from '../../base/db.ts';
import { Refusal } from '../../base/errors.ts';
import { formatUnits } from '../../base/money.ts';
import { findCase, listCases, MAX_CASES } from '../../compliance/index.ts';
import { customersLike, fiatAccounts, findCustomer } from '../../customers/index.ts';
import { trialBalance } from '../../ledger/index.ts';
import {
  findOperator,
  findProposal,
  GATES,
  MAX_AUDIT,
  MAX_PROPOSALS,
  operators,
  proposals,
  readAudit,
  secondOperatorRules,
  tokensOf,
} from '../../operators/index.ts';
import { lookUp, trace } from '../../orders/index.ts';
import {
  allMarkets,
  assets,
  feesFor,
  findPartner,
  keysOf,
  listPartners,
  marketChanges,
  policyFor,
  stops,
} from '../../partners/index.ts';
import type { Caller, OperatorDeps } from './act.ts';
import { marketOf, shownMarket } from './acts/terms.ts';
import { type Fields, flag, id, oneOf, optional, text, type Values, whole } from './fields.ts';
import { timeline } from './timeline.ts';

export interface Read<F extends Fields = Fields> {
  path: string;
  fields: F;
  answer(deps: OperatorDeps, tx: Tx, ask: Values<F>, caller: Caller): Promise<unknown>;
}

const read = <F extends Fields>(written: Read<F>): Read => written as unknown as Read;
const limit = (most: number) => optional(whole(1, most));
const order = { order: id };
const MAX_PARTNERS = 200;
const MAX_CHANGES = 200;

/** Amounts that were kept as text of smallest units, beside their asset: as amounts again, to be shown like any other. */
function asAmounts(kept: unknown): unknown {
  if (typeof kept !== 'object' || kept === null || typeof (kept as { asset?: unknown }).asset !== 'string') return kept;
  return Object.fromEntries(
    Object.entries(kept).map(([name, value]) => [
      name,
      /units$/i.test(name) && typeof value === 'string' && /^-?[0-9]+$/.test(value) ? BigInt(value) : value,
    ]),
  );
}

export const READS: readonly Read[] = [
  read({
    path: '/self',
    fields: {},
    async answer(_deps, tx, _ask, { operator }) {
      const { name, role } = operator;
      return { name, role, tokens: await tokensOf(tx, operator.id) };
    },
  }),
  read({ path: '/orders/:order/trace', fields: order, answer: (_deps, tx, ask) => trace(tx, ask.order) }),
  read({ path: '/orders/:order/timeline', fields: order, answer: (_deps, tx, ask) => timeline(tx, ask.order) }),
  read({ path: '/trial-balance', fields: {}, answer: (_deps, tx) => trialBalance(tx) }),
  read({
    path: '/lookup',
    fields: { text: text(128, /^[\x21-\x7e]{2,}$/, 'an id, address, hash or reference of 2 to 128 characters') },
    async answer({ orders }, tx, ask) {
      const found = await lookUp(tx, { text: ask.text, rails: [...orders.rails.keys()] });
      // A clock of the worker's that says nothing to a person.
      const payouts = found.payouts.map((one) => ({ ...one, handingLeftMs: undefined }));
      return { ...found, payouts, customers: await customersLike(tx, ask.text) };
    },
  }),
  read({
    path: '/customers/:customer',
    fields: { customer: text(40) },
    async answer(_deps, tx, ask) {
      const customer = await findCustomer(tx, ask.customer);
      // The last characters of an account tell two apart for whoever may not see it.
      const accounts = await fiatAccounts(tx, customer.id);
      return { ...customer, accounts: accounts.map(({ id: account, fiat, hint }) => ({ id: account, fiat, hint })) };
    },
  }),
  read({
    path: '/cases',
    fields: {
      open: optional(flag),
      kind: optional(text(60)),
      assignee: optional(text(40)),
      after: optional(id),
      limit: limit(MAX_CASES),
    },
    async answer(_deps, tx, ask) {
      const last = ask.after === undefined ? undefined : (await findCase(tx, ask.after))?.found;
      if (ask.after !== undefined && last === undefined) throw new Refusal('unknown_case');
      const found = await listCases(tx, { ...ask, open: ask.open ?? true, after: last, limit: ask.limit ?? 50 });
      return { cases: found.map((one) => ({ ...one, facts: asAmounts(one.facts) })) };
    },
  }),
  read({
    path: '/cases/:case',
    fields: { case: id },
    async answer(_deps, tx, ask) {
      const there = await findCase(tx, ask.case);
      if (there === undefined) throw new Refusal('unknown_case');
      return { ...there.found, facts: asAmounts(there.found.facts), acts: there.acts };
    },
  }),
  read({
    path: '/partners',
    fields: { after: optional(id), limit: limit(MAX_PARTNERS) },
    answer: async (_deps, tx, ask) => ({
      partners: await listPartners(tx, { after: ask.after ?? 0n, limit: ask.limit ?? 50 }),
    }),
  }),
  read({
    path: '/partners/:partner',
    fields: { partner: id },
    async answer(_deps, tx, ask) {
      const found = await findPartner(tx, { id: ask.partner });
      if (found === undefined) throw new Refusal('unknown_partner');
      return { ...found, keys: await keysOf(tx, ask.partner) };
    },
  }),
  read({
    path: '/markets',
    fields: {},
    answer: async (_deps, tx) => ({ markets: (await allMarkets(tx)).map(shownMarket) }),
  }),
  read({
    path: '/markets/:market',
    fields: { market: id, partner: optional(id) },
    async answer(_deps, tx, ask) {
      const market = await marketOf(tx, ask.market);
      const { decimals } = market.fiat;
      const fees = await feesFor(tx, market, ask.partner ?? 0n);
      const shown = Object.entries(fees).map(([kind, fee]) => ({
        ...{ kind, fixed: formatUnits(fee.fixedUnits, decimals), bps: fee.bps },
        ...{ minimum: formatUnits(fee.minimumUnits, decimals), gasUnits: String(fee.gasUnits) },
      }));
      return { ...shownMarket(market), fees: shown, policy: await policyFor(tx, market, ask.partner ?? 0n) };
    },
  }),
  read({
    path: '/changes',
    fields: { market: optional(id), limit: limit(MAX_CHANGES) },
    answer: async (_deps, tx, ask) => ({
      changes: await marketChanges(tx, {
        ...(ask.market === undefined ? {} : { marketId: ask.market }),
        limit: ask.limit ?? 50,
      }),
    }),
  }),
  read({ path: '/stops', fields: {}, answer: async (_deps, tx) => ({ stops: await stops(tx) }) }),
  read({ path: '/operators', fields: {}, answer: async (_deps, tx) => ({ operators: await operators(tx) }) }),
  read({
    path: '/operators/:operator',
    fields: { operator: text(40) },
    async answer(_deps, tx, ask) {
      const found = await findOperator(tx, ask.operator);
      return { ...found, tokens: await tokensOf(tx, found.id) };
    },
  }),
  read({
    path: '/proposals',
    fields: {
      state: optional(oneOf(['open', 'confirmed', 'declined', 'overtaken', 'expired'])),
      limit: limit(MAX_PROPOSALS),
    },
    answer: async ({ clock }, tx, ask) => ({
      proposals: await proposals(tx, { state: ask.state, now: clock.now(), limit: ask.limit ?? 50 }),
    }),
  }),
  read({
    path: '/proposals/:proposal',
    fields: { proposal: id },
    async answer(_deps, tx, ask) {
      const found = await findProposal(tx, ask.proposal);
      if (found === undefined) throw new Refusal('unknown_proposal');
      return { ...found, seen: asAmounts(found.seen) };
    },
  }),
  read({
    path: '/second-operator',
    fields: {},
    async answer(_deps, tx) {
      const known = await assets(tx);
      const rules = await secondOperatorRules(tx);
      return {
        rules: rules.map(({ what, above_units }) => ({
          what,
          above: formatUnits(above_units, known.get(what)?.decimals ?? 0),
          means: (GATES as readonly string[]).includes(what)
            ? above_units === 0n
              ? 'two operators'
              : 'one operator'
            : 'two operators above this',
        })),
        otherwise: 'two operators',
      };
    },
  }),
  read({
    path: '/audit',
    fields: {
      operator: optional(text(40)),
      subject: optional(text(160)),
      below: optional(id),
      limit: limit(MAX_AUDIT),
    },
    answer: async (_deps, tx, ask) => ({ audit: await readAudit(tx, { ...ask, limit: ask.limit ?? 50 }) }),
  }),
];

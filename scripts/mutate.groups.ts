/**
 * What `npm run mutate` breaks, in groups: files of server/src, and the files of server/test that have to notice. Every mutant
 * meets its group's tests in this order until one fails, so the likeliest and quickest stand first.
 */

export interface Group {
  mutate: readonly string[];
  tests: readonly string[];
  /** Too much to be broken whole. */
  isSampled?: true;
}

export const GROUPS: Readonly<Record<string, Group>> = {
  money: { mutate: ['base/money.ts'], tests: ['base/money.test.ts', 'fuzz/money.test.ts'] },
  price: { mutate: ['quotes/price.ts'], tests: ['quotes/price.test.ts'] },
  decisions: {
    mutate: ['orders/machine.ts', 'orders/decide.ts'],
    tests: ['orders/table.test.ts', 'orders/machine.test.ts', 'orders/decide.test.ts', 'orders/policy.test.ts'],
  },
  entries: { mutate: ['orders/entries.ts'], tests: ['orders/entries.test.ts'] },
  // Its statements are text in store.ts, where a mutant can only replace the whole text.
  ledger: {
    mutate: ['ledger/index.ts', 'ledger/chart.ts', 'ledger/digest.ts'],
    tests: ['ledger/told.test.ts', 'ledger/ledger.test.ts'],
  },
  gate: {
    mutate: ['orders/payouts/gate.ts', 'orders/payouts/judge.ts', 'orders/payouts/leaving.ts'],
    tests: ['orders/gate.test.ts', 'orders/gate.input.test.ts', 'orders/gate.leaving.test.ts'],
  },
  ready: {
    isSampled: true,
    mutate: ['orders/payouts/ready.ts', 'orders/refunds/destinations.ts'],
    tests: [
      'orders/clearing.test.ts',
      'orders/gate.input.test.ts',
      'stories/clearing.test.ts',
      'stories/destinations.test.ts',
    ],
  },
  payouts: {
    isSampled: true,
    mutate: ['rails/payouts.ts', 'rails/payouts.observed.ts'],
    tests: ['rails/payouts.test.ts', 'rails/payouts.answers.test.ts', 'orders/begun.test.ts'],
  },
  // Of the stories that reach these files, those that take less than a minute, the shortest first.
  orders: {
    isSampled: true,
    mutate: [
      'orders/actions.ts',
      'orders/advance.ts',
      'orders/follow-on-order.ts',
      'orders/create.ts',
      'orders/jobs.ts',
    ],
    tests: [
      'orders/machine.test.ts',
      'orders/clearing.test.ts',
      'orders/begun.test.ts',
      'stories/held.test.ts',
      'stories/requoted.test.ts',
      'stories/payouts.test.ts',
      'stories/deposits.test.ts',
      'stories/gate.test.ts',
      'stories/deadline.test.ts',
      'stories/liquidity.test.ts',
      'stories/policy.test.ts',
    ],
  },
  deposits: {
    isSampled: true,
    mutate: [
      'orders/custody/facts.ts',
      'orders/deposits/facts.ts',
      'orders/deposits/replace.ts',
      'orders/deposits/reversed.ts',
      'orders/refunds/lost.ts',
    ],
    tests: [
      'orders/clearing.test.ts',
      'stories/recalled-part.test.ts',
      'stories/recalled-caught.test.ts',
      'stories/taken.test.ts',
      'stories/deposits.test.ts',
      'stories/misdirected.test.ts',
      'stories/clearing.test.ts',
      'stories/reversed.test.ts',
    ],
  },
  settling: {
    isSampled: true,
    mutate: ['orders/payouts/actions.ts', 'orders/payouts/facts.ts'],
    tests: [
      'stories/settlement.test.ts',
      'stories/rest.test.ts',
      'stories/requoted.test.ts',
      'stories/elsewhere.test.ts',
      'stories/payouts.test.ts',
      'stories/returns.test.ts',
      'stories/gate.test.ts',
      'stories/reversed.test.ts',
    ],
  },
  refunds: {
    isSampled: true,
    mutate: [
      'orders/refunds/actions.ts',
      'orders/refunds/blocked.ts',
      'orders/refunds/cancel.ts',
      'orders/refunds/refunds.ts',
      'orders/refunds/rejected.ts',
      'orders/refunds/released.ts',
      'orders/refunds/request.ts',
      'orders/refunds/retry.ts',
      'orders/refunds/screen.ts',
      'orders/refunds/settled.ts',
    ],
    tests: [
      'stories/approved.test.ts',
      'stories/destinations.test.ts',
      'stories/payouts.test.ts',
      'stories/refunds.test.ts',
      'stories/returns.test.ts',
      'stories/misdirected.test.ts',
      'stories/gate.test.ts',
      'stories/policy.test.ts',
      'stories/frozen.test.ts',
      'stories/released.test.ts',
      'stories/reversed.test.ts',
    ],
  },
  // What operators and partners do with money that has no plain way on.
  desks: {
    isSampled: true,
    mutate: [
      'orders/custody/correct.ts',
      'orders/custody/recall.ts',
      'orders/deposits/held.ts',
      'orders/refunds/compensate.ts',
      'orders/refunds/to-sender.ts',
      'orders/payouts/undone.ts',
    ],
    tests: [
      'stories/recalled-part.test.ts',
      'stories/recalled-caught.test.ts',
      'stories/taken.test.ts',
      'stories/held.test.ts',
      'stories/senders.test.ts',
      'stories/compensations.test.ts',
      'stories/debts.test.ts',
      'stories/blocked-again.test.ts',
      'stories/casework.test.ts',
    ],
  },
  again: {
    isSampled: true,
    mutate: [
      'orders/payouts/elsewhere.ts',
      'orders/payouts/never-paid.ts',
      'orders/refunds/by-partner.ts',
      'rails/payouts.repeat.ts',
      'rails/payouts.unpaid.ts',
    ],
    tests: [
      'rails/repeat.test.ts',
      'stories/never-paid.test.ts',
      'stories/elsewhere.test.ts',
      'stories/returns.test.ts',
      'attack/v1.test.ts',
    ],
  },
  limits: {
    isSampled: true,
    mutate: ['orders/limits.ts', 'orders/bulk.ts', 'partners/customer-limits.ts'],
    tests: ['orders/limits.test.ts', 'orders/bulk.test.ts', 'protocols/v1/limits.test.ts'],
  },
  adopted: {
    isSampled: true,
    mutate: ['rails/chain.adopt.match.ts', 'rails/chain.adopt.ts', 'rails/chain.sends.ts'],
    tests: ['rails/chain.test.ts', 'rails/evm.test.ts', 'stories/restored.test.ts', 'backup/post-restore.test.ts'],
  },
  files: {
    isSampled: true,
    mutate: ['rails/manual/desk.files.ts', 'treasury/transfers.ts'],
    tests: ['rails/manual.files.test.ts', 'stories/own-address.test.ts'],
  },
  compliance: {
    isSampled: true,
    mutate: [
      'compliance/cases.ts',
      'compliance/decisions.ts',
      'compliance/reviews.ts',
      'compliance/screening.ts',
      'compliance/screenings.ts',
    ],
    tests: [
      'compliance/cases.test.ts',
      'compliance/reviews.test.ts',
      'orders/gate.input.test.ts',
      'stories/held.test.ts',
    ],
  },
  operators: {
    isSampled: true,
    mutate: ['operators/audit.ts', 'operators/people.ts', 'operators/proposals.ts', 'operators/rules.ts'],
    tests: [
      'operators/rules.test.ts',
      'protocols/operator/wire.test.ts',
      'protocols/operator/session.test.ts',
      'stories/operator.test.ts',
    ],
  },
  partners: {
    isSampled: true,
    mutate: [
      'partners/containment.ts',
      'partners/credentials.ts',
      'partners/fees.ts',
      'partners/limits.ts',
      'partners/markets.ts',
      'partners/partners.ts',
      'partners/policies.ts',
      'partners/remember.ts',
      'partners/kill-switches.ts',
    ],
    tests: [
      'partners.test.ts',
      'policies.test.ts',
      'rails/payouts.test.ts',
      'orders/gate.input.test.ts',
      'stories/leaked-key.test.ts',
    ],
  },
};

/** Forms about payouts, movements that the books do not know, and correcting entries. */
import type { FormAction } from './actions.ts';

const TWO = { right: 'money', people: 'two' } as const;
const OURS = { right: 'treasury', people: 'two' } as const;
const OTHER_AMOUNT = { name: 'otherAmount', label: 'It left with another amount', isFlag: true } as const;
const EVIDENCE = { name: 'evidence', label: 'Evidence', isRequired: true } as const;

export const PAYOUT_ACTIONS = {
  settleBy: {
    ...{ ...TWO, name: 'payout.settle-by', label: 'Settle by evidence', path: '/payouts/:payout/settle-by' },
    says: 'Settles the payout by the transaction or the statement line that paid it.',
    fields: [
      { name: 'hash', label: 'Transaction', hint: 'Its hash, in lower case: of a payout on a chain' },
      { name: 'line', label: 'Statement line', hint: 'As its case names it: of a payout by a bank' },
      OTHER_AMOUNT,
    ],
  },
  neverPaid: {
    ...{ ...TWO, name: 'payout.never-paid', label: 'Never paid', path: '/payouts/:payout/never-paid' },
    says: 'Records that a payout of unknown outcome was never paid: its order or refund continues.',
    fields: [{ ...EVIDENCE, hint: 'What shows that its rail did not pay it, and will not', isLong: true }],
    isGrave: true,
  },
} as const satisfies Record<string, FormAction>;

export const MOVEMENT_ACTIONS = {
  match: {
    ...{ ...OURS, name: 'movement.match', label: 'Match', path: '/movements/:movement/match' },
    says: 'Matches the movement with the payout, refund, sweep or gas that it was.',
    fields: [
      {
        name: 'key',
        label: 'What it was',
        hint: 'Id of a payout or refund, or key of a sweep or its gas',
        isRequired: true,
      },
      OTHER_AMOUNT,
    ],
  },
  foreign: {
    ...{ ...OURS, name: 'movement.foreign', label: 'Not ours', path: '/movements/:movement/foreign' },
    says: 'Declares that the movement is not ours: it is booked as a loss.',
    isGrave: true,
  },
  cancel: {
    ...{ ...OURS, name: 'movement.cancel', label: 'Cancel', path: '/movements/:movement/cancel' },
    says: 'Uses up the nonce of a movement that is signed and in no block, by an empty transfer.',
    isGrave: true,
  },
} as const satisfies Record<string, FormAction>;

export const BREAK_CORRECTIONS = ['fee', 'gone', 'found', 'dust', 'sweep_undone'] as const;
export const CASE_CORRECTIONS = ['fee', 'recall', 'partner_fees', 'debt', 'dust', 'lost_order', 'undone'] as const;

const AMOUNT = { name: 'amount', label: 'Amount', hint: 'A plain decimal of its asset', isRequired: true } as const;
export const CORRECT = {
  ofBreak: {
    ...{ ...OURS, name: 'break.correct', label: 'Correct', path: '/breaks/:item/correct' },
    says: 'Ends the break by a correcting entry.',
    fields: [
      {
        name: 'as',
        label: 'As',
        hint: 'The kind says which accounts it touches',
        isRequired: true,
        choices: BREAK_CORRECTIONS,
      },
      AMOUNT,
      { ...EVIDENCE, hint: 'One of the names of the break: what it shows outside' },
    ],
  },
  ofCase: {
    ...{ ...TWO, name: 'entry.correct-case', label: 'Correct the books', path: '/cases/:case/correct' },
    says: 'Ends the case by a correcting entry.',
    fields: [
      {
        name: 'as',
        label: 'As',
        hint: 'The kind says which accounts it touches',
        isRequired: true,
        choices: CASE_CORRECTIONS,
      },
      AMOUNT,
      { ...EVIDENCE, hint: 'What shows it: a line, a letter, a hash' },
      { name: 'deposit', label: 'Deposit', hint: 'With lost_order, undone or recall: the deposit that it is about' },
      { name: 'partner', label: 'Partner', hint: 'With partner_fees: the partner whose fees the debit paid' },
    ],
  },
} as const satisfies Record<string, FormAction>;

export const TRANSFER_ACTIONS = {
  register: {
    ...{ ...OURS, name: 'own-address.register', label: 'Register an address', path: '/treasury/own-addresses' },
    says: 'Registers an address of ours outside this server. Money may be sent there after the cooling-off time.',
    fields: [
      { name: 'rail', label: 'Chain', hint: 'Code of the rail, such as evm.matic20', isRequired: true },
      { name: 'address', label: 'Address', hint: 'Compare every character with its source', isRequired: true },
      { name: 'label', label: 'What it is', isRequired: true },
    ],
  },
  end: {
    ...{ name: 'own-address.end', label: 'End', path: '/treasury/own-addresses/:id/end', right: 'block' },
    says: 'Ends the use of this address: nothing more is sent to it. Earlier transfers stay in the books.',
    people: 'one',
    isGrave: true,
  },
  send: {
    ...{ ...OURS, name: 'transfer.send', label: 'Send', path: '/treasury/own-addresses/:id/transfers' },
    says: 'Sends tokens from the wallet that pays to this address. The wallet keeps its low threshold.',
    fields: [{ name: 'asset', label: 'Asset', hint: 'Its code, such as usdc.matic20', isRequired: true }, AMOUNT],
  },
  cancel: {
    ...{ name: 'transfer.cancel', label: 'Cancel', path: '/treasury/own-transfers/:transfer/cancel', right: 'block' },
    says: 'Cancels the transfer, as long as no transaction of it is reserved or signed.',
    people: 'one',
    isGrave: true,
  },
} as const satisfies Record<string, FormAction>;

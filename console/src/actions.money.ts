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
      { name: 'hash', label: 'Transaction', hint: 'For a payout on a chain: hash of the transaction, in lower case' },
      { name: 'line', label: 'Statement line', hint: 'For a payout by a bank: the line, as its case names it' },
      OTHER_AMOUNT,
    ],
  },
  neverPaid: {
    ...{ ...TWO, name: 'payout.never-paid', label: 'Never paid', path: '/payouts/:payout/never-paid' },
    says: 'Records that a payout with an unknown outcome was never paid. Its order or refund then continues.',
    fields: [{ ...EVIDENCE, hint: 'Evidence that its rail did not pay it and will not pay it', isLong: true }],
    isGrave: true,
  },
} as const satisfies Record<string, FormAction>;

export const MOVEMENT_ACTIONS = {
  match: {
    ...{ ...OURS, name: 'movement.match', label: 'Match', path: '/movements/:movement/match' },
    says: 'Matches the movement with the payout, refund, sweep or gas transfer that it paid.',
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
    says: 'Declares that the movement paid nothing of ours, and books it as a loss.',
    isGrave: true,
  },
  cancel: {
    ...{ ...OURS, name: 'movement.cancel', label: 'Cancel', path: '/movements/:movement/cancel' },
    says: 'Cancels a movement that is signed but in no block: an empty transfer uses its nonce.',
    isGrave: true,
  },
} as const satisfies Record<string, FormAction>;

export const BREAK_CORRECTIONS = ['fee', 'gone', 'found', 'dust', 'sweep_undone'] as const;
export const CASE_CORRECTIONS = ['fee', 'recall', 'partner_fees', 'debt', 'dust', 'lost_order', 'undone'] as const;

const AMOUNT = { name: 'amount', label: 'Amount', hint: 'A plain decimal of its asset', isRequired: true } as const;
export const CORRECT = {
  ofBreak: {
    ...{ ...OURS, name: 'break.correct', label: 'Correct', path: '/breaks/:item/correct' },
    says: 'Corrects the break with a ledger entry.',
    fields: [
      {
        name: 'as',
        label: 'As',
        hint: 'The kind determines the accounts of the entry',
        isRequired: true,
        choices: BREAK_CORRECTIONS,
      },
      AMOUNT,
      { ...EVIDENCE, hint: 'One of the names of the break: the evidence at the chain or bank' },
    ],
  },
  ofCase: {
    ...{ ...TWO, name: 'entry.correct-case', label: 'Correct the books', path: '/cases/:case/correct' },
    says: 'Closes the case with a correcting ledger entry.',
    fields: [
      {
        name: 'as',
        label: 'As',
        hint: 'The kind determines the accounts of the entry',
        isRequired: true,
        choices: CASE_CORRECTIONS,
      },
      AMOUNT,
      { ...EVIDENCE, hint: 'Evidence, such as a statement line, a letter or a hash' },
      { name: 'deposit', label: 'Deposit', hint: 'With lost_order, undone or recall: number of the deposit' },
      { name: 'partner', label: 'Partner', hint: 'With partner_fees: the partner whose fees the debit paid' },
    ],
  },
} as const satisfies Record<string, FormAction>;

export const TRANSFER_ACTIONS = {
  register: {
    ...{ ...OURS, name: 'own-address.register', label: 'Register an address', path: '/treasury/own-addresses' },
    says: 'Registers an own address, such as cold storage. Money may be sent there after the cooling-off time.',
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
    says: 'Sends tokens from the hot wallet to this address. The wallet keeps at least its low threshold and the funds that orders wait for.',
    fields: [{ name: 'asset', label: 'Asset', hint: 'Its code, such as usdc.matic20', isRequired: true }, AMOUNT],
  },
  cancel: {
    ...{ name: 'transfer.cancel', label: 'Cancel', path: '/treasury/own-transfers/:transfer/cancel', right: 'block' },
    says: 'Cancels the transfer if no transaction for it is reserved or signed yet.',
    people: 'one',
    isGrave: true,
  },
} as const satisfies Record<string, FormAction>;

/**
 * An operator's actions on an order, a case, a customer or a kill switch, as forms: path, right, fields, and the states of an
 * order in which it is offered. The server decides each time; a test compares this with its declarations and its table of states.
 */

export interface FormField {
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  readonly isRequired?: boolean;
  readonly choices?: readonly string[];
  /** Words for people, for choices that are not. */
  readonly names?: Readonly<Record<string, string>>;
  /** Unit of a number, and what holds where the field is left out: both are shown where it changes. */
  readonly unit?: string;
  readonly empty?: string;
  /** An optional yes; a switch is yes or no, and either can be meant. */
  readonly isFlag?: boolean;
  readonly isSwitch?: boolean;
  readonly isLong?: boolean;
  /** Typed in the time zone of the browser, sent in UTC. */
  readonly isTime?: boolean;
}

export interface FormAction {
  /** As the audit has it. */
  readonly name: string;
  readonly label: string;
  readonly says: string;
  /** With the names of its path in it, such as `:order`. */
  readonly path: string;
  readonly right: string;
  readonly fields?: readonly FormField[];
  /** States of an order in which it is usual. */
  readonly states?: readonly string[];
  /** It removes something, or cannot be undone. */
  readonly isGrave?: boolean;
  /** How many people it takes, as declared. */
  readonly people?: 'one' | 'rules' | 'two' | 'second';
  /** Only fields that are changed are sent. */
  readonly isPartial?: boolean;
  /** Its answer may have many megabytes. */
  readonly isLarge?: boolean;
  /** The page shows the file that it answers with, instead of saving it. */
  readonly isShown?: boolean;
}

/** The time from which a change of terms holds: the server then makes it by itself. */
export const FROM_WHEN: FormField = {
  name: 'effectiveAt',
  label: 'From when',
  hint: 'In your time zone, at most a year ahead; at once if empty',
  isTime: true,
};
const ADDRESS: FormField = { name: 'address', label: 'Address', hint: 'On the chain of the money' };
const ACCOUNT: FormField = {
  name: 'fiatAccountId',
  label: 'Bank account',
  hint: 'Number of an account of the customer',
};
const PAST_HITS: FormField = { name: 'pastHits', label: 'Let it go past hits of screening', isFlag: true };
const TO: readonly FormField[] = [ADDRESS, ACCOUNT, PAST_HITS];
const TO_SENDER: FormField = {
  name: 'toSender',
  label: 'Send it to the bank account that its only deposit came from',
  isFlag: true,
};
const HELD = ['on_hold', 'payout_held', 'refund_held'];
/** States in which the server continues an order without a person, and an operator can still stop it. */
const GOES_ON = ['deposit_confirmed', 'awaiting_liquidity', 'paying_out', 'refunding'];

export const ORDER_ACTIONS: readonly FormAction[] = [
  {
    ...{ name: 'order.release', label: 'Release', path: '/orders/:order/release', right: 'money' },
    says: 'Releases a held order, which then continues to its payout. If the payout was rejected, it only ends an operator’s hold.',
    states: ['on_hold', 'payout_held'],
  },
  {
    ...{ name: 'order.hold', label: 'Hold', path: '/orders/:order/hold', right: 'block' },
    says: 'Holds the order if its payout or refund is not submitted yet. An order that is already held is then held for an operator’s reason.',
    states: [...GOES_ON, ...HELD],
  },
  {
    ...{ name: 'order.retry', label: 'Retry payout', path: '/orders/:order/retry', right: 'money' },
    says: 'Sends a rejected payout again, optionally to another destination.',
    fields: TO,
    states: ['payout_held'],
  },
  {
    ...{ name: 'order.retry-refund', label: 'Retry refund', path: '/orders/:order/retry-refund', right: 'money' },
    says: 'Sends a rejected refund again, optionally to another destination.',
    fields: [...TO, TO_SENDER],
    states: ['refund_held'],
  },
  {
    ...{ name: 'order.refund', label: 'Refund', path: '/orders/:order/refund', right: 'money' },
    says: 'Refunds the deposit: to the destination named here, or else to the one that the customer or the partner named. Without a destination, the refund waits for one.',
    fields: [
      {
        name: 'failure',
        label: 'What was wrong',
        hint: 'The partner sees it as a status',
        isRequired: true,
        choices: ['amount', 'name', 'other'],
      },
      ...TO,
      TO_SENDER,
    ],
    states: ['on_hold', 'payout_held', 'deposit_confirmed', 'awaiting_liquidity', 'paying_out'],
  },
  {
    ...{ name: 'order.destination', label: 'Name destination', path: '/orders/:order/destination', right: 'money' },
    says: 'Sets the destination to which the order’s money is refunded or paid again.',
    fields: TO,
    states: HELD,
  },
  {
    ...{ name: 'order.requote', label: 'Reprice', path: '/orders/:order/requote', right: 'money' },
    says: 'Reprices an order at the current price while it is held, waits for funds, or its payout is not submitted yet.',
    states: ['on_hold', 'awaiting_liquidity', 'payout_held', 'paying_out', 'deposit_confirmed'],
  },
  {
    ...{ name: 'order.cancel', label: 'Cancel', path: '/orders/:order/cancel', right: 'money' },
    says: 'Cancels an order that has no deposit.',
    states: ['created'],
    isGrave: true,
  },
  {
    ...{ name: 'order.settle-by', label: 'Settle by an attempt', path: '/orders/:order/settle-by', right: 'money' },
    says: 'Settles the order by a rejected payout attempt that was paid after all.',
    fields: [
      { name: 'payout', label: 'Attempt', hint: 'Such as pay_17_1', isRequired: true },
      { name: 'rest', label: 'What becomes of the difference', choices: ['keep', 'pay'] },
    ],
    states: HELD,
  },
  {
    ...{ name: 'order.block', label: 'Block by law', path: '/orders/:order/block', right: 'money' },
    says: 'Freezes the order’s money because the law requires it. Only a legal release ends the freeze.',
    states: [...HELD, 'deposit_confirmed', 'awaiting_liquidity', 'paying_out'],
    isGrave: true,
  },
  {
    ...{
      name: 'order.release-blocked',
      label: 'Release blocked money',
      path: '/orders/:order/release-blocked',
      right: 'money',
    },
    says: 'Releases money that was frozen because the law required it.',
    fields: [
      {
        name: 'legalAct',
        label: 'Legal act',
        hint: 'Reference of the order or judgement that lifts the block',
        isRequired: true,
      },
    ],
    states: ['frozen'],
  },
  {
    ...{ name: 'order.compensate', label: 'Compensate a fee', path: '/orders/:order/compensate', right: 'money' },
    says: 'Refunds to the customer the excess of a wrong fee on a settled order.',
    fields: [
      { name: 'fee', label: 'Fee that was wrong', isRequired: true, choices: ['operator', 'partner', 'rail', 'chain'] },
      { name: 'amount', label: 'Amount', isRequired: true },
      { name: 'asset', label: 'Asset', hint: 'Code of the asset in which the compensation is paid', isRequired: true },
      {
        name: 'nth',
        label: 'Time',
        hint: 'Number of the compensation of this fee, for a second one 2; guards against paying twice by mistake',
      },
      ACCOUNT,
    ],
    states: ['settled'],
  },
];

const AMOUNT: FormField = { name: 'amount', label: 'Amount', hint: 'A part of it; without it, all' };
export const DEPOSIT_ACTIONS: readonly FormAction[] = [
  {
    ...{ name: 'deposit.hold', label: 'Hold', path: '/deposits/:deposit/hold', right: 'block' },
    says: 'Holds this deposit’s money in suspense: no refund of it leaves.',
  },
  {
    ...{ name: 'deposit.release', label: 'End the hold', path: '/deposits/:deposit/release', right: 'money' },
    says: 'Ends the hold: the deposit’s money in suspense may leave again.',
  },
  {
    ...{ name: 'deposit.assign', label: 'Give to an order', path: '/deposits/:deposit/assign', right: 'money' },
    says: 'Assigns the deposit’s money in suspense to an order. It may replace a reversed deposit or pay a debt.',
    fields: [{ name: 'order', label: 'Order', hint: 'Number of the order', isRequired: true }, AMOUNT],
  },
  {
    ...{ name: 'deposit.refund', label: 'Refund', path: '/deposits/:deposit/refund', right: 'money' },
    says: 'Refunds the deposit’s money in suspense.',
    fields: [
      AMOUNT,
      ...TO,
      { name: 'despiteDebt', label: 'Refunds even if its order owes money; the debt stays', isFlag: true },
    ],
  },
];

const ASSIGN = { name: 'case.assign', path: '/cases/:case/assign', right: 'cases' };
const TAKE_OVER: FormField = {
  name: 'takeOver',
  label: 'Take it over from the operator who has claimed it',
  isFlag: true,
};
export const CASE_ACTIONS = {
  claim: {
    ...{ ...ASSIGN, label: 'Claim', fields: [TAKE_OVER] },
    says: 'Assigns this case to you. No other operator can close it until you give it up.',
  },
  assign: {
    ...{ ...ASSIGN, label: 'Assign' },
    says: 'Assigns this case to an operator.',
    fields: [
      { name: 'to', label: 'Operator', hint: 'Name of an operator, or none to give the case up', isRequired: true },
      TAKE_OVER,
    ],
  },
  note: {
    name: 'case.note',
    label: 'Note',
    path: '/cases/:case/note',
    right: 'cases',
    says: 'Adds the reason to the case as a note.',
  },
  close: {
    ...{ name: 'case.close', label: 'Close', path: '/cases/:case/close', right: 'cases' },
    says: 'Closes a case that no other action closes.',
    fields: [
      { name: 'outcome', label: 'How it ended', hint: 'In words', isRequired: true },
      {
        name: 'leaveInSuspense',
        label: 'Money of it may stay in suspense: the case says how much',
        isFlag: true,
      },
    ],
  },
} as const satisfies Record<string, FormAction>;

const ATTACHMENT = {
  ...{ name: 'case.attachment', right: 'personal', isLarge: true },
  path: '/cases/:case/attachments/:attachment/open',
} as const;
export const ATTACHMENT_ACTIONS = {
  show: {
    ...{ ...ATTACHMENT, label: 'Look at', isShown: true },
    says: 'Decrypts the file and shows it until you leave this page. The audit records that you have seen it.',
  },
  save: {
    ...{ ...ATTACHMENT, label: 'Save' },
    says: 'Decrypts the file and saves it on this device. The audit records that you have seen it.',
  },
  remove: {
    ...{ name: 'case.detach', label: 'Remove', right: 'reviews', people: 'two', isGrave: true },
    path: '/cases/:case/attachments/:attachment/remove',
    says: 'Makes the file permanently unreadable. The history of the case still shows that it was attached.',
  },
} as const satisfies Record<string, FormAction>;

export const SWITCH_KINDS = ['market', 'partner', 'rail', 'payouts'] as const;
export const SWITCH_ACTIONS = {
  set: {
    ...{ name: 'kill-switch.set', label: 'Set a kill switch', path: '/kill-switches', right: 'kill_switch' },
    says: 'Switches off a market, a partner, a rail, or all payouts. It takes effect at once.',
    fields: [
      { name: 'kind', label: 'Kind', isRequired: true, choices: SWITCH_KINDS },
      {
        name: 'subject',
        label: 'Which',
        hint: 'Number of a market or partner, code of a rail, or all for payouts',
        isRequired: true,
      },
    ],
    isGrave: true,
  },
  lift: {
    ...{ name: 'kill-switch.lift', label: 'Lift', path: '/kill-switches/lift', right: 'resume' },
    says: 'Switches a market, a partner, a rail, or all payouts on again.',
  },
} as const satisfies Record<string, FormAction>;

export const PROPOSAL_ACTIONS = {
  confirm: {
    ...{ name: 'proposal.confirm', label: 'Confirm', path: '/proposals/:proposal/confirm', right: 'read' },
    says: 'Approves the proposal. The action runs once enough operators have approved.',
  },
  decline: {
    ...{ name: 'proposal.decline', label: 'Decline', path: '/proposals/:proposal/decline', right: 'read' },
    says: 'Rejects the proposal. The action does not run.',
    isGrave: true,
  },
} as const satisfies Record<string, FormAction>;

const FILE = { right: 'treasury' };
export const BANK_ACTIONS = {
  close: {
    ...{ ...FILE, name: 'bank.close_file', label: 'Close a file', path: '/bank/files' },
    says: 'Closes the waiting payouts into a payout file. Each payout is in one file only.',
    fields: [
      {
        name: 'until',
        label: 'Listed until',
        hint: 'Payouts that began to wait later are left for the next file; a time in UTC',
      },
    ],
  },
  download: {
    ...{ ...FILE, name: 'bank.download_file', label: 'Download', path: '/bank/files/:id/download' },
    says: 'Downloads the payout file, to be uploaded to the bank once.',
  },
  withdraw: {
    ...{ ...FILE, name: 'bank.withdraw_file', label: 'Withdraw', path: '/bank/files/:id/withdraw' },
    says: 'Withdraws a payout file that was not uploaded, and rejects its payouts.',
    isGrave: true,
  },
  settle: {
    ...{ right: 'money', people: 'two', name: 'bank.settle_file', label: 'Settle by a debit' },
    path: '/bank/files/:id/settle-by',
    says: 'Settles payouts of the file by one debit that the bank booked for them with another amount.',
    fields: [
      { name: 'line', label: 'Statement line', hint: 'The debit, as its case names it', isRequired: true },
      {
        name: 'payouts',
        label: 'Payouts that it paid',
        hint: 'Their ids, separated by commas; without it, all payouts of the file that are open',
      },
    ],
  },
} as const satisfies Record<string, FormAction>;

const REVIEW = '/customers/:customer/review';
export const REVIEW_ACTIONS = {
  open: {
    ...{ name: 'review.open', label: 'Look at the submission', path: `${REVIEW}/open`, right: 'personal' },
    says: 'Shows what the customer supplied. The audit records your access and your reason.',
  },
  document: {
    ...{ name: 'review.document', label: 'Look at the file', path: `${REVIEW}/document`, right: 'personal' },
    says: 'Shows a file that the customer sent. The audit records your access and your reason.',
  },
} as const satisfies Record<string, FormAction>;
export const REVIEW_DECIDE = { path: `${REVIEW}/decide`, right: 'reviews' } as const;
export const REVIEW_OUTCOMES = ['verified', 'failed', 'refused'] as const;
/** Why it must be submitted again. */
export const AGAIN_REASONS = {
  unreadable: 'cannot be read',
  expired: 'has expired',
  does_not_match: 'does not match the other answers',
  incomplete: 'is incomplete',
  not_accepted: 'is not accepted',
} as const;

const CUSTOMER = '/customers/:customer';
export const CUSTOMER_ACTIONS = {
  block: {
    ...{ name: 'customer.block', label: 'Block', path: `${CUSTOMER}/block`, right: 'block' },
    says: 'Blocks the customer: no new orders, and payouts not yet submitted are held. Submitted payouts may still arrive.',
    isGrave: true,
  },
  unblock: {
    ...{ name: 'customer.unblock', label: 'Unblock', path: `${CUSTOMER}/unblock`, right: 'money' },
    says: 'Lets the customer trade again. It needs two operators; the proposal shows what the customer owes.',
  },
  ask: {
    ...{ name: 'customer.ask', label: 'Ask', path: `${CUSTOMER}/questions`, right: 'reviews' },
    says: 'Asks the customer’s partner for information that the form does not contain.',
    fields: [
      {
        name: 'question',
        label: 'Question',
        hint: 'The question; the partner and the customer can read it',
        isRequired: true,
      },
      { name: 'days', label: 'Days', hint: 'In how many days the answer is due, 1 to 90', isRequired: true },
    ],
  },
  hold: {
    ...{ name: 'customer.legal_hold', label: 'Legal hold', path: `${CUSTOMER}/legal-hold`, right: 'reviews' },
    says: 'Prevents erasure of the customer while the legal hold exists.',
  },
  lift: {
    ...{
      name: 'customer.lift_legal_hold',
      label: 'Lift the hold',
      path: `${CUSTOMER}/lift-legal-hold`,
      right: 'money',
    },
    says: 'Lifts a legal hold. It needs two operators.',
  },
  personal: {
    ...{ name: 'customer.personal', label: 'Look at contact', path: `${CUSTOMER}/personal`, right: 'personal' },
    says: 'Shows name, phone, e-mail address and accounts. The audit records your access and your reason.',
  },
  answers: {
    ...{ name: 'customer.answers', label: 'Look at questions', path: `${CUSTOMER}/questions/open`, right: 'personal' },
    says: 'Shows the questions and answers, and closes the cases about the answers. The audit records your access and your reason.',
  },
  withdraw: {
    ...{ name: 'customer.withdraw-question', label: 'Withdraw', path: `${CUSTOMER}/questions/:request/withdraw` },
    right: 'reviews',
    says: 'Withdraws an information request that no longer needs an answer.',
  },
} as const satisfies Record<string, FormAction>;

/** What may be done with the personal data of a customer. */
export const DATA_ACTIONS = {
  export: {
    ...{ name: 'customer.export', label: 'Export', path: `${CUSTOMER}/export`, right: 'personal', people: 'one' },
    says: 'Downloads all data held about the customer, decrypted.',
    isLarge: true,
  },
  detachPhone: {
    ...{ name: 'customer.detach_phone', label: 'Detach phone', path: `${CUSTOMER}/detach-phone`, right: 'reviews' },
    ...{ people: 'one', isGrave: true },
    says: 'Removes the phone number of the customer after its network gave the number to another person.',
    fields: [
      {
        name: 'evidence',
        label: 'Evidence',
        hint: 'What you verified, and where it is kept: new owner verified, ticket 4711',
        isRequired: true,
        isLong: true,
      },
    ],
  },
  erase: {
    ...{ name: 'customer.erase', label: 'Erase', path: `${CUSTOMER}/erase`, right: 'money' },
    ...{ people: 'two', isGrave: true },
    says: 'Erases the personal data of the customer. It cannot be undone.',
  },
  requestErasure: {
    ...{ name: 'customer.request_erasure', label: 'Erase later', path: `${CUSTOMER}/request-erasure`, right: 'money' },
    ...{ people: 'two', isGrave: true },
    says: 'Erases the customer once nothing prevents it any more: after the retention time, or after a legal hold is lifted.',
  },
  withdrawErasure: {
    ...{ name: 'customer.withdraw_erasure', label: 'Withdraw', path: `${CUSTOMER}/withdraw-erasure`, right: 'reviews' },
    says: 'The request for erasure that waits has no effect any more.',
  },
} as const satisfies Record<string, FormAction>;

const HIT = '/sanctions/hits/:hit';
export const HIT_ACTIONS = {
  open: {
    ...{ name: 'sanctions.open', label: 'Look at the hit', path: `${HIT}/open`, right: 'personal' },
    says: 'Shows the compared data and the entry of the list. The audit records your access and your reason.',
  },
  confirm: {
    ...{ name: 'sanctions.confirm', label: 'Confirm', path: `${HIT}/confirm`, right: 'reviews' },
    says: 'Confirms that this is the listed person: the customer is blocked, and the money is held. One operator is enough.',
    isGrave: true,
  },
  dismiss: {
    ...{ name: 'sanctions.dismiss', label: 'Dismiss', path: `${HIT}/dismiss`, right: 'reviews' },
    says: 'Dismisses the hit as another person. It needs two operators. A change of the entry or the name opens the hit again.',
  },
} as const satisfies Record<string, FormAction>;
export const HIT_STATES = ['open', 'true_hit', 'false_positive', 'gone'];

export const LIMIT_SET = {
  ...{ name: 'customer-limit.set', label: 'Set a limit', path: '/customer-limits', right: 'terms' },
  says: 'Limits how much customers up to a verification level may trade. Earlier versions stay visible.',
  fields: [
    { name: 'fiat', label: 'Fiat', hint: 'Code of the fiat, such as inr', isRequired: true },
    { name: 'level', label: 'Up to level', hint: 'Of verification, from 0', isRequired: true },
    {
      name: 'per',
      label: 'Within',
      hint: 'One order, any 24 hours, or any 30 days',
      isRequired: true,
      choices: ['order', 'day', 'month'],
    },
    { name: 'max', label: 'At most', hint: 'In the fiat; none removes the limit', isRequired: true },
    {
      name: 'direction',
      label: 'Direction',
      hint: 'Both directions together if empty; a market has one direction',
      choices: ['offramp', 'onramp'],
    },
    { name: 'market', label: 'Market', hint: 'Number of the only market that counts' },
    FROM_WHEN,
  ],
} as const satisfies FormAction;

/** In the order in which an order goes through them. */
export const ORDER_STATES = [
  ...['created', 'deposit_seen', 'deposit_confirmed', 'awaiting_liquidity', 'on_hold', 'paying_out', 'payout_held'],
  ...['refunding', 'refund_held', 'settled', 'refunded', 'expired', 'cancelled', 'frozen'],
];

export const DEPOSIT_STATES = ['seen', 'confirmed', 'reversed', 'applied', 'suspense', 'refunded', 'lost'];
export const SUSPENSE_STATES = ['confirmed', 'applied', 'suspense', 'refunded', 'lost'];
export const PAYOUT_STATES = ['created', 'submitting', 'submitted', 'unknown', 'settled', 'returned', 'rejected'];
export const DELIVERY_STATES = ['waiting', 'delivered', 'dead', 'dropped'];
export const PROPOSAL_STATES = ['open', 'confirmed', 'declined', 'overtaken', 'expired', 'failed'];

/** Forms about partners, markets and their terms. */
import { type FormAction, type FormField, FROM_WHEN } from './actions.ts';

const RULES = { people: 'rules' } as const;
const ONE = { people: 'one' } as const;
const TERMS = { ...RULES, right: 'terms' } as const;
const PARTNER = '/partners/:partner';
const OWN_TERMS: readonly FormField[] = [
  { name: 'quoteShape', label: 'Form of quotes', hint: 'The form that its program expects', choices: ['A', 'B'] },
  { name: 'toleranceBps', label: 'Price may move by', hint: 'Basis points between quote and order', unit: 'bps' },
  { name: 'tradeLevel', label: 'Level required to trade', hint: 'Verification level, 0 to 5' },
  { name: 'requestsPerMinute', label: 'Requests a minute', hint: 'At most, for each key' },
];

export const PARTNER_ACTIONS = {
  create: {
    ...{ ...ONE, name: 'partner.create', label: 'Create a partner', path: '/partners', right: 'partners' },
    says: 'Creates a partner without keys and caps.',
    fields: [
      { name: 'name', label: 'Name', isRequired: true },
      ...OWN_TERMS,
      {
        name: 'corsOrigins',
        label: 'Origins',
        hint: 'Origins whose pages may use its keys, separated by commas: https://shop.example',
      },
    ],
  },
  set: {
    ...{ ...TERMS, name: 'partner.set', label: 'Change terms', path: PARTNER },
    says: 'Changes terms of the partner. Fields that you do not change keep their values.',
    fields: [...OWN_TERMS, FROM_WHEN],
    isPartial: true,
  },
  suspend: {
    ...{ ...ONE, name: 'partner.suspend', label: 'Suspend', path: `${PARTNER}/suspend`, right: 'block' },
    says: 'Rejects all requests of the partner.',
    fields: [
      { name: 'since', label: 'A key may have leaked since', hint: 'What was made since then is held', isTime: true },
      { name: 'key', label: 'Key that leaked', hint: 'With a time: only what this key created is held' },
    ],
    isGrave: true,
  },
  resume: {
    ...{ ...RULES, name: 'partner.resume', label: 'Resume', path: `${PARTNER}/resume`, right: 'partners' },
    says: 'Accepts requests of the partner again.',
  },
  resetBranding: {
    ...{ ...ONE, name: 'partner.resetBranding', label: 'Reset', path: `${PARTNER}/branding/reset`, right: 'partners' },
    says: 'Removes display name, colours and logo that the partner has set.',
    isGrave: true,
  },
  cap: {
    ...{ ...TERMS, name: 'cap.set', label: 'Set a cap', path: `${PARTNER}/caps` },
    says: 'Limits the sum of live quotes and unpaid orders of the partner in one fiat.',
    fields: [
      { name: 'fiat', label: 'Fiat', hint: 'Code of the fiat, such as inr', isRequired: true },
      { name: 'max', label: 'At most', hint: 'In the fiat; none removes the cap', isRequired: true },
      FROM_WHEN,
    ],
  },
  revokeKey: {
    ...{ ...ONE, name: 'key.revoke', label: 'Revoke', path: '/keys/:key/revoke', right: 'block' },
    says: 'Revokes a key permanently.',
    isGrave: true,
  },
} as const satisfies Record<string, FormAction>;

export const KEY_ACTIONS = {
  create: {
    ...{
      name: 'key.create',
      label: 'Create a key',
      path: '/partners/:partner/keys',
      right: 'partners',
      people: 'rules',
    },
    says: 'Creates a key. Its secret is shown once, to the operator who requested it.',
    fields: [
      { name: 'label', label: 'Name', hint: 'For people, such as main', isRequired: true },
      { name: 'scopes', label: 'Scopes', hint: 'Separated by commas: read, trade, customers, admin', isRequired: true },
      {
        name: 'addresses',
        label: 'Networks',
        hint: 'Networks from which it may be used, separated by commas; all if empty',
      },
      { name: 'expiresAt', label: 'Until', hint: 'When it expires', isTime: true },
    ],
  },
  rotate: {
    ...{ name: 'key.rotate', label: 'Rotate', path: '/keys/:key/rotate', right: 'partners', people: 'rules' },
    says: 'Gives the key a new secret. The previous one stays valid for a while.',
    fields: [
      { name: 'overlapHours', label: 'Hours', hint: 'For how many hours the previous secret stays valid; 24 if empty' },
    ],
  },
  collect: {
    ...{ name: 'key.collect', label: 'Show the secret', path: '/keys/:key/secret', right: 'partners', people: 'one' },
    says: 'Shows the secret of a key that you requested and another operator confirmed: once, within a day.',
  },
} as const satisfies Record<string, FormAction>;

export const HELD_ACTIONS = {
  release: {
    ...{ name: 'held.release', label: 'Release', path: '/partners/:partner/held/release', right: 'partners' },
    says: 'Releases the held item, so that it can be used again.',
    people: 'rules',
  },
  reject: {
    ...{ ...ONE, name: 'held.reject', label: 'Reject', path: '/partners/:partner/held/reject', right: 'partners' },
    says: 'Rejects the held item permanently: an endpoint or a member is removed, a key or a passkey is revoked, a session ends, codes are deleted.',
    isGrave: true,
  },
} as const satisfies Record<string, FormAction>;

const TIMES: readonly FormField[] = [
  { name: 'isDefault', label: 'Default market', hint: 'Used if a partner names no chain', isSwitch: true },
  { name: 'quoteTtlS', label: 'A quote is valid for', hint: 'Seconds, 1 to 3600' },
  { name: 'depositTtlS', label: 'Deadline of a deposit', hint: 'Seconds, 60 to 2592000' },
  { name: 'clearingS', label: 'Clearing time of fiat', hint: 'Seconds before its payout' },
  { name: 'priceMaxAgeS', label: 'Maximum age of a price', hint: 'Seconds' },
  { name: 'priceQuorum', label: 'Sources that must agree', hint: 'Minimum number of sources' },
  { name: 'outlierBps', label: 'Outlier beyond', hint: 'Basis points from the median' },
  { name: 'singleSource', label: 'One source is intended', hint: 'Needed where one source is enough', isSwitch: true },
  { name: 'jumpBps', label: 'Halts at a move of', hint: 'Basis points' },
  { name: 'resumeAfterS', label: 'Resumes after', hint: 'Seconds in which the sources agree' },
  { name: 'taxBps', label: 'Tax withheld', hint: 'Basis points of the fiat' },
];
const LIMITS = (isRequired: boolean): readonly FormField[] => [
  { name: 'min', label: 'Minimum deposit', hint: 'In its asset', isRequired },
  { name: 'max', label: 'Maximum deposit', hint: 'In its asset', isRequired },
];
const MARKET = '/markets/:market';
const FOR_PARTNER = {
  name: 'partner',
  label: 'Partner',
  hint: 'Number; without it, all partners without one of their own',
} as const;

export const MARKET_ACTIONS = {
  create: {
    ...{ ...TERMS, name: 'market.create', label: 'Create a market', path: '/markets' },
    says: 'Creates a market, closed until its terms open it.',
    fields: [
      {
        name: 'direction',
        label: 'Direction',
        hint: 'Of customers: offramp sells, onramp buys',
        isRequired: true,
        choices: ['offramp', 'onramp'],
      },
      { name: 'crypto', label: 'Crypto', hint: 'Such as usdc.matic20', isRequired: true },
      { name: 'fiat', label: 'Fiat', hint: 'Such as inr', isRequired: true },
      { name: 'depositRail', label: 'Deposit on', hint: 'Code of a rail', isRequired: true },
      { name: 'payoutRail', label: 'Payout on', hint: 'Code of a rail', isRequired: true },
      { name: 'paymentMethod', label: 'Method of payment', hint: 'As partners name it: IMPS', isRequired: true },
      ...LIMITS(true),
      { name: 'payoutDecimals', label: 'Decimals of a payout', hint: 'It is rounded down', isRequired: true },
      { name: 'priceSources', label: 'Sources', hint: 'By name, with commas: kraken, coinbase', isRequired: true },
      ...TIMES,
    ],
  },
  set: {
    ...{ ...TERMS, name: 'market.set', label: 'Change terms', path: MARKET },
    says: 'Changes terms of the market. Fields that you do not change keep their values.',
    fields: [{ name: 'enabled', label: 'Open', isSwitch: true }, ...LIMITS(false), ...TIMES, FROM_WHEN],
    isPartial: true,
  },
  fee: {
    ...{ ...TERMS, name: 'fee.set', label: 'Set a fee', path: `${MARKET}/fees` },
    says: 'Replaces the whole fee: a part that you leave empty becomes zero.',
    fields: [
      { name: 'kind', label: 'Fee', isRequired: true, choices: ['operator', 'partner', 'rail', 'chain'] },
      FOR_PARTNER,
      { name: 'bps', label: 'Share', hint: 'Basis points: 100 basis points are one percent' },
      { name: 'fixed', label: 'Fixed part', hint: 'In the fiat of the market' },
      { name: 'minimum', label: 'Minimum fee', hint: 'In the fiat of the market' },
      { name: 'gasUnits', label: 'Gas', hint: 'That the fee of the chain pays for' },
      FROM_WHEN,
    ],
  },
  limit: {
    ...{ ...TERMS, name: 'limit.set', label: 'Set a limit', path: `${MARKET}/limits` },
    says: 'Sets the maximum amount of one order for customers up to a verification level.',
    fields: [
      { name: 'level', label: 'Up to level', hint: 'Of verification, from 0', isRequired: true },
      { name: 'max', label: 'At most', hint: 'In the asset of the deposit; none removes the limit', isRequired: true },
      FROM_WHEN,
    ],
  },
  price: {
    ...{ ...TERMS, name: 'price.confirm', label: 'Confirm a level', path: `${MARKET}/price` },
    says: 'Resumes quoting of the halted market at a price level that you confirm.',
    fields: [
      { name: 'level', label: 'Level', hint: 'Fiat for one coin', isRequired: true },
      { name: 'coin', label: 'Coin', hint: 'Without it, the coin of the market' },
    ],
    isGrave: true,
  },
  policy: {
    ...{ ...TERMS, name: 'policy.set', label: 'Set a policy', path: `${MARKET}/policies` },
    says: 'Sets how unexpected money is handled.',
    fields: [
      {
        name: 'question',
        label: 'Question',
        isRequired: true,
        choices: [
          ...['underpaid', 'overpaid', 'late', 'second', 'wrongAsset', 'wrongChain'],
          ...['priceMoved', 'payerName', 'refundFees', 'waiting'],
        ],
      },
      FOR_PARTNER,
      {
        name: 'answer',
        label: 'Answer',
        hint: 'As JSON, such as {"then":"refund"}; none removes the answer',
        isRequired: true,
        isLong: true,
      },
      FROM_WHEN,
    ],
  },
} as const satisfies Record<string, FormAction>;

export const PLAN_WITHDRAW = {
  ...{ name: 'plan.withdraw', label: 'Withdraw', path: '/planned/:plan/withdraw', right: 'terms' },
  says: 'Withdraws the planned change: the terms stay as they are.',
  isGrave: true,
} as const satisfies FormAction;

/** Names of fields on the operator's wire: their meaning, described once (declaration/names.ts). */
import { type Name, name } from '../declaration/names.ts';

const AT = '2027-01-31T00:00:00Z';

export const NAMES: Readonly<Record<string, Name>> = {
  // Subjects
  order: name('Number of the order', '17'),
  deposit: name('Number of the deposit', '42'),
  case: name('Number of the case', '31'),
  customer: name('Id of the customer', '8tvxR5aVmM_1'),
  partner: name('Number of the partner', '1'),
  market: name('Number of the market', '3'),
  operator: name('Name of the operator', 'ada'),
  proposal: name('Number of the proposal', '33'),
  movement: name('Number of the movement', '5'),
  payout: name('Id of a payout attempt', 'pay_17_1'),
  bulk: name('Number of the bulk action, from its reply', '2'),
  rail: name('Code of the rail', 'evm.matic20'),
  asset: name('Code of the asset', 'eur'),
  fiat: name('Code of the fiat', 'eur'),
  coin: name('Code of the coin', 'usdc'),
  key: name('The API key', 'clv_4pQ9aX'),
  session: name('Number of the session', '4'),
  passkey: name('Number of the passkey', '2'),
  credential: name('Response of the authenticator, in the WebAuthn format', { id: 'AQID', response: {} }),
  token: name('Number of the token', '7'),
  view: name('Number of the saved view', '5'),
  identity: name('Number of the bound account', '3'),

  // Why
  reason: name('Reason of the action; the audit records it', 'papers are in order'),
  evidence: name('Reference of the evidence', 'statement 2027-01-31, line 4'),

  // Where money goes
  address: name('Address on the chain of the deposit', '0x52908400098527886E0F7030069857D2E4169EE7'),
  fiatAccountId: name('Number of an account of the customer', '747983292881815'),
  pastHits: name('Accepts hits of the screening; needs a destination', false),

  // Amounts
  amount: name('Amount, a plain decimal of the asset', '100'),
  min: name('Minimum amount of a deposit, in its asset', '10'),
  max: name('Maximum amount, a plain decimal', '5000'),
  otherAmount: name('The amount may differ from that of the order', false),

  // Terms
  fee: name('Which fee', 'operator'),
  bps: name('Share of the amount in basis points: 100 basis points are one percent', 50),
  fixed: name('Fixed part of the fee, in the fiat of the market', '1.50'),
  minimum: name('Minimum fee, in the fiat of the market', '0.50'),
  rate: name('Price: fiat per coin', '83.25'),
  change: name('Number of a change of a fee (from `changes`): the fee before that change is used', '12'),
  level: name('Level of verification, from 0', 1),
  enabled: name('Whether it is enabled', true),

  // Which rows
  from: name('Only items of this time or later', '2027-01-01T00:00:00Z'),
  until: name('Only items before this time', AT),
  since: name('Only items of this time or later', AT),
  state: name('Only rows in this state'),
  below: name('`next` of the previous page; without it, the first page', '1001'),
  after: name('`next` of the previous page; without it, the first page', '1001'),
  limit: name('Maximum number of rows on the page', 50),
  format: name('Format of the reply: CSV has only the rows of the list', 'csv'),

  // Names and words
  label: name('Label, for display', 'laptop'),
  role: name('Role, which determines the operator’s rights', 'support'),
  tokenSha256: name('SHA-256 of a token that the person has generated (`new token`), in hex', '0'.repeat(64)),
  depositRail: name('Code of the rail on which deposits arrive', 'evm.matic20'),
  payoutRail: name('Code of the rail on which payouts leave', 'bank.simulated'),
  isDefault: name('Whether this market is used if a partner names no chain', true),
  quoteTtlS: name('For how many seconds a quote is valid', 60),
  depositTtlS: name('For how many seconds an order waits for its deposit', 3600),
  clearingS: name('Clearing time: how many seconds after a fiat deposit its payout may be made', 0),
  priceMaxAgeS: name('Maximum age of a price, in seconds', 30),
  priceQuorum: name('Quorum: number of sources that must agree', 2),
  outlierBps: name('Distance from the median, in basis points, beyond which a source is ignored', 300),
  singleSource: name('Confirms that a quorum of one is intended', false),
  jumpBps: name('Change of the price, in basis points, at which the market halts', 1000),
  resumeAfterS: name('Seconds for which sources must agree before a halted market resumes automatically', 600),
  taxBps: name('Tax withheld from the fiat, in basis points; none by default', 0),
  kind: name('Only items of this kind'),
};

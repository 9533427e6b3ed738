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
  payout: name('Id of an attempt to pay', 'pay_17_1'),
  bulk: name('Number that the action on all orders of a span answered', '2'),
  rail: name('Code of the rail', 'evm.matic20'),
  asset: name('Code of the asset', 'eur'),
  fiat: name('Code of the fiat', 'eur'),
  coin: name('Code of the coin', 'usdc'),
  key: name('The API key', 'clv_4pQ9aX'),
  session: name('Number of the session', '4'),
  passkey: name('Number of the passkey', '2'),
  credential: name('What the browser got from the authenticator, as WebAuthn has it', { id: 'AQID', response: {} }),
  token: name('Number of the token', '7'),
  identity: name('Number of the bound account', '3'),

  // Why
  reason: name('Why it is done, in words; the audit records it', 'papers are in order'),
  evidence: name('Reference of what proves it', 'statement 2027-01-31, line 4'),

  // Where money goes
  address: name('Address on the chain of the deposit', '0x52908400098527886E0F7030069857D2E4169EE7'),
  fiatAccountId: name('Number of an account of the customer', '747983292881815'),
  pastHits: name('Lets the money go past hits of screening; needs a destination', false),

  // Amounts
  amount: name('Amount, a plain decimal of the asset', '100'),
  min: name('Least amount of a deposit, in its asset', '10'),
  max: name('Largest amount, a plain decimal', '5000'),
  otherAmount: name('The amount may differ from that of the order', false),

  // Terms
  fee: name('Which fee', 'operator'),
  bps: name('Share of the amount in basis points: 100 are one percent', 50),
  fixed: name('Fixed part of the fee, in the fiat of the market', '1.50'),
  minimum: name('Least fee, in the fiat of the market', '0.50'),
  rate: name('Price: fiat for one coin', '83.25'),
  change: name('Number of a change of a fee (changes): its terms before that change', '12'),
  level: name('Level of verification, from 0', 1),
  enabled: name('Whether it is switched on', true),

  // Which rows
  from: name('Only items of this time or later', '2027-01-01T00:00:00Z'),
  until: name('Only items before this time', AT),
  since: name('Only items of this time or later', AT),
  state: name('Only rows in this state'),
  below: name('The page that begins after this row: `next` of the page before', '1001'),
  after: name('The page that begins after this row: `next` of the page before', '1001'),
  limit: name('Most rows of the page', 50),
  format: name('Form of the answer: CSV has the rows of the list and nothing else', 'csv'),

  // Names and words
  label: name('A name for it, for people', 'laptop'),
  role: name('Role, which says what the operator may do', 'support'),
  tokenSha256: name('SHA-256 of a token that its person made (`new token`), in hex', '0'.repeat(64)),
  depositRail: name('Code of the rail on which deposits arrive', 'evm.matic20'),
  payoutRail: name('Code of the rail on which payouts leave', 'bank.simulated'),
  isDefault: name('Whether this market is taken where a partner names no chain', true),
  quoteTtlS: name('For how many seconds a quote holds', 60),
  depositTtlS: name('For how many seconds an order waits for its deposit', 3600),
  clearingS: name('How many seconds a fiat deposit rests before its payout', 0),
  priceMaxAgeS: name('Age in seconds up to which a price counts', 30),
  priceQuorum: name('How many sources have to agree', 2),
  outlierBps: name('Distance from the median, in basis points, beyond which a source does not count', 300),
  singleSource: name('Says that a quorum of one is meant', false),
  jumpBps: name('Move in basis points at which the market halts', 1000),
  resumeAfterS: name('Seconds for which sources must agree before a halted market resumes by itself', 600),
  taxBps: name('Tax withheld from the fiat, in basis points; none where left out', 0),
  kind: name('Only of this kind'),
};

/**
 * The commands of `npm run operator`, as a table. A command is words, what stands behind them, and one request of the
 * operator's wire (protocols/operator). What an option may be, the server knows and says.
 */

export interface Command {
  /** As typed, such as `order release`. */
  words: string;
  /** Behind the words, in order: the `:names` of the path first, then fields. */
  args: readonly string[];
  /** Fields that may follow as `--name value`. An act takes `--reason` besides. */
  options?: readonly string[];
  method: 'GET' | 'POST';
  path: string;
  about: string;
  /** The list in the reply, and what of it is shown in columns. */
  list?: string;
  columns?: readonly string[];
  /** Kinds of line that `--brief` leaves out of the list. */
  brief?: readonly string[];
}

const get = (
  words: string,
  args: readonly string[],
  path: string,
  about: string,
  more: Partial<Command> = {},
): Command => ({ words, args, path, about, method: 'GET', ...more });
const act = (
  words: string,
  args: readonly string[],
  path: string,
  about: string,
  more: Partial<Command> = {},
): Command => ({ words, args, path, about, method: 'POST', ...more });

export const COMMANDS: readonly Command[] = [
  get('lookup', ['text'], '/lookup', 'orders, deposits, payouts, customers by id, address, hash or reference'),
  get('order', ['order'], '/orders/:order/timeline', 'all that happened to an order, and what happens next', {
    list: 'lines',
    columns: ['at', 'kind', 'what', 'amount', 'reference'],
    brief: ['entry', 'event', 'decision'],
  }),
  get('order trace', ['order'], '/orders/:order/trace', 'the same as kept, with balances and entries'),
  act('order release', ['order'], '/orders/:order/release', 'a held order goes on to its payout'),
  act(
    'order refuse',
    ['order', 'failure'],
    '/orders/:order/refuse',
    'gives the deposit back; failure: amount, name or other',
    {
      options: ['address', 'fiatAccountId'],
    },
  ),
  act('order retry', ['order'], '/orders/:order/retry', 'a refused payout goes out again'),
  act(
    'order retry-refund',
    ['order'],
    '/orders/:order/retry-refund',
    'a refused refund goes out again, elsewhere if named',
    {
      options: ['address', 'fiatAccountId'],
    },
  ),
  act(
    'order destination',
    ['order'],
    '/orders/:order/destination',
    'where money of it goes back to, or is paid again',
    {
      options: ['address', 'fiatAccountId'],
    },
  ),
  act(
    'order release-blocked',
    ['order', 'legalAct'],
    '/orders/:order/release-blocked',
    'lets go what was blocked; needs two',
  ),
  act('deposit refund', ['deposit'], '/deposits/:deposit/refund', 'gives back what lies in suspense of it', {
    options: ['amount', 'address', 'fiatAccountId'],
  }),
  act(
    'deposit assign',
    ['deposit', 'order'],
    '/deposits/:deposit/assign',
    'money in suspense becomes the deposit of an order, replaces one taken back, or pays a debt',
  ),
  act('order block', ['order'], '/orders/:order/block', 'stops an order by law, for good'),

  get('cases', [], '/cases', 'open cases, the oldest first', {
    options: ['open', 'kind', 'assignee', 'after', 'limit'],
    list: 'cases',
    columns: ['id', 'openedAt', 'kind', 'subject', 'who', 'assignee', 'reason'],
  }),
  get('case', ['case'], '/cases/:case', 'one case: what it means, what to do, what was done'),
  act('case assign', ['case', 'to'], '/cases/:case/assign', 'who looks after it; none for nobody'),
  act('case note', ['case'], '/cases/:case/note', 'keeps the reason as a note'),
  act('case close', ['case', 'outcome'], '/cases/:case/close', 'it is over, and no act of ours would close it'),

  get('customer', ['customer'], '/customers/:customer', 'a customer without anything personal'),
  act(
    'customer personal',
    ['customer'],
    '/customers/:customer/personal',
    'phone, e-mail, name, accounts: kept in the audit',
  ),
  act(
    'customer review',
    ['customer'],
    '/customers/:customer/review/open',
    'what a customer gave to be verified by: kept in the audit',
  ),
  act(
    'customer decide',
    ['customer', 'version', 'outcome'],
    '/customers/:customer/review/decide',
    'ends a review; outcome: verified (to --level), failed or refused',
    { options: ['level'] },
  ),
  act('customer block', ['customer'], '/customers/:customer/block', 'may not trade from now on'),
  act('customer unblock', ['customer'], '/customers/:customer/unblock', 'may trade again; always needs two'),

  get('stops', [], '/stops', 'what is switched off', {
    list: 'stops',
    columns: ['kind', 'subject', 'by', 'at', 'reason'],
  }),
  act('stop', ['kind', 'subject'], '/stops', 'switches off a market, partner or rail, or payouts all'),
  act('start', ['kind', 'subject'], '/stops/lift', 'switches it on again'),
  act('rail clear', ['rail'], '/rails/:rail/clear', 'a chain that stopped by itself goes on', { options: ['restart'] }),

  get('partners', [], '/partners', 'partners by id', {
    options: ['after', 'limit'],
    list: 'partners',
    columns: ['id', 'name', 'suspended', 'requestsPerMinute'],
  }),
  get('partner', ['partner'], '/partners/:partner', 'a partner and its keys'),
  act('partner create', ['name'], '/partners', 'makes a partner', {
    options: ['quoteShape', 'toleranceBps', 'tradeLevel', 'requestsPerMinute', 'corsOrigins'],
  }),
  act(
    'partner suspend',
    ['partner'],
    '/partners/:partner/suspend',
    'its requests are refused; money under way goes on',
  ),
  act('partner resume', ['partner'], '/partners/:partner/resume', 'its requests are answered again'),
  act(
    'key create',
    ['partner', 'label', 'scopes'],
    '/partners/:partner/keys',
    'makes a key; its secret is shown once',
    {
      options: ['addresses', 'expiresAt'],
    },
  ),
  act('key rotate', ['key'], '/keys/:key/rotate', 'a new secret; the old one works for --overlapHours (24) more', {
    options: ['overlapHours'],
  }),
  act('key revoke', ['key'], '/keys/:key/revoke', 'the key works no more'),

  get('markets', [], '/markets', 'all markets', {
    list: 'markets',
    columns: ['id', 'direction', 'crypto', 'fiat', 'enabled', 'min', 'max', 'of'],
  }),
  get('market', ['market'], '/markets/:market', 'its terms, fees and policy', { options: ['partner'] }),
  act(
    'market create',
    ['direction', 'crypto', 'fiat', 'depositRail', 'payoutRail', 'paymentMethod'],
    '/markets',
    'a new market, closed until it is set --enabled true',
    {
      options: [
        ...['min', 'max', 'payoutPlaces', 'priceSources', 'isDefault', 'quoteTtlS', 'depositTtlS', 'clearingS'],
        ...['priceMaxAgeS', 'priceQuorum', 'outlierBps'],
      ],
    },
  ),
  act('market set', ['market'], '/markets/:market', 'changes terms of a market', {
    options: [
      ...['enabled', 'isDefault', 'min', 'max', 'quoteTtlS', 'depositTtlS', 'clearingS'],
      ...['priceMaxAgeS', 'priceQuorum', 'outlierBps'],
    ],
  }),
  act('fee set', ['market', 'kind'], '/markets/:market/fees', 'sets a fee whole: operator, partner, rail or chain', {
    options: ['partner', 'fixed', 'bps', 'minimum', 'gasUnits'],
  }),
  act(
    'limit set',
    ['market', 'level', 'max'],
    '/markets/:market/limits',
    'the most for customers up to a level, or none',
  ),
  act('cap set', ['partner', 'fiat', 'max'], '/partners/:partner/caps', "the most of a partner's live quotes, or none"),
  act('dust set', ['asset', 'below'], '/dust', 'below which amount money that no order takes calls nobody; or none'),
  act('policy set', ['market', 'question', 'answer'], '/markets/:market/policies', 'an answer as JSON, or none', {
    options: ['partner'],
  }),
  get('changes', [], '/changes', 'the latest changes of terms', {
    options: ['market', 'limit'],
    list: 'changes',
    columns: ['at', 'what', 'item', 'by', 'why', 'before', 'after'],
  }),

  get('proposals', [], '/proposals', 'acts that wait for a second operator, and what became of others', {
    options: ['state', 'limit'],
    list: 'proposals',
    columns: ['id', 'state', 'act', 'subject', 'proposer', 'reason', 'expires_at'],
  }),
  get('proposal', ['proposal'], '/proposals/:proposal', 'one, with what it is about as it stood'),
  act(
    'confirm',
    ['proposal'],
    '/proposals/:proposal/confirm',
    'does what another operator proposed; a secret is shown to you',
  ),
  act('decline', ['proposal'], '/proposals/:proposal/decline', 'it is not done'),

  get('audit', [], '/audit', 'who did what, the newest first', {
    options: ['operator', 'subject', 'below', 'limit'],
    list: 'audit',
    columns: ['id', 'at', 'operator', 'act', 'subject', 'outcome', 'reason'],
  }),
  get('balance', [], '/trial-balance', 'the trial balance'),

  get('self', [], '/self', 'who you are, and your tokens'),
  act('self token', ['label', 'days'], '/self/token', 'a token of your own; it is shown once'),
  act('self revoke-token', ['token'], '/self/revoke-token', 'one of your tokens works no more'),
  get('operators', [], '/operators', 'all operators', {
    list: 'operators',
    columns: ['name', 'role', 'createdAt', 'disabledAt'],
  }),
  get('operator', ['operator'], '/operators/:operator', 'an operator and its tokens'),
  act(
    'operator create',
    ['operator', 'role'],
    '/operators',
    'viewer, support, finance or admin; a first token is shown once',
  ),
  act('operator role', ['operator', 'role'], '/operators/:operator/role', 'another role'),
  act('operator disable', ['operator'], '/operators/:operator/disable', 'out at once'),
  act('operator enable', ['operator'], '/operators/:operator/enable', 'in again'),
  act(
    'operator token',
    ['operator', 'label', 'days'],
    '/operators/:operator/token',
    'a token for another, at most 7 days',
  ),
  act(
    'operator revoke-token',
    ['operator', 'token'],
    '/operators/:operator/revoke-token',
    "another's token works no more",
  ),
  get('second-operator', [], '/second-operator', 'what needs two operators', {
    list: 'rules',
    columns: ['what', 'above', 'means'],
  }),
  act(
    'second-operator set',
    ['what', 'above'],
    '/second-operator',
    'from above which amount two are needed; always needs two',
  ),
];

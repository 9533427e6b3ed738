/**
 * The commands of `npm run operator`, as a table. A command is its words, its arguments, and one request of the operator API
 * (protocols/operator). The server validates options and explains errors.
 */

export interface Command {
  /** As typed, such as `order release`. */
  words: string;
  /** Arguments after the words, in order: the `:names` of the path first, then fields. */
  args: readonly string[];
  /** Fields that may follow as `--name value`. An action also takes `--reason`. */
  options?: readonly string[];
  method: 'GET' | 'POST';
  path: string;
  about: string;
  /** The list in the reply, and its columns. */
  list?: string;
  columns?: readonly string[];
  /** Kinds of line that `--brief` omits from the list. */
  brief?: readonly string[];
  /** The server also writes this list as CSV (`--csv`), and pages it: the field that says where a page begins (`--all`). */
  pages?: 'below' | 'after';
  /** CSV without pages. */
  csv?: true;
  /** Fields that are always sent. */
  always?: Readonly<Record<string, string>>;
  /** The last of `args` is a file on this machine, and the body of the request; the other fields are in the query. */
  sendsFile?: true;
  /** The answer may be a file, which is written to `--out`, readable by its owner only. */
  getsFile?: true;
  /** An action with its own reason. */
  reasonIsOptional?: true;
  /** The request of `--dry-run`: shows the effect and changes nothing. */
  dryRun?: Pick<Command, 'method' | 'path' | 'list' | 'columns'>;
}

/** Filters of lists over all partners. */
const FILTERS = ['partner', 'customer', 'market', 'state', 'from', 'until'];

const get = (
  words: string,
  args: readonly string[],
  path: string,
  about: string,
  more: Partial<Command> = {},
): Command => ({ words, args, path, about, method: 'GET', ...more });
const action = (
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
  action('order release', ['order'], '/orders/:order/release', 'a held order goes on to its payout'),
  action(
    'order hold',
    ['order'],
    '/orders/:order/hold',
    'takes an order back before its payout or refund is submitted',
  ),
  action('order cancel', ['order'], '/orders/:order/cancel', 'ends an order that nothing has come for'),
  action(
    'order requote',
    ['order'],
    '/orders/:order/requote',
    'prices an order anew that is held, waits or is not submitted',
  ),
  action(
    'order refund',
    ['order', 'failure'],
    '/orders/:order/refund',
    'gives the deposit back; failure: amount, name or other',
    {
      options: ['address', 'fiatAccountId', 'pastHits'],
    },
  ),
  action('order retry', ['order'], '/orders/:order/retry', 'a rejected payout goes out again'),
  action(
    'order retry-refund',
    ['order'],
    '/orders/:order/retry-refund',
    'a refused refund goes out again, elsewhere if named',
    {
      options: ['address', 'fiatAccountId', 'pastHits'],
    },
  ),
  action(
    'order destination',
    ['order'],
    '/orders/:order/destination',
    'where money of it goes back to, or is paid again',
    {
      options: ['address', 'fiatAccountId', 'pastHits'],
    },
  ),
  action(
    'order release-blocked',
    ['order', 'legalAct'],
    '/orders/:order/release-blocked',
    'lets go what was blocked; needs two',
  ),
  get('deposit list', [], '/deposits', 'deposits of all rails, the newest first', {
    options: [...FILTERS, 'below', 'limit'],
    pages: 'below',
    list: 'deposits',
    columns: ['id', 'seenAt', 'rail', 'units', 'asset', 'state', 'why', 'orderId', 'partnerId', 'reference'],
  }),
  get(
    'suspense list',
    [],
    '/suspense',
    'what lies in suspense, the oldest first: for how long, and whom it waits for',
    {
      options: [...FILTERS, 'after', 'limit'],
      pages: 'after',
      list: 'suspense',
      columns: ['deposit', 'days', 'units', 'asset', 'waitsFor', 'until', 'why', 'orderId', 'partnerId', 'refund'],
    },
  ),
  get('payout list', [], '/payouts', 'payouts and refunds, the newest first', {
    options: [...FILTERS, 'below', 'limit'],
    pages: 'below',
    list: 'payouts',
    columns: [
      'id',
      'createdAt',
      'purpose',
      'rail',
      'units',
      'asset',
      'state',
      'why',
      'orderId',
      'partnerId',
      'reference',
    ],
  }),
  get('deposit', ['deposit'], '/deposits/:deposit', 'one deposit and its refunds, without anything personal'),
  action(
    'deposit payer',
    ['deposit'],
    '/deposits/:deposit/payer',
    'who paid: name, account, text, address; kept in the audit',
  ),
  action(
    'deposit return',
    ['deposit'],
    '/deposits/:deposit/return',
    'back to the account it came from; coins to the address that the customer confirmed (return-link), or to the --address that their sender signed for (--signature); needs two',
    { options: ['address', 'signature', 'pastHits'] },
  ),
  get(
    'deposit return-text',
    ['deposit', 'address'],
    '/deposits/:deposit/return-text',
    'what the sender of coins signs, so that they go back to an address',
  ),
  action(
    'deposit return-link',
    ['deposit'],
    '/deposits/:deposit/return-link',
    'a link, for the customer alone, to a page that asks where coins go back to; it is shown once and ends in 7 days',
  ),
  action('deposit refund', ['deposit'], '/deposits/:deposit/refund', 'refunds what lies in suspense of it', {
    options: ['amount', 'address', 'fiatAccountId', 'pastHits', 'despiteDebt'],
  }),
  action('deposit hold', ['deposit'], '/deposits/:deposit/hold', 'lets nothing go of what lies in suspense of it'),
  action('deposit release', ['deposit'], '/deposits/:deposit/release', 'lets go on what was held'),
  action(
    'deposit assign',
    ['deposit', 'order'],
    '/deposits/:deposit/assign',
    'money in suspense becomes the deposit of an order, replaces one reversed, or pays a debt; --amount: a part of it',
    { options: ['amount'] },
  ),
  action(
    'order settle-by',
    ['order', 'payout'],
    '/orders/:order/settle-by',
    'an attempt that was refused has paid it, on other terms than it has now; --rest keep or pay; needs two',
    { options: ['rest'] },
  ),
  action('order block', ['order'], '/orders/:order/block', 'stops an order by law, for good'),
  action(
    'order compensate',
    ['order', 'fee', 'amount', 'asset'],
    '/orders/:order/compensate',
    'pays back what a wrong fee took of a settled order; fee: operator, partner, rail or chain; --nth 2: once more; needs two',
    { options: ['fiatAccountId', 'nth'] },
  ),

  action(
    'screening extend',
    ['ageHours', 'forHours'],
    '/screening/extend',
    'lets older screening results count for a time, while the screener is down; needs two',
  ),
  get(
    'orders unpaid',
    ['market', 'from', 'until'],
    '/markets/:market/unpaid',
    'unpaid orders made in a span of time: what the next two would touch',
    {
      options: ['partner', 'after', 'limit'],
      pages: 'after',
      list: 'orders',
      columns: [
        ...['id', 'partnerId', 'createdAt', 'rate', 'depositUnits', 'depositAsset', 'payoutUnits', 'payoutAsset'],
        'isClaimed',
      ],
    },
  ),
  action(
    'orders cancel-unpaid',
    ['market', 'from', 'until'],
    '/markets/:market/unpaid/cancel',
    'cancels all of them that are still unpaid when their turn comes',
    { options: ['partner'] },
  ),
  action(
    'orders requote-unpaid',
    ['market', 'from', 'until'],
    '/markets/:market/unpaid/requote',
    'the same amounts to pay, at the price and fees of now',
    { options: ['partner'] },
  ),
  get('orders list', [], '/orders', 'orders of all partners, the newest first', {
    options: [...FILTERS, 'below', 'limit'],
    pages: 'below',
    list: 'orders',
    columns: [
      ...['id', 'createdAt', 'partnerId', 'customerId', 'marketId', 'state', 'depositUnits', 'depositAsset'],
      ...['payoutUnits', 'payoutAsset', 'exception'],
    ],
  }),
  action(
    'orders compensate',
    ['market', 'from', 'until', 'most'],
    '/markets/:market/settled/compensate',
    'pays back what a wrong fee took of all settled orders made in a span (report affected lists them), at most so much; needs two',
    { options: ['partner', 'change', 'fee', 'bps', 'fixed', 'minimum'] },
  ),
  get('orders bulk', ['bulk'], '/bulk/:bulk', 'how far one of these three is'),

  get('cases', [], '/cases', 'open cases, the oldest first', {
    options: ['open', 'kind', 'assignee', 'after', 'limit'],
    pages: 'after',
    list: 'cases',
    columns: ['id', 'openedAt', 'kind', 'subject', 'who', 'assignee', 'reason'],
  }),
  get('case', ['case'], '/cases/:case', 'one case: what it means, what to do, what was done'),
  action('case payer', ['case'], '/cases/:case/payer', 'who paid what a case is about; kept in the audit'),
  action('case assign', ['case', 'to'], '/cases/:case/assign', 'who looks after it; none for nobody'),
  action('case note', ['case'], '/cases/:case/note', 'keeps the reason as a note'),
  action('case close', ['case', 'outcome'], '/cases/:case/close', 'it is over, and no action of ours would close it'),

  get('customer', ['customer'], '/customers/:customer', 'a customer without anything personal'),
  action(
    'customer personal',
    ['customer'],
    '/customers/:customer/personal',
    'phone, e-mail, name, accounts: kept in the audit',
  ),
  action(
    'customer review',
    ['customer'],
    '/customers/:customer/review/open',
    'what a customer gave to be verified by: kept in the audit',
  ),
  action(
    'customer decide',
    ['customer', 'version', 'outcome'],
    '/customers/:customer/review/decide',
    'ends a review; outcome: verified (to --level), failed or refused',
    { options: ['level'] },
  ),
  action(
    'customer detach-phone',
    ['customer', 'evidence'],
    '/customers/:customer/detach-phone',
    "a number that is somebody else's now, after a fresh verification: evidence says which",
  ),
  action('customer block', ['customer'], '/customers/:customer/block', 'may not trade from now on'),
  action(
    'customer unblock',
    ['customer'],
    '/customers/:customer/unblock',
    'may trade again, and what it owes; always needs two',
  ),

  action(
    'shortage pass',
    ['rail', 'asset', 'minutes'],
    '/shortages/pass',
    'for a time, orders for which the funds do go although older ones wait',
  ),
  action('shortage queue', ['rail', 'asset'], '/shortages/queue', 'each in its turn again, the oldest first'),

  get('kill-switches', [], '/kill-switches', 'what is switched off', {
    list: 'killSwitches',
    columns: ['kind', 'subject', 'by', 'laidBy', 'at', 'reason'],
  }),
  action(
    'kill-switch set',
    ['kind', 'subject'],
    '/kill-switches',
    'switches off a market, partner or rail, or payouts all',
  ),
  action('kill-switch lift', ['kind', 'subject'], '/kill-switches/lift', 'switches it on again'),
  action('rail clear', ['rail'], '/rails/:rail/clear', 'a chain that halted by itself goes on', {
    options: ['restart'],
  }),

  get('movements', [], '/movements', 'what our wallets sent and the books do not know, after a restore', {
    list: 'movements',
    columns: ['id', 'rail', 'wallet', 'nonce', 'hash', 'state', 'asset', 'units', 'recipient', 'key'],
  }),
  action(
    'movement match',
    ['movement', 'key'],
    '/movements/:movement/match',
    'it was this payout, refund, sweep or gas; needs two',
    { options: ['otherAmount'] },
  ),
  action(
    'movement foreign',
    ['movement'],
    '/movements/:movement/foreign',
    'it is not ours: booked as a loss; needs two',
  ),
  action(
    'movement cancel',
    ['movement'],
    '/movements/:movement/cancel',
    'signed and in no block: its nonce is used up by an empty transfer; needs two',
  ),
  action(
    'payout settle-by',
    ['payout'],
    '/payouts/:payout/settle-by',
    'it was paid by this transaction (--hash) or statement line (--line); needs two',
    { options: ['hash', 'line', 'otherAmount'] },
  ),
  action(
    'debit foreign',
    ['debit'],
    '/debits/foreign',
    'an unexplained debit (rail:line) paid none of ours: payouts of its amount go on; needs two',
  ),
  get('breaks', [], '/breaks', 'what books and outside do not agree on, and what is in transit', {
    options: ['rail'],
    list: 'breaks',
    columns: ['id', 'kind', 'rail', 'wallet', 'asset', 'differenceUnits', 'transit', 'why', 'names'],
  }),
  action(
    'case correct',
    ['case', 'as', 'amount', 'evidence'],
    '/cases/:case/correct',
    'an entry ends a case; as: fee, debt, dust, lost_order (with --deposit, given for it) or undone (with --deposit, that came back); evidence: its reference; needs two',
    { options: ['deposit'] },
  ),
  action(
    'break correct',
    ['item', 'as', 'amount', 'evidence'],
    '/breaks/:item/correct',
    'an entry ends a break; as: fee, gone, found, dust or sweep_undone; evidence: one of its names; needs two',
  ),
  get('bank accounts', [], '/bank/accounts', 'our accounts at the bank without an API', {
    list: 'accounts',
    columns: ['asset', 'currency', 'bank', 'payoutFile', 'csvStatements'],
  }),
  get('bank payouts', [], '/bank/payouts', 'payouts that wait for the next file', {
    options: ['asset'],
    list: 'payouts',
    columns: ['key', 'asset', 'units', 'listedAt', 'endToEnd'],
  }),
  action('bank take-off', ['key'], '/bank/payouts/:key/take-off', 'takes a payout off that list: it is refused'),
  action(
    'bank close',
    ['asset'],
    '/bank/files',
    'closes what waits into a file; needs two. --dry-run: what it would take',
    {
      dryRun: { method: 'GET', path: '/bank/files/preview', list: 'leftOut', columns: ['key', 'why'] },
    },
  ),
  get('bank files', [], '/bank/files', 'files of payouts, the newest first', {
    list: 'files',
    columns: ['id', 'asset', 'payouts', 'units', 'closedAt', 'closedBy', 'withdrawnAt'],
  }),
  get('bank file', ['id'], '/bank/files/:id', 'one of them, and what became of its payouts', {
    list: 'list',
    columns: ['key', 'units', 'state', 'endToEnd'],
  }),
  action(
    'bank download',
    ['id'],
    '/bank/files/:id/download',
    'writes the file to --out, to be uploaded once; needs two',
    {
      getsFile: true,
    },
  ),
  action(
    'bank withdraw',
    ['id'],
    '/bank/files/:id/withdraw',
    'it was not uploaded: its payouts are refused; needs two',
  ),
  action(
    'bank take',
    ['asset', 'file'],
    '/bank/statements',
    'takes a statement in; --dry-run: what each of its new lines would be matched with',
    {
      sendsFile: true,
      reasonIsOptional: true,
      dryRun: {
        method: 'POST',
        path: '/bank/statements/preview',
        list: 'lines',
        columns: [
          'day',
          'direction',
          'units',
          'means',
          'payout',
          'goesTo',
          'orderState',
          'orderAsks',
          'why',
          'reference',
        ],
      },
    },
  ),
  get('bank imports', [], '/bank/imports', 'statements taken in, by file', {
    list: 'imports',
    columns: ['id', 'asset', 'format', 'lines', 'newLines', 'importedAt', 'importedBy'],
  }),
  get('bank statements', ['asset', 'from', 'to'], '/bank/statements', 'statements of a span of days, with balances', {
    list: 'statements',
    columns: ['id', 'from', 'to', 'opening', 'closing', 'sequence'],
  }),
  action(
    'bank confirm-restore',
    [],
    '/bank-restore/confirm',
    'the statements show every file uploaded before the restore: files are closed again; needs two',
  ),

  get('partners', [], '/partners', 'partners by id', {
    options: ['after', 'limit'],
    list: 'partners',
    columns: ['id', 'name', 'suspended', 'requestsPerMinute'],
  }),
  get('partner', ['partner'], '/partners/:partner', 'a partner, its keys and its endpoints'),
  action('partner create', ['name'], '/partners', 'makes a partner', {
    options: ['quoteShape', 'toleranceBps', 'tradeLevel', 'requestsPerMinute', 'corsOrigins'],
  }),
  action(
    'partner suspend',
    ['partner'],
    '/partners/:partner/suspend',
    'its requests are refused; money under way goes on. --since: what was made since is held, with --key by that key',
    { options: ['since', 'key'] },
  ),
  get(
    'endpoint list',
    [],
    '/endpoints',
    'webhook endpoints of all partners: where, made by which key, failing since when',
    {
      options: ['partner', 'enabled', 'from', 'until', 'after', 'limit'],
      pages: 'after',
      list: 'endpoints',
      columns: [
        ...['id', 'partnerId', 'url', 'format', 'enabled', 'madeByKey', 'lastAttemptAt', 'lastStatus', 'failingSince'],
        'heldAt',
      ],
    },
  ),
  get('activity', ['partner'], '/partners/:partner/activity', "what a partner's keys did, the newest first", {
    options: ['key', 'action', 'since', 'below', 'limit'],
    pages: 'below',
    list: 'activity',
    columns: ['id', 'at', 'action', 'subject', 'apiKey', 'link', 'facts'],
  }),
  get('held', ['partner'], '/partners/:partner/held', 'what is held of it since a leak', {
    options: ['kind', 'state', 'after', 'limit'],
    list: 'held',
    columns: ['id', 'kind', 'subject', 'address', 'why', 'madeAt', 'madeByKey', 'state'],
  }),
  action(
    'held release',
    ['partner', 'items'],
    '/partners/:partner/held/release',
    'items by number, or all; all revokes keys',
  ),
  action(
    'held reject',
    ['partner', 'items'],
    '/partners/:partner/held/reject',
    'refused for good; endpoints go, keys too',
  ),
  action('partner resume', ['partner'], '/partners/:partner/resume', 'its requests are answered again'),
  action(
    'key create',
    ['partner', 'label', 'scopes'],
    '/partners/:partner/keys',
    'makes a key; its secret is shown once, to you',
    {
      options: ['addresses', 'expiresAt'],
    },
  ),
  action('key rotate', ['key'], '/keys/:key/rotate', 'a new secret; the old one works for --overlapHours (24) more', {
    options: ['overlapHours'],
  }),
  action(
    'key secret',
    ['key'],
    '/keys/:key/secret',
    'the secret of a key that you asked for and another confirmed; once, within a day',
  ),
  action('key revoke', ['key'], '/keys/:key/revoke', 'the key works no more'),

  get('markets', [], '/markets', 'all markets', {
    list: 'markets',
    columns: ['id', 'direction', 'crypto', 'fiat', 'enabled', 'min', 'max', 'of', 'priceQuorum', 'singleSource'],
  }),
  get('market', ['market'], '/markets/:market', 'its terms, fees and policy', { options: ['partner'] }),
  action(
    'market create',
    ['direction', 'crypto', 'fiat', 'depositRail', 'payoutRail', 'paymentMethod'],
    '/markets',
    'a new market, closed until it is set --enabled true',
    {
      options: [
        ...['min', 'max', 'payoutDecimals', 'priceSources', 'isDefault', 'quoteTtlS', 'depositTtlS', 'clearingS'],
        ...['priceMaxAgeS', 'priceQuorum', 'outlierBps', 'singleSource', 'jumpBps', 'resumeAfterS', 'taxBps'],
      ],
    },
  ),
  action('market set', ['market'], '/markets/:market', 'changes terms of a market', {
    options: [
      ...['enabled', 'isDefault', 'min', 'max', 'quoteTtlS', 'depositTtlS', 'clearingS'],
      ...['priceMaxAgeS', 'priceQuorum', 'outlierBps', 'singleSource', 'jumpBps', 'resumeAfterS', 'taxBps'],
    ],
  }),
  action(
    'price confirm',
    ['market', 'level'],
    '/markets/:market/price',
    'a halted market quotes again, at this level',
    {
      options: ['coin'],
    },
  ),
  action(
    'price confirm-pair',
    ['coin', 'fiat', 'level'],
    '/prices/:coin/:fiat/confirm',
    'all markets that are halted for this pair quote again, at this level',
  ),
  action('fee set', ['market', 'kind'], '/markets/:market/fees', 'sets a fee whole: operator, partner, rail or chain', {
    options: ['partner', 'fixed', 'bps', 'minimum', 'gasUnits'],
  }),
  action(
    'limit set',
    ['market', 'level', 'max'],
    '/markets/:market/limits',
    'the most for customers up to a level, or none',
  ),
  action(
    'cap set',
    ['partner', 'fiat', 'max'],
    '/partners/:partner/caps',
    "the most of a partner's live quotes, or none",
  ),
  action('dust set', ['asset', 'below'], '/dust', 'below which amount money that no order takes calls nobody; or none'),
  action(
    'dust write-off',
    ['asset', 'before', 'most'],
    '/dust/write-off',
    'dust in suspense that came before a time, the oldest first and at most so many, becomes rounding; needs two',
  ),
  action(
    'dormancy set',
    ['afterDays', 'noticeDays'],
    '/dormancy',
    'after how many days unclaimed money is dormant, and how many days before that is announced; none for never',
  ),
  action('policy set', ['market', 'question', 'answer'], '/markets/:market/policies', 'an answer as JSON, or none', {
    options: ['partner'],
  }),
  get('changes', [], '/changes', 'changes of terms, the newest first; what: market, fee, limit, exposure or policy', {
    options: ['market', 'what', 'from', 'until', 'below', 'limit'],
    pages: 'below',
    list: 'changes',
    columns: ['id', 'at', 'what', 'marketId', 'item', 'by', 'why', 'before', 'after'],
  }),

  get(
    'proposals',
    [],
    '/proposals',
    'actions that wait for others to agree or for their delay, and what became of others',
    {
      options: ['state', 'limit'],
      list: 'proposals',
      columns: ['id', 'state', 'action', 'subject', 'proposer', 'people', 'agreed', 'reason', 'ready_at', 'expires_at'],
    },
  ),
  get('proposal', ['proposal'], '/proposals/:proposal', 'one, with what it is about as it stood'),
  action(
    'confirm',
    ['proposal'],
    '/proposals/:proposal/confirm',
    'agrees to what another operator proposed, and does it where enough have; a secret is shown to you, a file goes to --out',
    { getsFile: true },
  ),
  action('decline', ['proposal'], '/proposals/:proposal/decline', 'it is not done'),

  get('audit', [], '/audit', 'who did what, the newest first', {
    options: ['operator', 'subject', 'action', 'from', 'until', 'below', 'limit'],
    pages: 'below',
    list: 'audit',
    columns: ['id', 'at', 'operator', 'action', 'subject', 'outcome', 'reason'],
  }),
  get('dormant', [], '/dormant', 'money that nobody claims: announced and dormant, with its age, and totals by asset', {
    options: ['after', 'limit'],
    list: 'money',
    columns: ['id', 'state', 'days', 'depositId', 'orderId', 'asset', 'units', 'since', 'dormantFrom', 'dormantAt'],
  }),
  action('dormant wake-deposit', ['deposit'], '/deposits/:deposit/wake', 'a dormant deposit is in suspense again'),
  action('dormant wake-order', ['order'], '/orders/:order/wake', 'what an order holds is not dormant any more'),
  get('balance', [], '/trial-balance', 'the trial balance'),
  get(
    'report trial-balance',
    [],
    '/trial-balance',
    'what every account had --at an instant; now, where none is named',
    {
      options: ['at'],
      always: { by: 'account' },
      csv: true,
      list: 'accounts',
      columns: ['account', 'kind', 'debits', 'credits', 'heldDebits', 'heldCredits', 'balance', 'asset'],
    },
  ),
  get(
    'report statement',
    ['customer', 'from', 'until'],
    '/reports/statement',
    'what a customer gave and got, fees and refunds, with what we held for them at both ends',
    {
      options: ['after', 'limit'],
      pages: 'after',
      list: 'lines',
      columns: ['line', 'at', 'order', 'what', 'units', 'asset', 'heldAfterUnits', 'entry'],
    },
  ),
  get(
    'report revenue',
    ['from', 'until'],
    '/reports/revenue',
    'fees and costs per day (UTC), partner, market and asset',
    {
      options: ['partner', 'market', 'after', 'limit'],
      pages: 'after',
      list: 'revenue',
      columns: ['day', 'partnerId', 'marketId', 'asset', 'operatorFee', 'partnerFee', 'railFee', 'gasFee', 'costs'],
    },
  ),
  get(
    'report affected',
    ['market', 'from', 'until'],
    '/reports/affected',
    'orders made in a span of time, and the difference to other terms: --change <id>, --fee <kind> with --bps, --fixed, --minimum, or --rate',
    {
      options: ['partner', 'change', 'fee', 'bps', 'fixed', 'minimum', 'rate', 'after', 'limit'],
      pages: 'after',
      list: 'orders',
      columns: ['order', 'createdAt', 'partnerId', 'customerId', 'state', 'was', 'other', 'difference', 'asset'],
    },
  ),

  get('self', [], '/self', 'who you are, and your tokens'),
  action('self token', ['label', 'days'], '/self/token', 'a token of your own; it is shown once'),
  action('self revoke-token', ['token'], '/self/revoke-token', 'one of your tokens works no more'),
  get('operators', [], '/operators', 'all operators', {
    list: 'operators',
    columns: ['name', 'role', 'createdAt', 'disabledAt'],
  }),
  get('operator', ['operator'], '/operators/:operator', 'an operator and its tokens'),
  action(
    'operator create',
    ['operator', 'role', 'tokenSha256'],
    '/operators',
    'viewer, night, support, finance or admin, with the hash of a token that this person made',
  ),
  action('operator role', ['operator', 'role'], '/operators/:operator/role', 'another role'),
  action('operator disable', ['operator'], '/operators/:operator/disable', 'out at once'),
  action('operator enable', ['operator'], '/operators/:operator/enable', 'in again'),
  action(
    'operator token',
    ['operator', 'label', 'days', 'tokenSha256'],
    '/operators/:operator/token',
    'lets another in with a token made by that person, at most 7 days',
  ),
  action(
    'operator revoke-token',
    ['operator', 'token'],
    '/operators/:operator/revoke-token',
    "another's token works no more",
  ),
  get('rules', [], '/rules', 'how many people an action takes, and whether one operator is declared', {
    list: 'rules',
    columns: ['action', 'right', 'asset', 'above', 'aboveUnits', 'people'],
  }),
  action(
    'rule set',
    ['action', 'people'],
    '/rules',
    'how many people an action (order.release), a family (order.*) or * takes; none takes the rule away',
    { options: ['right', 'asset', 'above'] },
  ),
];

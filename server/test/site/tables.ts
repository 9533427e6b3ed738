/**
 * The tables of the docs, made from the code that they describe. A page of docs/site/ has each between `<!-- table: name -->` and
 * `<!-- end -->`; tables.test.ts compares them and, with UPDATE_DOCS=1, writes them again.
 */
import { GIVE_UP_AFTER_MS, PAUSES } from '../../src/events/dispatcher.ts';
import { MOST, OVERLAP_MS, SWITCH_OFF_AFTER_MS } from '../../src/events/endpoints.ts';
import { type Happened, OFF_EVENT, TEST_EVENT } from '../../src/events/format.ts';
import { KEPT_MS as LOG_KEPT_MS } from '../../src/events/log.ts';
import { DEADLINE_MS } from '../../src/events/sender.ts';
import { type OrderState, STATES } from '../../src/orders/machine.ts';
import { MOST_ASKED, MOST_SHOWN, publicState } from '../../src/orders/read/public.ts';
import { PUBLIC_REASONS } from '../../src/orders/read/reasons.ts';
import { HOLDER } from '../../src/orders/read/whereabouts.ts';
import { messagesFor } from '../../src/protocols/checkout/messages.ts';
import { KEPT_FOR_MS, MAX_KEY_CHARS } from '../../src/protocols/idempotency.ts';
import { CLOCK_WINDOW } from '../../src/protocols/whitelabel/auth.ts';
import { EXPOSED } from '../../src/protocols/whitelabel/cors.ts';
import { MAX_BODY_BYTES } from '../../src/protocols/whitelabel/index.ts';
import { MAX_HEADER_BYTES, REQUEST_TIMEOUT_MS } from '../../src/protocols/whitelabel/server.ts';
import { type Shown, STATUS_WORDS, statusNumber } from '../../src/protocols/whitelabel/status.ts';
import { BUSINESS_WORDS, VERIFICATION } from '../../src/protocols/whitelabel/verification.ts';
import { whitelabelBody } from '../../src/protocols/whitelabel/webhooks.ts';
import { CHAINS, FIATS, LIMITS } from '../../src/sandbox/catalogue.ts';
import { MAGIC } from '../../src/sandbox/magic.ts';

type Direction = 'offramp' | 'onramp';
type Row = readonly string[];

const { checkout: SAYS } = messagesFor('en');
const STATE_NAMES = Object.keys(STATES) as OrderState[];
const code = (text: string | number): string => `\`${text}\``;
const cell = (text: string): string => text.replaceAll('|', '\\|');
const table = (head: Row, rows: readonly Row[]): string =>
  [head, head.map(() => '---'), ...rows].map((row) => `| ${row.map(cell).join(' | ')} |`).join('\n');

/** Every variant in which a state may be shown: the inputs of the status, in all their values. */
function ordersIn(direction: Direction, state: OrderState): Shown[] {
  const each = <T>(values: readonly T[], make: (value: T) => Shown[]): Shown[] => values.flatMap(make);
  return each([0, 1, 2], (payoutAttempt) =>
    each([false, true], (submittedPayout) =>
      each([false, true], (wasHeld) =>
        each([null, 'N1'], (payerReference) =>
          ([null, 'amount', 'name'] as const).map(
            (failure): Shown =>
              ({
                direction,
                state,
                payoutAttempt,
                submittedPayout,
                wasHeld,
                payerReference,
                failure,
                exception: null,
              }) as Shown,
          ),
        ),
      ),
    ),
  );
}
export const numbersOf = (direction: Direction, state: OrderState): number[] =>
  [...new Set(ordersIn(direction, state).map(statusNumber))].toSorted((a, b) => a - b);
const statesOf = (direction: Direction, number: number): OrderState[] =>
  STATE_NAMES.filter((state) => numbersOf(direction, state).includes(number));

/** The customer's own page about a state. */
function toCustomer(direction: Direction, state: OrderState): string {
  if (state === 'created')
    return SAYS.created[direction](direction === 'offramp' ? 'coins' : 'rupees').replace(' rupees', ' your currency');
  const told = publicState(state);
  const { title, text } = SAYS.states[told as Exclude<typeof told, 'created'>];
  return `${title}. ${text}`;
}

/** The word of the format `whitelabel` for an order that enters a state; empty if it has none. */
function wordOf(direction: Direction, state: OrderState, submittedPayout: boolean): string {
  const body = { orderId: '1', direction, state, submittedPayout, exception: null, failure: null };
  const event: Happened = {
    ...{ id: 'evt_1_1', partnerId: 1n, position: 1n, type: `order.${state}`, subject: 'order:1', sequence: 1 },
    ...{ body, at: new Date(0) },
  };
  return String(whitelabelBody(event, { kycWords: {} })?.status ?? '');
}

/** The usual course, a row for each visible step. */
const COURSE: readonly { state: OrderState; submitted: boolean }[] = [
  { state: 'created', submitted: false },
  { state: 'deposit_seen', submitted: false },
  { state: 'deposit_confirmed', submitted: false },
  { state: 'paying_out', submitted: false },
  { state: 'paying_out', submitted: true },
  { state: 'settled', submitted: true },
];
const HELD = '**held**';

function life(direction: Direction): string {
  const rows = COURSE.map(({ state, submitted }, at): Row => {
    const order = {
      ...ordersIn(direction, state)[0],
      submittedPayout: submitted,
      payoutAttempt: state === 'created' ? 0 : submitted ? 1 : 0,
    };
    const { heldBy } = HOLDER[state];
    const first = heldBy === 'the customer' || heldBy.startsWith('under way');
    const last = heldBy === 'the customer (the payout)';
    const word = wordOf(direction, state, submitted);
    const isNews =
      at === 0 || word !== wordOf(direction, COURSE[at - 1]?.state ?? 'created', COURSE[at - 1]?.submitted === true);
    return [
      String(statusNumber(order as Shown)),
      `${code(state)}${state === 'paying_out' ? (submitted ? ', submitted' : ', not submitted yet') : ''}`,
      first ? HELD : '',
      !first && !last ? HELD : '',
      last ? HELD : '',
      word !== '' && isNews ? code(word) : '',
    ];
  });
  return table(['Status', 'State', 'Customer', 'Operator', 'Paid out', 'Webhook'], rows);
}

/** The usual state of a number; of several the first here. */
const USUAL: readonly OrderState[] = [
  'deposit_seen',
  'created',
  'deposit_confirmed',
  'on_hold',
  'paying_out',
  'settled',
];

function statuses(direction: Direction): string {
  const shown = STATE_NAMES.filter((state) => state !== 'frozen').flatMap((state) => numbersOf(direction, state));
  const numbers = [...new Set([...shown, ...STATUS_WORDS[direction].keys()])].toSorted((a, b) => a - b);
  return table(
    ['Status', 'Word', 'State', 'What to tell the customer'],
    numbers.map((number) => {
      const all: readonly OrderState[] = statesOf(direction, number).filter((state) => state !== 'frozen');
      const isOver = all.length > 0 && all.every((state) => STATES[state].final);
      const usual = USUAL.find((state) => all.includes(state));
      const first: readonly OrderState[] = usual === undefined ? all : [usual];
      const others = all.filter((state) => !first.includes(state));
      const word = STATUS_WORDS[direction].get(number);
      return [
        `**${number}**${isOver ? ', over' : ''}`,
        word === undefined ? '' : code(word),
        `${first.map(code).join(' or ')}${others.length === 0 ? '' : `; also ${others.map(code).join(', ')}`}`,
        first.map((state) => toCustomer(direction, state)).join(' Or: '),
      ];
    }),
  );
}

export const either = (numbers: readonly number[]): string =>
  numbers.length < 2 ? numbers.join('') : `${numbers.slice(0, -1).join(', ')} or ${numbers.at(-1)}`;

function states(): string {
  return table(
    ['State', 'Who holds the money', 'What happens next', 'Selling', 'Buying'],
    STATE_NAMES.filter((state) => state !== 'frozen').map((state) => [
      code(state),
      HOLDER[state].heldBy.replace(/^us\b/, 'the operator').replace('under way to us', 'under way to the operator'),
      HOLDER[state].next.replace(/: see its case$/, ''),
      either(numbersOf('offramp', state)),
      either(numbersOf('onramp', state)),
    ]),
  );
}

const OUTCOMES = {
  none: 'not verified',
  verified: 'verified to this level',
  in_review: 'under review: wait for the webhook',
  failed: 'failed for now: send the customer to a new `kycUrl`',
  refused: 'refused permanently: the customer cannot trade',
} as const;

function verification(): string {
  return table(
    ['Word', 'Level', 'Meaning'],
    Object.entries(VERIFICATION).map(([word, { outcome, level, login }]) => [
      code(word),
      level === undefined ? 'unchanged' : String(level),
      outcome === 'none' ? (login === true ? 'logged in, not verified yet' : 'not logged in yet') : OUTCOMES[outcome],
    ]),
  );
}

const TYPES_BESIDE: readonly (readonly [type: string, when: string])[] = [
  [
    'order.changed',
    'something else about the order changes: its exception, evidence, terms, deadline, a refund, a returned payout',
  ],
  ['customer.login', 'a customer logs in for the first time'],
  ['customer.verification', 'a customer has a new level or outcome'],
  ['document.expiring', 'a document of a customer expires: `/v1` says what to submit again, with the reason `expired`'],
  ['information.requested', 'the operator has a question about a customer: read it and answer it under `/v1`'],
  [TEST_EVENT, 'you requested a test'],
  [OFF_EVENT, 'another endpoint of yours accepted nothing for five days and is switched off'],
];

const wordCell = (direction: Direction, state: OrderState, submitted: boolean): string => {
  const word = wordOf(direction, state, submitted);
  return word === '' ? '' : code(word);
};

const webhookStates = (): string =>
  table(
    ['`standard`', '`whitelabel`, selling', '`whitelabel`, buying', '`flat`'],
    [
      ...STATE_NAMES.filter((state) => state !== 'frozen').map(
        (state): Row => [
          code(`order.${state}`),
          wordCell('offramp', state, false),
          wordCell('onramp', state, false),
          state === 'settled' ? 'the order' : '',
        ],
      ),
      ['`order.payout_submitted`', wordCell('offramp', 'paying_out', true), wordCell('onramp', 'paying_out', true), ''],
    ],
  );

const webhookOthers = (): string =>
  table(
    ['`standard`', 'When', '`whitelabel`'],
    TYPES_BESIDE.map(([type, when]): Row => {
      const kyc = type.startsWith('customer.') ? '`KYC` or `KYB`, with the status' : '';
      return [code(type), when, type === TEST_EVENT ? 'a sample, and one in `flat`' : kyc];
    }),
  );

const reasons = (): string =>
  table(
    ['Reason', 'What the customer’s page says'],
    PUBLIC_REASONS.map((reason) => [code(reason), SAYS.reasons[reason] ?? 'nothing beyond the state']),
  );

const magic = (): string =>
  table(
    ['Where', 'Value', 'What happens'],
    MAGIC.map(({ where, value, says }) => [where, code(value), says]),
  );

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;
const span = (ms: number): string =>
  ms % (24 * HOUR) === 0 && ms > 24 * HOUR
    ? `${ms / (24 * HOUR)} days`
    : ms % HOUR === 0
      ? `${ms / HOUR} h`
      : `${ms / SECOND} s`;
const kib = (bytes: number): string => `${bytes / 1024} KiB`;

const limits = (): string =>
  table(
    ['What', 'Limit', 'If it is exceeded'],
    [
      ['Age of a signature', span(CLOCK_WINDOW.behindMs), '401 `unauthenticated`'],
      ['Clock ahead of the server’s', span(CLOCK_WINDOW.aheadMs), '401 `clock_ahead`'],
      ['Body of a request', kib(MAX_BODY_BYTES), '413 `body_too_large`'],
      ['Headers of a request', kib(MAX_HEADER_BYTES), '431 `headers_too_large`'],
      ['Time for a request to arrive', span(REQUEST_TIMEOUT_MS), '408 `request_timeout`'],
      [
        'Requests of a key in a minute',
        'set per partner, 6000 by default; none in the sandbox',
        '429 `too_many_requests`',
      ],
      [
        'Unknown keys in a minute, from one IPv4 address or IPv6 network (/64)',
        '60, counted by each server; none in the sandbox',
        '429 `too_many_requests`; keys that the server has found before go on',
      ],
      [
        '`Idempotency-Key`',
        `${MAX_KEY_CHARS} characters; a reply is stored for ${span(KEPT_FOR_MS)}`,
        '400; after that time the request is a new one',
      ],
      ['Webhook endpoints of a partner', String(MOST), '409 `too_many_endpoints`'],
      ['Time to answer a webhook', span(DEADLINE_MS), 'it is sent again'],
      ['Pauses between attempts', `from ${span(PAUSES.firstMs)}, doubling to ${span(PAUSES.longestMs)}`, ''],
      ['Attempts at one event', span(GIVE_UP_AFTER_MS), 'the server gives it up; it can be replayed'],
      ['An endpoint that accepts nothing', span(SWITCH_OFF_AFTER_MS), 'it is switched off'],
      ['Old secret after a rotation', `${span(OVERLAP_MS)} unless you choose another time`, 'it no longer signs'],
      ['Log of attempts', span(LOG_KEPT_MS), 'it is deleted'],
      ['Refunds in one event', `${MOST_SHOWN}; ${MOST_ASKED} by \`offramp/refunds\``, 'older ones by `before`'],
    ],
  );

const whole = (units: bigint): string => units.toLocaleString('en-US');
const markets = (): string =>
  table(
    ['Fiat', 'A purchase takes', 'A sale takes', 'A purchase is paid by', 'A sale is paid by'],
    FIATS.map(({ code: fiat, minWhole, maxWhole, buyMethod, sellMethod }) => [
      fiat.toUpperCase(),
      `${whole(minWhole)} to ${whole(maxWhole)}`,
      `${whole(LIMITS.minWhole)} to ${whole(LIMITS.maxWhole)} coins`,
      code(buyMethod),
      code(sellMethod),
    ]),
  );
const chains = (): string =>
  table(
    ['Chain', 'Chain id', 'Coins (decimals)'],
    CHAINS.map(({ code: chain, chainId, tokens }) => [
      code(chain),
      String(chainId),
      tokens.map(({ code: coin, decimals }) => `${coin.toUpperCase()} (${decimals})`).join(', '),
    ]),
  );

const HEADER_MEANS: Readonly<Record<(typeof EXPOSED)[number], readonly [where: string, says: string]>> = {
  'Quote-Id': ['quotes', 'number of the quote, for your records and for questions to the operator'],
  'Quote-Expires-At': ['quotes', 'when the quote expires, ISO 8601'],
  'X-Total-Count': ['lists', 'total number of rows'],
  'X-Request-Id': ['every reply', 'id of the request: quote it to the operator'],
  'Retry-After': ['429, 503, and 409 `idempotency_in_flight`', 'seconds to wait before you repeat the request'],
  'RateLimit-Limit': ['signed replies, in production', 'requests of this key in a minute'],
  'RateLimit-Remaining': ['signed replies, in production', 'how many remain'],
  'RateLimit-Reset': ['signed replies, in production', 'seconds until all are available again'],
};
const headers = (): string =>
  table(
    ['Header', 'In', 'Meaning'],
    [
      ...EXPOSED.map((name): Row => {
        const [where, says] = HEADER_MEANS[name] ?? [];
        if (where === undefined || says === undefined) throw new Error(`the header ${name} has no meaning`);
        return [code(name), where, says];
      }),
      ['`Allow`', '405', 'the methods of the path'],
      [
        '`x-ignored-fields`',
        'the sandbox',
        'fields of the request that the endpoint does not have, such as misspelt ones',
      ],
    ],
  );

export const TABLES: Readonly<Record<string, () => string>> = {
  'life-selling': () => life('offramp'),
  'life-buying': () => life('onramp'),
  'statuses-selling': () => statuses('offramp'),
  'statuses-buying': () => statuses('onramp'),
  states,
  verification,
  business: () => BUSINESS_WORDS.map(code).join(', '),
  'webhook-states': webhookStates,
  'webhook-others': webhookOthers,
  reasons,
  magic,
  limits,
  markets,
  chains,
  headers,
};

/** The page with its tables written again. @throws Error for an unknown table */
export const withTables = (page: string): string =>
  page.replaceAll(
    /(<!-- table: ([a-z-]+) -->)[^]*?(<!-- end -->)/g,
    (_all, begin: string, name: string, end: string) => {
      const make = TABLES[name];
      if (make === undefined) throw new Error(`no code makes the table ${name}`);
      return `${begin}\n\n${make()}\n\n${end}`;
    },
  );

/**
 * Certify: drives a partner's own integration through the situations that go wrong in practice, against a sandbox, and reports
 * its behaviour.
 *
 * Orders are real ones of the sandbox: customers underpay, a payout is returned, money is refunded. Certify reads their events
 * from the feed and posts them to the partner's receiver, signed with the receiver's secret. So it can repeat or delay them,
 * change their order or break their signature, and the sandbox need not reach the receiver. One event is made up, because a
 * partner cannot cause it in a sandbox: the requote of an order. The result says so.
 *
 * A receiver's handling of a message shows only in its answer, and in the result of `observe`. The program's reaction to an
 * expired quote, a moved price or a 503 is checked if it sends its requests through `program`; otherwise that is reported as
 * not tested.
 *
 * Not here: the proxy and the process of `cloverleaf-ramp certify` (cli/certify.ts).
 */
import { type Dialect, dialectOf, type Message, type Told } from './certify.formats.ts';
import type { Cloverleaf } from './client.ts';
import { isDecimal, multiply, round } from './decimal.ts';
import { CloverleafError, UsageError } from './errors.ts';
import { type Fault, type Seen, withFault } from './faults.ts';
import { sleep } from './http.ts';
import type { WebhookFormat } from './webhooks.ts';

export interface CertifyOptions {
  /** A client of a sandbox, with apiKey and apiSecret. */
  readonly client: Cloverleaf;
  readonly webhookUrl: string;
  /** The format of your receiver. Default `standard`. */
  readonly format?: WebhookFormat | undefined;
  /** The secret that your receiver knows: whsec_… for `standard`, that of your API key for `whitelabel` and `flat`. */
  readonly secret: string;
  /** Returns what your system knows about an order, in any form. The results before and after a message are compared. */
  readonly observe?: ((orderId: string) => Promise<unknown>) | undefined;
  /**
   * Sells something with your own code, which must send its requests with the given fetch. Called once for each of three
   * faults; it may fail.
   */
  readonly program?: ((fetch: typeof globalThis.fetch, fault: Fault) => Promise<void>) | undefined;
  /** Time limit for your receiver. Default five seconds, as on the server. */
  readonly answerWithinMs?: number;
  readonly onResult?: (result: CertifyResult) => void;
}

export interface CertifyResult {
  readonly situation: string;
  readonly outcome: 'passed' | 'failed' | 'not tested';
  /** The message, and how your receiver or program reacted. */
  readonly did: readonly string[];
  /** Why it failed, or why it was not tested. */
  readonly why: readonly string[];
}

const ANSWER_MS = 5_000;
const PATIENCE_MS = 90_000;
/** Time limit of a sandbox control, which answers once chain and bank have acted; that takes long on a busy machine. */
const CONTROL_MS = 60_000;
const PAIR = { fromCurrency: 'usdc', toCurrency: 'INR', chain: 'matic20' };
/** A bank account of the sandbox whose payouts are returned. */
const BOUNCING_ACCOUNT = '000111229002';
const ACCOUNT = '000111222333';
const DAY_MS = 86_400_000;

/** The ten situations, in the order in which they are tried. */
export async function certify(options: CertifyOptions): Promise<CertifyResult[]> {
  const results: CertifyResult[] = [];
  const run = await prepare(options);
  for (const [situation, test] of SITUATIONS) {
    const trial = newTrial(options, run.dialect);
    await test(trial, run);
    const { did, wrong, untested } = trial;
    if (did.length === 0 && untested.length === 0)
      untested.push(`the format ${run.dialect.format} has no message for it, or none that can be identified`);
    const outcome = wrong.length > 0 ? 'failed' : untested.length > 0 ? 'not tested' : 'passed';
    const result: CertifyResult = { situation, outcome, did, why: [...wrong, ...untested] };
    results.push(result);
    options.onResult?.(result);
  }
  return results;
}

const SITUATIONS: readonly (readonly [string, (trial: Trial, run: Run) => Promise<void>])[] = [
  ['duplicate webhook', duplicate],
  ['late webhook', late],
  ['out-of-order webhook', outOfOrder],
  ['wrong signature', wrongSignature],
  ['underpayment', underpayment],
  ['requote', requote],
  ['bounced payout', bouncedPayout],
  ['refund', refund],
  ['expired quote', expiredQuote],
  ['503', unavailable],
];

async function duplicate(trial: Trial, { settled }: Run): Promise<void> {
  for (const event of settled) await trial.takes(event);
  const last = settled.at(-1) as Told;
  const before = await trial.observe(last);
  for (const time of ['second', 'third']) await trial.takes(last, `${name(last)} a ${time} time`);
  await trial.unchanged(last, before, 'the same event again changed what your system says: process each id once');
  trial.needsState('whether a message acted twice');
}

async function late(trial: Trial, { bounced, dialect }: Run): Promise<void> {
  const [first] = bounced;
  // Without a signed time an old message looks like a new one.
  if (first === undefined || !dialect.hasTime) return;
  const old = { ...first, timestamp: new Date(Date.parse(first.timestamp) - 3 * DAY_MS).toISOString() };
  await trial.takes(old, `${name(old)}, three days old, signed now`);
  const before = await trial.observe(first);
  await trial.refuses(
    await trial.send(first, { nowMs: Date.now() - 3_600_000 }),
    `${name(first)}, signed an hour ago`,
    'took a message whose signature is an hour old: refuse what was signed more than five minutes ago, or anyone who has seen it can repeat it',
  );
  await trial.unchanged(first, before, 'the refused message changed what your system says');
}

async function outOfOrder(trial: Trial, { expired, refunded, bounced }: Run): Promise<void> {
  const events = [expired, refunded, bounced].find(({ length }) => length > 1) ?? [];
  const [first, last] = [events[0], events.at(-1)];
  if (first === undefined || last === undefined || first === last) return;
  await trial.takes(last);
  const before = await trial.observe(last);
  await trial.takes(first, `${name(first)}, after it`);
  await trial.unchanged(
    last,
    before,
    `an older event (${first.type}) replaced a newer one (${last.type}): skip a lower sequence`,
  );
  trial.needsState('whether an older message replaced a newer one');
}

async function wrongSignature(trial: Trial, { expired, settled, dialect }: Run): Promise<void> {
  const real = (expired.at(-1) ?? settled.at(-1)) as Told;
  const forged: Told = {
    ...{ ...real, id: `${real.id}0`, type: 'order.settled', sequence: real.sequence + 1 },
    data: { ...real.data, state: 'settled' },
  };
  const before = await trial.observe(real);
  const took = 'verify the signature before anything else';
  const other = await dialect.message(forged, { secret: `whsec_${btoa('another secret, of 32 characters')}` });
  await trial.refuses(
    await trial.post(other),
    'signed with another secret',
    `took a message of another secret: ${took}`,
  );
  const genuine = await dialect.message(real, { secret: trial.secret });
  const altered = (await dialect.message({ ...forged, id: real.id }, { secret: trial.secret })).body;
  // A flat order is the same for every event, so the forged body may be equal; then a space is added.
  const changed = { ...genuine, body: altered === genuine.body ? `${altered} ` : altered };
  await trial.refuses(await trial.post(changed), 'changed after it was signed', `took a changed message: ${took}`);
  const { [dialect.signature]: _, ...bare } = genuine.headers;
  await trial.refuses(
    await trial.post({ headers: bare, body: altered }),
    'without a signature',
    `took a message without a signature: ${took}`,
  );
  await trial.unchanged(real, before, 'a forged message changed what your system says');
}

async function underpayment(trial: Trial, { refunded }: Run): Promise<void> {
  for (const event of refunded.slice(0, beginOfRefund(refunded))) await trial.takes(event);
  await trial.shows(refunded[0]);
}

async function refund(trial: Trial, { refunded }: Run): Promise<void> {
  for (const event of refunded.slice(beginOfRefund(refunded))) await trial.takes(event);
  await trial.shows(refunded[0]);
}

async function bouncedPayout(trial: Trial, { bounced, dialect }: Run): Promise<void> {
  if (!bounced.some(isReturned)) {
    trial.untested.push(
      `the format ${dialect.format} does not tell that a payout came back: your program learns it from the order or the feed`,
    );
    return;
  }
  for (const event of bounced) await trial.takes(event);
  await trial.shows(bounced[0]);
}

async function requote(trial: Trial, run: Run): Promise<void> {
  const [created] = run.open;
  if (created !== undefined) await requoted(trial, created);
  await trial.program(run, 'price_moved');
}

async function requoted(trial: Trial, created: Told): Promise<void> {
  await trial.takes(created);
  const { rate, payoutAmount } = created.data;
  const less = (amount: unknown): unknown =>
    isDecimal(amount) ? round(multiply(amount, '0.97'), { decimals: 2, rounding: 'down' }) : amount;
  const made: Told = {
    ...{ ...created, id: `${created.id}9`, type: 'order.changed', sequence: created.sequence + 1 },
    data: { ...created.data, rate: less(rate), payoutAmount: less(payoutAmount) },
  };
  await trial.takes(made, `${name(made)} with a lower rate and payoutAmount (made here, not by the sandbox)`);
  await trial.shows(created);
}

async function expiredQuote(trial: Trial, run: Run): Promise<void> {
  await trial.program(run, 'quote_expired');
}

async function unavailable(trial: Trial, run: Run): Promise<void> {
  await trial.program(run, 'unavailable');
}

const isReturned = ({ data }: Told): boolean => data.reason === 'payout_returned';
const name = ({ type, sequence }: Told): string => `${type} #${sequence}`;
const beginOfRefund = (events: readonly Told[]): number => {
  const at = events.findIndex(({ type }) => type === 'order.refunding' || type === 'order.refunded');
  return at < 0 ? events.length : at;
};

// Steps of a situation.

interface Answered {
  status: number | undefined;
  says: string;
}

interface Trial {
  readonly did: string[];
  readonly wrong: string[];
  readonly untested: string[];
  readonly secret: string;
  send(event: Told, how?: { nowMs?: number }): Promise<Answered>;
  post(message: Message): Promise<Answered>;
  /** Posts an event, which the receiver must accept. */
  takes(event: Told, as?: string): Promise<void>;
  /** Checks that the receiver has not accepted a message. */
  refuses(answered: Answered, as: string, otherwise: string): Promise<void>;
  observe(event: Told): Promise<string | undefined>;
  unchanged(event: Told, before: string | undefined, otherwise: string): Promise<void>;
  shows(event: Told | undefined): Promise<void>;
  /** Notes that only the partner's system shows the result, not the receiver's answer. */
  needsState(what: string): void;
  program(run: Run, fault: Fault): Promise<void>;
}

function newTrial(options: CertifyOptions, dialect: Dialect): Trial {
  const { webhookUrl, secret, answerWithinMs = ANSWER_MS } = options;
  const did: string[] = [];
  const wrong: string[] = [];
  const untested: string[] = [];

  const trial: Trial = {
    ...{ did, wrong, untested, secret },

    async post(message) {
      const began = Date.now();
      try {
        const { status } = await fetch(webhookUrl, {
          method: 'POST',
          ...message,
          redirect: 'manual',
          signal: AbortSignal.timeout(answerWithinMs),
        });
        return { status, says: `${status} in ${Date.now() - began} ms` };
      } catch {
        return { status: undefined, says: `no answer within ${answerWithinMs} ms` };
      }
    },

    async send(event, how = {}) {
      return await trial.post(await dialect.message(event, { secret, ...how }));
    },

    async takes(event, as = name(event)) {
      const { status, says } = await trial.send(event);
      did.push(`${as}: ${says}`);
      if (status === undefined) wrong.push(`${as} was not answered in time: answer first, then work`);
      else if (status < 200 || status > 299)
        wrong.push(
          `${as} was answered with ${status}: the server would send it again and again; answer 2xx to what is genuine`,
        );
    },

    async refuses({ status, says }, as, otherwise) {
      did.push(`${as}: ${says}`);
      if (status === undefined) wrong.push(`${as} was not answered in time`);
      else if (status >= 200 && status <= 299) wrong.push(otherwise);
      else if (status >= 500) wrong.push(`${as} made your receiver fail with ${status}: refuse it with 401`);
    },

    async observe({ subject }) {
      if (options.observe === undefined) return undefined;
      return JSON.stringify(await options.observe(subject.replace(/^order:/, '')));
    },

    async unchanged(event, before, otherwise) {
      if (before === undefined) return;
      const after = await trial.observe(event);
      did.push(`your system says: ${shortened(after)}`);
      if (after !== before) wrong.push(`${otherwise}. Before: ${shortened(before)}`);
    },

    needsState(what) {
      if (options.observe === undefined)
        untested.push(`${what}: name what your system says of an order (--state-url, or observe), and it is seen`);
    },

    async shows(event) {
      if (event === undefined) return;
      const shown = await trial.observe(event);
      if (shown !== undefined) did.push(`your system says: ${shortened(shown)}`);
    },

    async program({ client, prices }, fault) {
      if (options.program === undefined) {
        untested.push('what your program does about it: name the program that sells, and it is seen');
        return;
      }
      const { fetch: through, seen } = withFault(fault, { client, prices });
      let ended = 'ended well';
      try {
        await options.program(through, fault);
      } catch (error) {
        ended = `failed: ${error instanceof Error ? error.message : String(error)}`;
      } finally {
        await prices.restore();
      }
      did.push(...seen.map(lineOf), `your program ${ended}`);
      const why = judge(fault, seen);
      if (why !== undefined) wrong.push(why);
    },
  };
  return trial;
}

const shortened = (text: string | undefined): string =>
  text === undefined ? 'nothing' : text.length > 160 ? `${text.slice(0, 159)}…` : text;

const lineOf = ({ what, key, status, byUs }: Seen): string =>
  `your program ${what === 'quote' ? 'asked for a quote' : `created an order under the key ${shortKey(key)}`}: ${status}${byUs ? ' (instead of the answer)' : ''}`;

const shortKey = (key: string | undefined): string => (key === undefined ? '(none)' : `${key.slice(0, 8)}…`);

/** @returns the program's fault; undefined if it behaved correctly */
export function judge(fault: Fault, seen: readonly Seen[]): string | undefined {
  const orders = seen.filter(({ what }) => what === 'order');
  const [first, ...more] = orders;
  if (first === undefined) return 'your program created no order: nothing could be seen';
  if (fault === 'unavailable') {
    if (first.key === undefined)
      return 'the order was created without an Idempotency-Key: a repetition creates a second one';
    if (more.length === 0)
      return 'after a 503 your program did not repeat the request: it is unknown whether the order exists';
    if (more.some(({ key }) => key !== first.key))
      return 'after a 503 your program used another Idempotency-Key: the customer now has two orders';
    return more.at(-1)?.ok === true ? undefined : 'the repeated request did not end well';
  }
  if (first.ok) return undefined;
  const at = seen.indexOf(first);
  if (!seen.slice(at + 1).some(({ what }) => what === 'quote'))
    return 'the order was declined because its quote was over, and your program asked for no new quote';
  if (more.some(({ key, body }) => key !== undefined && key === first.key && body !== first.body))
    return 'your program used the Idempotency-Key of the declined order for another one: a new intent is a new key';
  return more.some(({ ok }) => ok)
    ? undefined
    : 'after its quote was over, your program created no order with the new one';
}

// The orders and their events.

interface Run {
  readonly client: Cloverleaf;
  readonly dialect: Dialect;
  /** Moves the price of the pair, and restores it. */
  readonly prices: { move(): Promise<void>; restore(): Promise<void> };
  /** Events of a sale that is paid out, as far as the format has them; so for all following. */
  readonly settled: readonly Told[];
  /** Events of an order that is underpaid, held and refunded. */
  readonly refunded: readonly Told[];
  /** Events of an order whose payout is returned. */
  readonly bounced: readonly Told[];
  /** Events of an unpaid order that expires. */
  readonly expired: readonly Told[];
  /** Events of an order that waits for its payment. */
  readonly open: readonly Told[];
}

async function prepare({ client, webhookUrl, secret, format = 'standard' }: CertifyOptions): Promise<Run> {
  if (!/^https?:\/\//.test(webhookUrl)) throw new UsageError('webhookUrl must be the address of your receiver');
  if (secret === '') throw new UsageError('secret must be the one that your receiver knows');
  const { post } = client.whitelabel;
  let after = '0';
  for (let more = true; more; ) {
    const page = await client.whitelabel.get('v1/events', { after, limit: 500 });
    [after, more] = [page.next, page.hasMore];
  }
  const { customerId } = await post('kyc/url', {
    clientCustomerId: `certify-${crypto.randomUUID()}`,
    phoneNumber: `+91-9${String(Date.now()).slice(-9)}`,
    type: 'INDIVIDUAL',
  });
  await post('test/changeKycStatus', { customerId, status: 'ADVANCE_KYC_COMPLETED' });
  const sale = async (fiatAccount: string): Promise<string> => {
    const account = { customerId, fiatAccount, ifsc: 'HDFC0000001' };
    const { fiatAccountId } = await post('bank/addFiatAccount', account, { repeat: true });
    const asked = { ...PAIR, fromAmount: '100', customerId, fiatAccountId };
    return (await post('offramp/createTransaction', asked)).transactionId;
  };
  const [settled, refunded, expired, open] = [
    await sale(ACCOUNT),
    await sale(ACCOUNT),
    await sale(ACCOUNT),
    await sale(ACCOUNT),
  ];
  const bounced = await sale(BOUNCING_ACCOUNT);
  const slowly = { timeoutMs: CONTROL_MS };
  await client.sandbox.pay({ transactionId: settled }, slowly);
  await client.sandbox.pay({ transactionId: bounced }, slowly);
  await client.sandbox.status({ transactionId: refunded, status: '-4' }, slowly);
  await client.sandbox.status({ transactionId: expired, status: '-1' }, slowly);

  const all: Told[] = [];
  const of = (order: string): Told[] => all.filter(({ subject }) => subject === `order:${order}`);
  const ended = (order: string, is: (event: Told) => boolean): boolean => of(order).some(is);
  const type = (wanted: string) => (event: Told) => event.type === wanted;
  for (const giveUpAt = Date.now() + PATIENCE_MS; ; await sleep(200)) {
    const page = await client.whitelabel.get('v1/events', { after, limit: 500 });
    all.push(...(page.events as unknown as Told[]));
    after = page.next;
    const isOver =
      ended(settled, type('order.settled')) &&
      ended(refunded, type('order.refunded')) &&
      ended(bounced, isReturned) &&
      ended(expired, type('order.expired')) &&
      ended(open, type('order.created'));
    if (isOver) break;
    if (Date.now() > giveUpAt)
      throw new CloverleafError('the orders of the sandbox did not get where they were driven: nothing was certified');
  }
  const { coin, fiat } = { coin: PAIR.fromCurrency, fiat: PAIR.toCurrency.toLowerCase() };
  const dialect = dialectOf(format, client);
  const heard = (order: string): Told[] => dialect.heard(of(order));
  return {
    ...{ client, dialect },
    prices: {
      async move() {
        const { rate } = (await post('offramp/quote', { ...PAIR, fromAmount: '100' })) as { rate: string };
        // Three percent less: a move to half of the price would halt the market.
        await client.sandbox.prices({
          coin,
          fiat,
          price: round(multiply(rate, '0.97'), { decimals: 2, rounding: 'down' }),
        });
      },
      async restore() {
        await client.sandbox.prices({ coin, fiat });
      },
    },
    ...{ settled: heard(settled), refunded: heard(refunded), bounced: heard(bounced) },
    ...{ expired: heard(expired), open: heard(open) },
  };
}

/**
 * Mutants: planted bugs, each in a copy of the source, each to be found by the simulation. Those not found are named.
 *
 * A mutant is a text that must occur exactly once in its file, and its replacement: one that no longer applies is an error, and
 * not a mutant that was found. A seed has found it when it shows a violation of a kind that fits the bug, and when the same seed
 * with the same orders is clean on the unchanged source. A few bugs are found by a test of the suite instead, which has to pass on
 * the unchanged source, too.
 *
 * Long because it is a table, with one row for each bug.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Journal } from '../support/journal.ts';
import { laysAgain } from './again.ts';
import type { Kind, Violation } from './checks.ts';
import { contradicts } from './contradictions.ts';
import type { Place } from './ground.ts';
import { hasMeetings } from './meetings.ts';
import { hasMoves } from './moves.ts';
import { declares, forgets } from './outage.ts';
import { sendsToOwn } from './own.ts';
import { hasCap } from './promises.ts';
import { lacksReferences } from './references.ts';
import { changesRules } from './rules.ts';
import { hasStrays } from './strays.ts';
import { goesWild } from './wild.ts';
import { openWorkers, type Workers } from './workers.ts';

interface Mutant {
  name: string;
  /** The kinds of violations that count as finding it. */
  kinds: readonly Kind[];
  /** Only a run whose database is replaced by an older copy shows it: each of its seeds is played so. */
  restore?: true;
  /** Only a seed with money without an order shows it. */
  strays?: true;
  /** Only a seed whose bank forgets keys shows it. */
  forgets?: true;
  /** Only a seed in which people take further actions shows it (moves.ts). */
  moves?: true;
  /** Only a seed in which events coincide at the worst moment shows it (meetings.ts). */
  meetings?: true;
  /** Only a seed in which operators declare unknown payouts never paid shows it (outage.ts). */
  declares?: true;
  /** Only a seed whose customers forget the reference shows it (references.ts). */
  references?: true;
  /** Only a seed whose bank shows a rejected payment as paid shows it (contradictions.ts). */
  contradictions?: true;
  /** Only a seed in which rules change while money is under way shows it (rules.ts). */
  rules?: true;
  /** Only a seed in which what stands is laid again shows it (again.ts). */
  again?: true;
  /** Only a seed with transfers to own addresses shows it (own.ts). */
  own?: true;
  /** Only a seed with a cap on promises shows it (promises.ts). */
  capped?: true;
  /** Only a seed with wild prices shows it (wild.ts). */
  wild?: true;
  /**
   * Seeds seldom bring it about: transactions that overlap by milliseconds, or an action that nobody simulated takes. This test does:
   * the copy with the bug runs it instead of seeds.
   */
  test?: { file: string; name: string };
  changes: readonly { file: string; from: string; to: string }[];
}

/** The result of the hunt, as JSON. */
export interface Hunt {
  command: string;
  seconds: number;
  planted: number;
  found: number;
  mutants: Hunted[];
}

/** Found by a seed, or by the file of a test. */
interface Hunted {
  mutant: string;
  files: string[];
  found: boolean;
  seed?: number;
  test?: string;
  kind?: Kind;
  violation?: string;
}

const PAYOUTS = 'src/rails/payouts.ts';
const SENDS = 'src/rails/chain.sends.ts';
const GATE = 'src/orders/payouts/gate.ts';
const OPERATOR_API_ACTIONS = 'src/orders/actions.ts';
const LEAVING = 'src/orders/payouts/leaving.ts';
const READY = 'src/orders/payouts/ready.ts';
const REFUNDS = 'src/orders/refunds/refunds.ts';
const COMPENSATE = 'src/orders/refunds/compensate.ts';
const TRANSFERS = 'src/treasury/transfers.ts';
const TRANSFER_DESK = 'src/treasury/transfers.desk.ts';
const CREATE = 'src/orders/create.ts';
const LIMITS = 'src/partners/limits.ts';
const BREAKER = 'src/quotes/breaker.ts';

const MUTANTS: readonly Mutant[] = [
  {
    name: 'sent before it is written down that it is being sent',
    kinds: ['paid_twice'],
    changes: [
      {
        file: PAYOUTS,
        from: 'const submission = await beginSubmission(tx, payout, context.submitMs ?? SUBMIT_MS);',
        to: 'const submission: Payout | undefined = payout;',
      },
    ],
  },
  {
    name: 'a new key for each try',
    kinds: ['paid_twice'],
    changes: [
      {
        file: PAYOUTS,
        from: 'send({\n      key: payout.id,',
        to: 'send({\n      key: payout.submissions === 1 ? payout.id : `${payout.id}.${payout.submissions}`,',
      },
    ],
  },
  {
    name: 'an unknown answer is taken for a refusal',
    kinds: ['paid_twice'],
    changes: [
      {
        file: PAYOUTS,
        from: 'return await recordStillUnknown(context, tx, payout, sent.why);',
        to: "return await reject(context, tx, payout, 'never_arrived');",
      },
    ],
  },
  {
    name: 'sent again under its key to a bank that does not deduplicate',
    kinds: ['paid_twice'],
    changes: [
      {
        file: PAYOUTS,
        from: "if (repeat === 'unpromised') return await endIfAbsent(context, tx, payout);",
        to: '',
      },
    ],
  },
  {
    name: 'sent again under its key after the bank has forgotten it',
    kinds: ['paid_twice'],
    forgets: true,
    changes: [
      {
        file: 'src/rails/payouts.repeat.ts',
        from: "ageMs !== null && ageMs < countsForMs(deduplicatesForMs) ? 'safe' : 'may_be_forgotten'",
        to: "ageMs === null ? 'may_be_forgotten' : 'safe'",
      },
    ],
  },
  {
    name: 'absent is believed though the bank may have forgotten the key',
    kinds: ['paid_twice'],
    forgets: true,
    changes: [
      {
        file: PAYOUTS,
        from: "if (repeat === 'may_be_forgotten') return await recordForgotten(context, tx, payout);",
        to: "if (repeat === 'may_be_forgotten') return await endIfAbsent(context, tx, payout);",
      },
    ],
  },
  {
    name: 'absent is believed while bytes may be under way',
    kinds: ['paid_twice'],
    changes: [{ file: PAYOUTS, from: 'if (overForMs > graceMs)', to: 'if (graceMs > 0)' }],
  },
  {
    name: 'what a dead worker was submitting is submitted again',
    kinds: ['paid_twice'],
    changes: [
      {
        file: PAYOUTS,
        from: "if (seen.state === 'created') return await begin(context, tx, seen);",
        to: "if (seen.state === 'created' || (seen.state === 'submitting' && (seen.submitLeftMs ?? 0) <= 0)) return await begin(context, tx, seen);",
      },
    ],
  },
  {
    // The lease of the job alone does no harm: the second worker finds the payout's row locked.
    name: 'neither the lease of the work nor that of the submission is checked',
    kinds: ['paid_twice'],
    changes: [
      {
        file: 'src/base/jobs.store.ts',
        from: 'and kind = any($1)\n             and (leased_until is null or leased_until < clock_timestamp())\n',
        to: 'and kind = any($1)\n',
      },
      {
        file: PAYOUTS,
        from: 'if (leftMs > 0) return { handled: { againInMs: leftMs + 100 } };',
        to: 'if (leftMs > 0) return await begin(context, tx, payout);',
      },
    ],
  },
  {
    // Either guard alone is enough: the look, and the key that makes a second row impossible.
    name: 'a statement line has no unique key, and is taken without a look at earlier ones',
    kinds: ['paid_twice', 'books', 'bug'],
    changes: [
      {
        file: 'migrations/0007_rails.sql',
        from: '  foreign_at   timestamptz,\n  primary key (rail, external_id)\n);\ncreate index bank_lines_key',
        to: '  foreign_at   timestamptz\n);\ncreate index bank_lines_key',
      },
      {
        file: 'src/rails/bank.store.ts',
        from: "nullif($11, ''), $12)\n     on conflict (rail, external_id) do nothing`",
        to: "nullif($11, ''), $12)`",
      },
      {
        file: 'src/rails/bank.lines.ts',
        from: 'if (there !== undefined) {',
        to: 'if (there !== undefined && there.asset !== asset) {',
      },
    ],
  },
  {
    name: 'a higher fee takes another nonce',
    kinds: ['paid_twice'],
    changes: [
      {
        file: 'src/rails/chain.watch.ts',
        from: 'await sendStore.reserveSend(tx, rail, { ...newest, ...next, version: newest.version + 1 }, new Date());',
        to: 'const nonce = await sendStore.lockNonce(tx, rail, newest.wallet, newest.nonce ?? 0n);\n      const added = await sendStore.reserveSend(tx, rail, { ...newest, ...next, nonce, version: newest.version + 1 }, new Date());\n      if (added) await sendStore.setNextNonce(tx, rail, newest.wallet, nonce + 1n);',
      },
    ],
  },
  {
    // Any guard alone is enough: the key, which the insert names, the check under the lock of the nonces, and the time after
    // which a submission reserves nothing: another sender uses the key only after that.
    name: 'a send has no unique key, its lock is taken without a look at earlier ones, and a submission goes on after its end',
    kinds: ['paid_twice', 'stuck'],
    meetings: true,
    changes: [
      { file: 'migrations/0007_rails.sql', from: '  unique (rail, key, version),\n', to: '' },
      {
        file: 'migrations/0017_chain_slots.sql',
        from: '  primary key (rail, wallet, slot),\n  foreign key (rail, key, version) references chain_sends (rail, key, version) on delete cascade\n',
        to: '  primary key (rail, wallet, slot)\n',
      },
      { file: 'src/rails/chain.sends.store.ts', from: ' on conflict (rail, key, version) do nothing`', to: '`' },
      { file: SENDS, from: 'if (there.length > 0) return there;', to: '' },
      {
        file: SENDS,
        from: 'if (notAfter !== undefined && Date.now() > notAfter.getTime())',
        to: 'if (notAfter === null)',
      },
    ],
  },
  {
    name: 'a payout is locked before its order',
    kinds: ['deadlock'],
    meetings: true,
    changes: [
      {
        file: 'src/orders/lock.ts',
        from: '  const payout = await payoutByKey(tx, rail, key);\n  if (payout !== undefined',
        to: "  await tx.rows('select id from payouts where id = $1 for update', [key]);\n  const payout = await payoutByKey(tx, rail, key);\n  if (payout !== undefined",
      },
    ],
  },
  {
    name: 'accounts are locked in no order',
    kinds: ['deadlock'],
    changes: [
      {
        file: 'src/ledger/store.ts',
        from: 'from accounts where id = any($1::bigint[]) order by id for update',
        to: 'from accounts where id = any($1::bigint[]) order by md5(id::text || $1::text) for update',
      },
    ],
  },
  {
    name: 'a later posting waits for an account that comes before those it has locked',
    kinds: ['deadlock'],
    test: {
      file: 'server/test/ledger/ledger.test.ts',
      name: 'two transactions that post twice, to the same accounts in opposite order, do not deadlock',
    },
    changes: [{ file: 'src/ledger/locks.ts', from: 'if (fresh.every((id) => id > newest))', to: 'if (newest > 0n)' }],
  },
  {
    name: 'a step of the chain takes one order after the other',
    kinds: ['deadlock'],
    test: {
      file: 'server/test/rails/chain.test.ts',
      name: 'the orders of all deposits that one step reverses or confirms are locked before the first is reported',
    },
    changes: [
      {
        file: 'src/rails/chain.deposits.ts',
        from: 'if (gone.length + reached.length > 1)',
        to: 'if (gone.length < 0)',
      },
    ],
  },
  {
    name: 'an event is written after its transaction and not in it',
    kinds: ['untold'],
    changes: [
      {
        file: 'src/base/db.ts',
        from: "'a transaction whose statement failed was committed');\n",
        to: "'a transaction whose statement failed was committed');\n      for (const tell of (tx as Tx & { after?: Body<void>[] }).after ?? []) await transact(pool, begin, tell);\n",
      },
      {
        file: 'src/events/store.ts',
        from: '  tx.defer(sql.insertAlone, [e.partnerId, e.type, e.subject, e.body, e.at]);\n  tx.defer(sql.notify);',
        to: '  ((tx as Tx & { after?: unknown[] }).after ??= []).push(async (other: Tx) => {\n    other.send(sql.insertAlone, [e.partnerId, e.type, e.subject, e.body, e.at]);\n    other.send(sql.notify);\n  });',
      },
    ],
  },
  {
    name: 'an order that is being paid out may be refunded',
    kinds: ['paid_twice'],
    test: { file: 'server/test/orders/machine.test.ts', name: 'nothing is paid out and refunded from one state' },
    changes: [
      {
        file: 'src/orders/machine.ts',
        from: "  { from: ['paying_out'], on: 'payout_settled',",
        to: "  { from: ['paying_out'], on: 'refund_requested', to: 'refunding', post: 'void_payout', then: 'send_refund' },\n  { from: ['paying_out'], on: 'payout_settled',",
      },
    ],
  },
  {
    name: 'a deposit that a reorg reversed stays',
    kinds: ['paid_twice', 'books', 'lost'],
    changes: [
      {
        file: 'src/rails/chain.deposits.ts',
        from: 'const gone = isCaughtUp ? await',
        to: 'const gone = !isCaughtUp ? await',
      },
    ],
  },
  {
    name: 'a statement line is taken as often as it is shown',
    kinds: ['paid_twice', 'books', 'bug'],
    changes: [
      {
        file: 'src/rails/bank.lines.ts',
        from: 'if (there !== undefined) {',
        to: 'if (there !== undefined && there.asset !== asset) {',
      },
      { file: 'src/rails/bank.lines.ts', from: 'if (!fresh) return;\n  for', to: 'for' },
    ],
  },
  {
    name: 'rounded up when selling',
    kinds: ['rounding'],
    changes: [
      {
        file: 'src/quotes/price.ts',
        from: "baseToQuote(depositUnits, terms.rate, decimals, 'down')",
        to: "baseToQuote(depositUnits, terms.rate, decimals, 'up')",
      },
    ],
  },
  {
    name: 'rounded up when buying',
    kinds: ['rounding'],
    changes: [
      {
        file: 'src/quotes/price.ts',
        from: "quoteToBase(left, terms.rate, decimals, 'down')",
        to: "quoteToBase(left, terms.rate, decimals, 'up')",
      },
    ],
  },
  {
    name: 'the hold of a payout that failed is not voided',
    kinds: ['books', 'bug', 'stuck'],
    changes: [
      {
        file: 'src/orders/machine.ts',
        from: "to: 'payout_held', post: 'void_payout', then: 'open_case'",
        to: "to: 'payout_held', then: 'open_case'",
      },
    ],
  },
  // Money that must not leave, and the expected end of each party.
  {
    name: 'costs are kept from every part of a refund',
    kinds: ['ends', 'books'],
    changes: [{ file: REFUNDS, from: '    keepUnits -= costUnits;\n', to: '' }],
  },
  {
    // The gate asks again, of all of them: it is made to ask of the first one, too.
    name: 'of several credits only the first has to clear',
    kinds: ['paid_against'],
    changes: [
      {
        file: 'src/orders/deposits/facts.ts',
        from: "  if (row.asset !== order.depositAsset || row.late || (order.state !== 'created' && order.state !== 'deposit_seen'))\n    return false;",
        to: "  if (row.asset !== order.depositAsset || row.late || (order.state !== 'created' && order.state !== 'deposit_seen'))\n    return false;\n  if ((await depositStore.depositsOf(tx, order.id)).some(({ id }) => id < row.id)) return false;",
      },
      { file: READY, from: "origin === 'rail');", to: "origin === 'rail').slice(0, 1);" },
    ],
  },
  {
    name: 'a partly returned payout is paid again in full',
    kinds: ['paid_twice', 'ends', 'books', 'stuck', 'bug'],
    changes: [
      {
        file: 'src/orders/payouts/facts.ts',
        from: '...back, units: ownUnits, isOwn: true }',
        to: '...back, units: payout.units, isOwn: true }',
      },
      {
        file: 'src/orders/payouts/facts.ts',
        from: 'const again = units < payout.units ? units : payout.units;',
        to: 'const again = payout.units;',
      },
    ],
  },
  {
    name: 'a partly returned refund is refunded again in full',
    kinds: ['paid_twice', 'ends', 'books', 'stuck', 'bug'],
    changes: [
      {
        file: 'src/orders/refunds/rejected.ts',
        from: 'const netUnits = units < refund.netUnits ? units : refund.netUnits;',
        to: 'const netUnits = refund.netUnits;',
      },
    ],
  },
  {
    name: 'a kill switch is not asked when something is submitted again',
    kinds: ['paid_against'],
    changes: [
      {
        file: GATE,
        from: 'context.gate.isSwitchedOff(tx, payout.rail),',
        to: 'payout.submissions === 0 && context.gate.isSwitchedOff(tx, payout.rail),',
      },
    ],
  },
  {
    name: "a partner's setting outlives its transaction",
    kinds: ['isolation'],
    changes: [
      {
        file: 'src/base/db.ts',
        from: "set_config('cloverleaf.partner', $1, true)",
        to: "set_config('cloverleaf.partner', $1, false)",
      },
    ],
  },
  {
    name: 'the gate is skipped when a payout is sent again under its key',
    kinds: ['paid_against'],
    changes: [
      {
        file: PAYOUTS,
        from: 'const begun = await begin(context, tx, payout);',
        to: "const begun = await begin({ ...context, gate: async () => ({ outcome: 'pay' }) }, tx, payout);",
      },
    ],
  },
  {
    name: 'the gate says pay where a kill switch is on',
    kinds: ['paid_against'],
    changes: [
      {
        file: 'src/orders/payouts/judge.ts',
        from: "if (switchedOff) return { outcome: 'wait'",
        to: "if (false) return { outcome: 'wait'",
      },
    ],
  },
  {
    name: 'the gate says pay where money has not cleared',
    kinds: ['paid_against'],
    changes: [
      {
        file: 'src/orders/payouts/judge.ts',
        from: 'if (facts.notReady !== undefined) {',
        to: 'if (facts.notReady === null) {',
      },
      {
        file: 'src/orders/refunds/screen.ts',
        from: 'early: deposit && (await notReady',
        to: 'early: deposit === null && (await notReady',
      },
      {
        file: 'src/orders/follow-on-order.ts',
        from: 'const early = await notReady(context, tx, [found.row], now);',
        to: 'const early = await notReady(context, tx, [], now);',
      },
    ],
  },
  {
    name: 'the transaction that decides on an order begins the submission without asking the gate',
    kinds: ['paid_against'],
    changes: [
      {
        file: PAYOUTS,
        from: 'if (!(await passes(context, tx, payout))) return undefined;',
        to: 'if (payout.isPlanned !== true && !(await passes(context, tx, payout))) return undefined;',
      },
    ],
  },
  {
    name: 'a kill switch is not asked when the deciding transaction begins the submission',
    kinds: ['paid_against'],
    changes: [
      {
        file: GATE,
        from: 'context.gate.isSwitchedOff(tx, payout.rail),',
        to: 'payout.isPlanned !== true && context.gate.isSwitchedOff(tx, payout.rail),',
      },
    ],
  },
  {
    name: 'clearing and confirmations are not asked when the deciding transaction begins the submission',
    kinds: ['paid_against'],
    references: true,
    changes: [
      {
        file: GATE,
        from: 'notReady(context, tx, backing, now),',
        to: 'payout.isPlanned === true ? undefined : notReady(context, tx, backing, now),',
      },
    ],
  },
  {
    // No seed shows it: that transaction stores the result that it decides on, so an older one is never there.
    name: 'the deciding transaction takes a result of the screener however old it is',
    kinds: ['paid_against'],
    test: {
      file: 'server/test/orders/begun.test.ts',
      name: 'a screening result that is too old is not decided on: the payout is left to its job, and screened again first',
    },
    changes: [
      {
        file: GATE,
        from: 'screeningMaxAgeMs(tx, now, context.gate.screeningMaxAgeMs),',
        to: 'payout.isPlanned === true ? Number.MAX_SAFE_INTEGER : screeningMaxAgeMs(tx, now, context.gate.screeningMaxAgeMs),',
      },
    ],
  },
  {
    name: 'blocks of customers are not asked',
    kinds: ['paid_against'],
    changes: [
      {
        file: 'src/compliance/screening.ts',
        from: '...(blockedAt === null ? []',
        to: '...(blockedAt !== undefined ? []',
      },
    ],
  },
  {
    name: 'an approval by one person counts as one by two',
    kinds: ['paid_against'],
    changes: [
      { file: GATE, from: 'new Set(one.people).size >= (one.needed ?? needed)', to: 'new Set(one.people).size >= 1' },
    ],
  },
  {
    name: 'an approval covers a larger amount',
    kinds: ['paid_against'],
    test: {
      file: 'server/test/orders/gate.input.test.ts',
      name: 'a blocked customer is held, until as many people as are asked let just this block pass',
    },
    changes: [{ file: GATE, from: ' && one.units >= units &&', to: ' &&' }],
  },
  {
    name: 'a refund is held for nothing',
    kinds: ['paid_against'],
    changes: [
      {
        file: GATE,
        from: '  const found = await findings(context, tx, leaving, now);\n',
        to: "  const found = leaving.purpose === 'refund' ? [] : await findings(context, tx, leaving, now);\n",
      },
    ],
  },
  {
    name: 'clearing is not asked for refunds out of suspense',
    kinds: ['paid_against'],
    changes: [
      {
        file: READY,
        from: "filter(({ origin }) => origin === 'rail');",
        to: "filter(({ origin, state }) => origin === 'rail' && state !== 'suspense');",
      },
    ],
  },
  {
    // The earlier code: a time was given to an order's own deposit only, and an order made of other money had none.
    name: 'an order made of late money does not wait until that has cleared',
    kinds: ['paid_against'],
    changes: [
      {
        file: 'src/orders/deposits/facts.ts',
        from: 'clearsAt: await clearsAtOf(context, tx, { rail: fact.rail, asset: fact.asset, seenAt: now }, found),',
        to: 'clearsAt: null,',
      },
      { file: READY, from: "if (row.clearsAt !== null || row.state !== 'suspense')", to: 'if (row !== undefined)' },
    ],
  },
  {
    name: 'each part is confirmed by its own amount and not by the sum',
    kinds: ['paid_against'],
    test: {
      file: 'server/test/rails/chain.test.ts',
      name: 'a large amount in parts waits as long as in one, and its confirmed small part is not deep enough any more',
    },
    changes: [
      {
        file: 'src/rails/chain.deposits.store.ts',
        from: '`greatest((select sum(s.units)',
        to: '`least(${deposit}.units, (select sum(s.units)',
      },
    ],
  },
  {
    name: 'what is recalled after a refund is a loss and not a debt',
    kinds: ['ends'],
    changes: [
      {
        file: 'src/orders/deposits/owed.ts',
        from: 'return [...taken, ...refunds].filter(mayHaveLeft);',
        to: 'return (order === undefined ? [...taken, ...refunds] : taken).filter(mayHaveLeft);',
      },
    ],
  },
  {
    name: 'law lets a deposit go that its bank has recalled',
    kinds: ['ends', 'paid_twice', 'books'],
    changes: [
      {
        file: 'src/orders/refunds/blocked.ts',
        from: '  const lost = lostOf(order, deposits);\n  const released =',
        to: '  const lost = lostOf(order, deposits.slice(0, 0));\n  const released =',
      },
    ],
  },
  {
    name: 'a new price keeps the old conversion',
    kinds: ['books', 'bug', 'ends', 'stuck'],
    changes: [
      {
        file: 'src/orders/machine.ts',
        from: "on: 'requoted', to: 'deposit_confirmed', post: 'reverse_conversion', then: 'screen' }",
        to: "on: 'requoted', to: 'deposit_confirmed', then: 'screen' }",
      },
    ],
  },
  {
    name: 'the limit is not asked of an order that was paid in parts',
    kinds: ['paid_against'],
    changes: [
      {
        file: GATE,
        from: 'paid.depositUnits <= limit',
        to: '(leaving.deposits.length > 1 || paid.depositUnits <= limit)',
      },
    ],
  },
  {
    name: 'the limit of a level is not asked when money leaves',
    kinds: ['paid_against'],
    changes: [{ file: GATE, from: 'limit === undefined || paid', to: 'limit !== 0n || paid' }],
  },
  {
    name: 'a fee is paid back at each request',
    kinds: ['ends', 'paid_twice'],
    changes: [
      { file: COMPENSATE, from: 'const said = before[nth - 1];', to: 'const said = before[nth + 100];' },
      { file: COMPENSATE, from: 'if (nth !== before.length + 1)', to: 'if (nth > before.length + 1)' },
      {
        file: COMPENSATE,
        from: 'const name = nameOf(input);',
        to: 'const name = `${nameOf(input)}:${now.getTime()}`;',
      },
    ],
  },
  {
    name: 'a fee is paid back out of what orders are filled from',
    kinds: ['ends'],
    changes: [
      { file: COMPENSATE, from: 'lines: move(feeAccount(fee, order), ', to: 'lines: move(chart.treasury(asset), ' },
    ],
  },
  {
    name: 'what an operator holds leaves all the same',
    kinds: ['paid_twice', 'books', 'bug', 'ends', 'paid_against', 'run'],
    changes: [
      {
        file: OPERATOR_API_ACTIONS,
        from: 'if (await cancelUnlessSubmitted(tx, key, why, now)) return;',
        to: 'return;',
      },
    ],
  },
  {
    name: 'money goes to an account in another currency',
    kinds: ['paid_against'],
    changes: [
      {
        file: 'src/orders/refunds/destinations.ts',
        from: 'if (account.fiat !== money.asset || !isTheirs)',
        to: 'if (!isTheirs)',
      },
    ],
  },
  {
    name: 'where a refund goes is not screened',
    kinds: ['paid_against'],
    changes: [
      {
        file: 'src/orders/refunds/screen.ts',
        from: '  const verdict = await screenOutside(context, screeningOf(asked));',
        to: "  const verdict = { outcome: 'cleared' as const, hits: [], rules: '', inputs: { of: screeningOf(asked).purpose ?? '' } };",
      },
    ],
  },
  {
    name: 'fees are rounded down',
    kinds: ['ends'],
    changes: [
      {
        file: 'src/quotes/price.ts',
        from: "percentage(fiatUnits, term.bps, 'up')",
        to: "percentage(fiatUnits, term.bps, 'down')",
      },
    ],
  },
  {
    name: 'nonces used after the backup are passed over and not read',
    kinds: ['paid_twice', 'lost', 'ends', 'books'],
    restore: true,
    changes: [
      { file: 'src/rails/chain.nonces.ts', from: 'await found.noteNonces(tx, rail, wallet, next, used);', to: '' },
    ],
  },
  {
    // Either guard alone is enough: nothing leaves before people have read statements, and the bank is asked before anything is sent.
    name: 'payouts go on after a restore, and a bank that does not deduplicate is not asked what it has paid',
    kinds: ['paid_twice', 'ends'],
    restore: true,
    changes: [
      {
        file: 'src/backup/post-restore.ts',
        from: "await setKillSwitch(tx, { kind: 'payouts', subject: 'all', by: BY, reason, at: now });",
        to: '',
      },
      {
        file: 'src/rails/bank.lost-time.ts',
        from: 'if (!isOlder) return await adapter.send(sending);',
        to: 'if (isOlder || !isOlder) return await adapter.send(sending);',
      },
    ],
  },
  {
    name: 'addresses and references given out after the backup are not looked at',
    kinds: ['lost', 'ends', 'books'],
    restore: true,
    changes: [
      {
        file: 'src/rails/ahead.ts',
        from: 'if (targets.length === 0) return found;',
        to: 'if (targets.length >= 0) return found;',
      },
    ],
  },
  {
    name: 'numbers given out after the backup are given out again',
    kinds: ['paid_twice', 'lost', 'ends', 'books', 'bug'],
    restore: true,
    changes: [{ file: 'src/backup/post-restore.ts', from: 'await tx.rows(KNOWN_OUTSIDE);', to: '' }],
  },
  {
    name: 'a debit that settles a payout stays booked as unexplained',
    kinds: ['books', 'ends'],
    restore: true,
    changes: [
      {
        file: 'src/orders/payouts/facts.ts',
        from: 'if (fact.undoes !== undefined) await undoDebit(context, tx, fact.rail, fact.undoes, fact.key);',
        to: '',
      },
    ],
  },
  {
    name: 'what was given for a lost order may go back as well',
    kinds: ['paid_twice', 'ends', 'books', 'bug', 'stuck'],
    restore: true,
    changes: [
      {
        file: 'src/orders/custody/correct.ts',
        from: "{ state: 'applied', bookedTo: id, takenUnits: inSuspense(row) }",
        to: "{ state: 'suspense', bookedTo: id }",
      },
    ],
  },
  {
    name: 'the signer is not asked what it has signed in the time that was lost',
    kinds: ['paid_twice', 'stuck'],
    restore: true,
    changes: [
      {
        file: 'src/rails/chain.adopt.signed.ts',
        from: 'if (account?.signedFrom === undefined || !',
        to: 'if (account?.signedFrom !== undefined || !',
      },
    ],
  },
  {
    name: 'coins go back to an address that another key has signed for',
    kinds: ['ends'],
    strays: true,
    changes: [
      {
        file: 'src/orders/deposits/payers.ts',
        from: 'if (!(await rail.isSignedBy(from, textToSign(deposit, input.address), input.signature)))',
        to: 'if (!(await rail.isSignedBy(input.address, textToSign(deposit, input.address), input.signature)))',
      },
    ],
  },
  {
    name: 'coins go back to another address than its customer has confirmed',
    kinds: ['ends'],
    strays: true,
    changes: [
      {
        file: 'src/protocols/operator/actions/payers.ts',
        from: 'if (to !== confirmed.confirmedAddress) throw',
        to: "if (to === '') throw",
      },
    ],
  },
  {
    name: 'an address that was typed and not confirmed is returned to',
    kinds: ['ends'],
    strays: true,
    changes: [
      {
        file: 'src/orders/deposits/returns.ts',
        from: 'if (!isUsable(link, asked) || link.confirmedAt !== null || link.enteredAddress !== address) return;',
        to: 'if (!isUsable(link, asked) || link.confirmedAt !== null) return;',
      },
      {
        file: 'src/orders/deposits/returns.store.ts',
        from: 'set confirmed_address = $2, confirmed_at',
        to: 'set confirmed_address = coalesce(entered_address, $2), confirmed_at',
      },
    ],
  },
  {
    name: 'a credit goes back to an account that is not the one it came from',
    kinds: ['ends', 'stuck'],
    strays: true,
    changes: [
      {
        file: 'src/orders/deposits/payers.ts',
        from: 'return { account: account.trim(), ...(name',
        to: 'return { account: account.trim().slice(0, -1), ...(name',
      },
    ],
  },
  {
    name: 'what is no dust is written off as dust',
    kinds: ['ends'],
    strays: true,
    changes: [
      {
        file: 'src/orders/deposits/dust.ts',
        from: 'if (below === undefined || row.units >= below)',
        to: 'if (below === undefined)',
      },
    ],
  },
  {
    name: 'what was dormant is woken in its row and not in the books',
    kinds: ['ends', 'books', 'stuck', 'bug'],
    strays: true,
    changes: [
      {
        file: 'src/orders/deposits/dormant.ts',
        from: 'if (found.dormantAt !== null) {',
        to: 'if (found.dormantAt !== null && found.depositId === null) {',
      },
    ],
  },
  {
    name: 'what is dormant is woken on another account than it stood on',
    kinds: ['ends', 'books', 'stuck', 'bug'],
    strays: true,
    changes: [
      {
        file: 'src/orders/deposits/dormant.ts',
        from: 'if (depositId !== null) return chart.suspense(rail, asset);',
        to: 'if (depositId !== null) return chart.rounding(asset);',
      },
    ],
  },
  {
    name: 'money leaves for a destination that is not confirmed',
    kinds: ['paid_against'],
    moves: true,
    changes: [
      {
        file: 'src/orders/payouts/judge.ts',
        from: 'if (facts.unconfirmedUntil !== undefined)',
        to: 'if (facts.unconfirmedUntil !== undefined && facts.maxAgeMs < 0)',
      },
    ],
  },
  {
    name: 'a payout that people have sent elsewhere goes where it was rejected',
    kinds: ['paid_against'],
    moves: true,
    changes: [
      {
        file: 'src/orders/payouts/elsewhere.ts',
        from: "'retried', { now, payTo: to, facts }",
        to: "'retried', { now, facts }",
      },
    ],
  },
  {
    name: 'a single bank line is stored before its order is locked',
    kinds: ['deadlock'],
    test: {
      file: 'server/test/rails/bank.pages.test.ts',
      name: 'of one line and a longer page with that line do not wait for each other in two processes',
    },
    changes: [{ file: 'src/rails/bank.ts', from: 'lines.length > 0 && (await', to: 'lines.length > 1 && (await' }],
  },
  {
    name: 'a deposit of which nothing was paid after all stays owed',
    kinds: ['ends'],
    test: {
      file: 'server/test/stories/debts.test.ts',
      name: 'a recall of blocked money whose excess was on its way back is a loss and no debt once that refund fails, unless it was paid after all',
    },
    changes: [
      {
        file: 'src/orders/refunds/settled.ts',
        from: 'else if (order !== undefined)\n    await owesNothing(',
        to: 'else if (order === undefined && false)\n    await owesNothing(',
      },
    ],
  },
  {
    name: 'a payout that a signer was asked about, and that the gate holds since, keeps its nonce for ever',
    kinds: ['stuck'],
    test: {
      file: 'server/test/rails/evm.test.ts',
      name: 'before its bytes were stored waits with its nonce, and is cancelled in the same way',
    },
    changes: [
      {
        file: SENDS,
        from: "if (answer.outcome === 'hold') await tellKept(",
        to: "if (answer.outcome === 'hold' && version.raw !== null) await tellKept(",
      },
    ],
  },
  {
    name: 'a requested refund stays where it is once its destination is named',
    kinds: ['stuck'],
    moves: true,
    changes: [
      {
        file: 'src/orders/refunds/actions.ts',
        from: "(order.state === 'on_hold' || order.state === 'payout_held') && order.refundRequest !== null)",
        to: "order.state === 'payout_held' && order.refundRequest !== null && order.receivedUnits === null)",
      },
    ],
  },
  {
    name: 'what lies beside an order that law blocks goes back',
    kinds: ['paid_against'],
    meetings: true,
    changes: [{ file: GATE, from: "...never(frozen ? 'order_frozen' : undefined),", to: '' }],
  },
  {
    name: 'a new order is made of what lies beside an order that law blocks',
    kinds: ['paid_against'],
    meetings: true,
    changes: [
      {
        file: 'src/orders/follow-on-order.ts',
        from: 'if ((await areHeld(tx, [found.row])) || (await isBlockedByLaw(tx, found.first)))',
        to: 'if (await areHeld(tx, [found.row]))',
      },
    ],
  },
  {
    name: 'a payout goes elsewhere after it was sent again while the screener was asked',
    kinds: ['paid_against'],
    test: {
      file: 'server/test/stories/elsewhere.test.ts',
      name: 'a retry to another destination whose payout was sent again and rejected meanwhile pays nothing',
    },
    changes: [
      {
        file: 'src/orders/payouts/elsewhere.ts',
        from: "if (order.version !== version) throw new Refusal('order_over', { state: order.state });",
        to: '',
      },
    ],
  },
  {
    name: 'a requested refund leaves past a hold that was laid while the screener was asked',
    kinds: ['paid_against'],
    meetings: true,
    changes: [
      {
        file: REFUNDS,
        from: "        if (!(await isToRefund(tx, locked))) throw new Refusal('order_over', { state: locked.state });\n",
        to: '',
      },
    ],
  },
  {
    name: 'what law lets go leaves before its deposit has cleared',
    kinds: ['paid_against'],
    references: true,
    changes: [
      {
        file: 'src/orders/payouts/leaving.ts',
        from: 'if (order === undefined || !deposits.some(({ origin }) => ORDERS_OWN.includes(origin))) return deposits;',
        to: "if (order === undefined || !deposits.some(({ origin }) => origin !== 'rail' && origin !== 'released')) return deposits;",
      },
    ],
  },
  {
    name: 'what a payment that was refused and made has cost is forgotten',
    kinds: ['ends'],
    contradictions: true,
    changes: [
      {
        file: 'src/orders/deposits/owed.ts',
        from: "if (row.state !== 'lost' || before !== 'applied' || units === 0n || row.lostTo !== loss.code) continue;",
        to: 'if (before === null || units >= 0n || row.lostTo !== loss.code) continue;',
      },
    ],
  },
  {
    name: 'what an unexplained debit may have paid is declared never paid',
    kinds: ['paid_twice'],
    declares: true,
    changes: [
      {
        file: 'src/rails/bank.ts',
        from: 'mayYetPay: (tx, payout) => unexplainedLike(tx, code, payout),',
        to: 'mayYetPay: async () => undefined,',
      },
    ],
  },
  {
    name: 'a deny list is not read when money leaves',
    kinds: ['paid_against'],
    rules: true,
    changes: [
      {
        file: GATE,
        from: '...[...own.hits, ...(kept?.hits ?? [])].map(',
        to: "...[...own.hits.filter((one) => one.rule !== 'destination_denied'), ...(kept?.hits ?? [])].map(",
      },
    ],
  },
  {
    name: 'a limit across orders is not asked when money leaves',
    kinds: ['paid_against'],
    test: {
      file: 'server/test/orders/gate.input.test.ts',
      name: 'an order above a limit of its customer across orders is held by that limit, and older orders count before it',
    },
    changes: [{ file: GATE, from: '...passed.map(', to: '...passed.slice(0, 0).map(' }],
  },
  {
    name: 'a result of the screener is good for ever',
    kinds: ['paid_against'],
    rules: true,
    changes: [
      {
        file: 'src/orders/payouts/judge.ts',
        from: 'screenedAt === undefined || now.getTime() - screenedAt.getTime() > maxAgeMs',
        to: 'screenedAt === undefined || maxAgeMs < 0',
      },
    ],
  },
  {
    name: 'a customer who is blocked again keeps the time of the block before',
    kinds: ['paid_against'],
    again: true,
    changes: [
      {
        file: 'src/customers/store.ts',
        from: "set blocked_at = greatest($2, blocked_at + interval '1 millisecond'), updated_at = $2,",
        to: 'set blocked_at = coalesce(blocked_at, $2), updated_at = $2,',
      },
    ],
  },
  {
    name: 'the gate finds no customer of money without an order',
    kinds: ['paid_against'],
    again: true,
    changes: [
      {
        file: LEAVING,
        from: 'order?.customerId ?? (fiatAccountId === null ? null : (await findFiatAccount(tx, fiatAccountId)).customerId);',
        to: 'order?.customerId ?? (fiatAccountId === null ? null : (await findFiatAccount(tx, fiatAccountId)) && null);',
      },
    ],
  },
  {
    name: 'the owner of the account that money of no order goes to is not screened',
    kinds: ['paid_against'],
    again: true,
    changes: [
      {
        file: LEAVING,
        from: 'customerId,\n    merchantReference',
        to: 'customerId: order === undefined ? null : customerId,\n    merchantReference',
      },
    ],
  },
  {
    name: 'a proposal to unblock does not name the block that it is about',
    kinds: ['paid_against'],
    again: true,
    changes: [
      {
        file: 'src/protocols/operator/actions/customers.ts',
        from: 'return { blocked, blockedAt, debts };',
        to: 'return { blocked, debts };',
      },
    ],
  },
  {
    name: 'a deposit that is held again keeps the time of the hold before',
    kinds: ['paid_against'],
    again: true,
    changes: [
      {
        file: 'src/orders/deposits/held.store.ts',
        from: 'const since = before === undefined || before.at < at ? at : later(before.at, 1);',
        to: 'const since = before?.at ?? later(at, 0);',
      },
    ],
  },
  {
    name: 'a proposal to release a deposit does not name the hold that it is about',
    kinds: ['paid_against'],
    again: true,
    changes: [
      {
        file: 'src/protocols/operator/actions/holds.ts',
        from: 'heldSince: held?.at ?? null }',
        to: 'heldSince: null }',
      },
    ],
  },
  {
    name: 'a proposal to lift a kill switch names neither its time nor who has set it',
    kinds: ['paid_against'],
    again: true,
    changes: [
      {
        file: 'src/protocols/operator/actions/kill-switches.ts',
        from: 'return { on: true, by: row.by, at: row.at, laidBy: laidBy.map(({ by }) => by), lastAt: laidBy.at(-1)?.at };',
        to: 'return { on: laidBy.length > 0 };',
      },
    ],
  },
  {
    name: 'a kill switch that the same person sets again is the one before',
    kinds: ['paid_against'],
    again: true,
    changes: [
      {
        file: 'src/partners/kill-switches.ts',
        from: 'else if (by !== MACHINE || own.reason !== reason) {',
        to: "else if (own.reason === '' && own.reason !== reason) {",
      },
    ],
  },
  {
    name: 'a proposal is confirmed whatever has changed since',
    kinds: ['paid_against'],
    again: true,
    changes: [
      {
        file: 'src/operators/proposals.ts',
        from: 'canonical(row.seen) === canonical(now);',
        to: 'canonical(row.seen) !== undefined || canonical(now) === undefined;',
      },
    ],
  },
  {
    name: 'a kill switch is not asked when a transfer to an own address leaves',
    kinds: ['paid_against'],
    own: true,
    changes: [
      {
        file: TRANSFERS,
        from: "if (await rules.isSwitchedOff(tx, rail)) return { outcome: 'wait', why: 'a kill switch is on' };",
        to: '',
      },
    ],
  },
  {
    name: 'a deny list is not asked when a transfer to an own address leaves',
    kinds: ['paid_against'],
    test: {
      file: 'server/test/stories/own-address.test.ts',
      name: 'an address on a deny list gets nothing, however many agreed before, and a cancelled transfer frees its money',
    },
    changes: [
      {
        file: TRANSFERS,
        from: "if (await isDenied(rules, tx, to)) return held('screening denies its address');",
        to: '',
      },
    ],
  },
  {
    name: 'a transfer leaves for an address whose registration has ended',
    kinds: ['paid_against'],
    own: true,
    changes: [
      {
        file: TRANSFERS,
        from: "if (to.endedAt !== null) return held('its address is no longer registered as ours');",
        to: '',
      },
    ],
  },
  {
    name: 'a transfer leaves although the rules now ask for a third person',
    kinds: ['paid_against'],
    test: {
      file: 'server/test/stories/own-address.test.ts',
      name: 'a rule that asks for more people by now holds what fewer agreed to',
    },
    changes: [{ file: TRANSFERS, from: 'if (new Set(people).size < needed) return', to: 'if (needed === 0) return' }],
  },
  {
    // The proposal asks, and the confirmation asks again under the lock of the accounts.
    name: 'a transfer to an own address takes the wallet below its low threshold',
    kinds: ['paid_against'],
    own: true,
    changes: [
      {
        file: TRANSFER_DESK,
        from: 'return units - heldUnits - (threshold?.lowUnits ?? 0n);',
        to: 'return units - heldUnits - (threshold === undefined ? 0n : 0n);',
      },
    ],
  },
  {
    name: 'signed bytes that may not be broadcast yet are broadcast by the next process without a question',
    kinds: ['paid_against'],
    changes: [
      {
        file: SENDS,
        from: 'const kept = has.isAsked ? undefined : await whyKept(engine, versions);',
        to: 'const kept = has.isAsked || versions.length > 0 ? undefined : await whyKept(engine, versions);',
      },
      {
        file: SENDS,
        from: "const why = await whyKept(engine, versions);\n    if (why !== undefined) return { outcome: 'unknown', why };",
        to: '',
      },
    ],
  },
  {
    name: 'a transfer whose answer was lost is made once more under a new key',
    kinds: ['paid_twice'],
    own: true,
    changes: [
      {
        file: TRANSFERS,
        from: "import type { Handlers } from '../base/jobs.ts';",
        to: "import { enqueue, type Handlers } from '../base/jobs.ts';",
      },
      {
        file: TRANSFERS,
        from: "import { chart, isPosted, move, post, release, settle } from '../ledger/index.ts';",
        to: "import { chart, hold, isPosted, move, post, release, settle } from '../ledger/index.ts';",
      },
      {
        file: TRANSFERS,
        from: '  else await noted(context, row, sent.why);\n  return WAIT_MS;',
        to: `  else
    await db.asSystem(async (tx) => {
      const now = context.clock.now();
      const next = await store.write(tx, { ...row, now });
      const [from, to] = [row.wallet, ownWallet(row.addressId)].map((wallet) => chart.custody(row.rail, wallet, asset));
      await post(tx, { id: next.key, kind: 'transfer_held', at: now, lines: hold(next.key, to!, from!, units) });
      enqueue(tx, { kind: TRANSFER, subject: next.key, dueAt: now });
    });
  return WAIT_MS;`,
      },
    ],
  },
  {
    // Either is enough: a restore switches payouts off, and a transaction to the same recipient is undecided.
    name: 'what left for an own address in the lost time is sent again, past the switch and past its movement',
    kinds: ['paid_twice'],
    own: true,
    restore: true,
    changes: [
      {
        file: TRANSFERS,
        from: "if (await rules.isSwitchedOff(tx, rail)) return { outcome: 'wait', why: 'a kill switch is on' };",
        to: '',
      },
      {
        file: SENDS,
        from: 'const why = unknown ?? (await whyLost(engine, tx, wallet, { recipient, asset }));',
        to: 'const why = unknown ?? (key.startsWith(TRANSFER_KEY) ? undefined : await whyLost(engine, tx, wallet, { recipient, asset }));',
      },
    ],
  },
  {
    name: 'a transfer is cancelled although a transaction of it is signed',
    kinds: ['ends', 'books', 'bug', 'stuck'],
    own: true,
    changes: [
      {
        file: TRANSFER_DESK,
        from: 'if (await hasSend(tx, row.rail, row.key))',
        to: "if ((await hasSend(tx, row.rail, row.key)) && row.state === 'settled')",
      },
    ],
  },
  {
    name: 'a cap on promises does not count unpaid orders',
    kinds: ['promised'],
    capped: true,
    changes: [
      {
        file: CREATE,
        from: 'requireWithin(cap, { asked: worthOnMarket(input.market, quote), live, fiat });',
        to: 'void live;',
      },
    ],
  },
  {
    name: 'a cap on promises is counted without its lock',
    kinds: ['promised'],
    capped: true,
    changes: [
      {
        file: LIMITS,
        from: 'if (cap !== null) tx.defer(sql.lockExposure, [`exposure ${partnerId} ${fiat}`]);',
        to: '',
      },
    ],
  },
  {
    name: 'a price is believed at once, however far it jumped',
    kinds: ['promised'],
    wild: true,
    changes: [
      {
        file: BREAKER,
        from: 'if (before.level !== null && !isNear(rate, before.level, rules.jumpBps))',
        to: 'if (before.level !== null && !isNear(rate, rate, rules.jumpBps))',
      },
    ],
  },
];

/** By name, the seed that last found it (`--note`): tried first, and only a hint. */
const SEEDS = join(import.meta.dirname, 'mutants.seeds.json');
const notedSeeds = (): Record<string, number> => JSON.parse(readFileSync(SEEDS, 'utf8')) as Record<string, number>;

const root = resolve(import.meta.dirname, '..', '..', '..');

/**
 * Hunts each. A worker is a PostgreSQL, on which a process with the bug and one without it play in turn; only a bug in the
 * migrations needs another.
 */
export async function findMutants(options: {
  command: string;
  seeds: readonly [number, number];
  orders: number;
  workers: number;
  /** Part of a name, or several separated by `|`: only those. */
  only?: string;
  /** Notes the seeds that found them. */
  note: boolean;
  /** Mutants found before are not hunted again. */
  journal: Journal;
}): Promise<Hunt> {
  const began = performance.now();
  const { command, orders, only = '', note, journal } = options;
  const hints = notedSeeds();
  const chosen = MUTANTS.filter(({ name }) => only.split('|').some((part) => name.includes(part)));
  const nameOf = ({ name }: Mutant): string => `${name}, ${orders} orders`;
  const clean = new Map<string, Promise<boolean>>();
  const kept = chosen.map((mutant) => journal.known<Kept>(nameOf(mutant)));
  const mutants: Hunted[] = [];
  let keptMs = 0;
  for (const [at, one] of kept.entries()) {
    if (one === undefined) continue;
    mutants[at] = one.found;
    keptMs += one.ms / options.workers;
  }
  const waiting = [...chosen.entries()].filter(([at]) => kept[at] === undefined);

  async function worker(cpu: number): Promise<void> {
    const unmutated = await openWorkers(1, { cpu });
    const isClean = (seed: number, restore?: true): Promise<boolean> => {
      const name = `${seed} ${restore}`;
      const known = clean.get(name) ?? playOne(unmutated, { seed, orders, restore }).then(({ length }) => length === 0);
      clean.set(name, known);
      return known;
    };
    try {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const [at, mutant] = next;
        const hint = hints[mutant.name];
        const huntedFrom = performance.now();
        const found = await hunt(mutant, { ...options, hint, isClean, place: unmutated.places[0], cpu });
        mutants[at] = found;
        if (found.found) journal.keep(nameOf(mutant), { found, ms: performance.now() - huntedFrom } satisfies Kept);
        // After each: an interrupted hunt keeps what it has found.
        if (note) noteSeeds(mutants);
      }
    } finally {
      await unmutated.close();
    }
  }
  await Promise.all(Array.from({ length: Math.min(options.workers, waiting.length) }, (_, cpu) => worker(cpu)));

  const found = mutants.filter((one) => one.found).length;
  console.log(`${found} of ${mutants.length} mutants found`);
  const seconds = Math.round((performance.now() - began + keptMs) / 100) / 10;
  return { command, seconds, planted: mutants.length, found, mutants };
}

/** The journal's record of a planted bug that was found. */
interface Kept {
  found: Hunted;
  ms: number;
}

/** In the order in which they are planted; those not hunted, or not found, keep their earlier record. */
function noteSeeds(hunted: readonly Hunted[]): void {
  const before = notedSeeds();
  const seeds = MUTANTS.flatMap(({ name }) => {
    const seed = hunted.find((one) => one?.mutant === name)?.seed ?? before[name];
    return seed === undefined ? [] : [[name, seed] as const];
  });
  writeFileSync(SEEDS, `${JSON.stringify(Object.fromEntries(seeds), undefined, 2)}\n`);
}

interface Hunting {
  hint: number | undefined;
  seeds: readonly [number, number];
  orders: number;
  isClean: (seed: number, restore?: true) => Promise<boolean>;
  place: Place | undefined;
  cpu: number;
}

async function hunt(mutant: Mutant, hunting: Hunting): Promise<Hunted> {
  const files = filesOf(mutant);
  const copy = mkdtempSync(join(tmpdir(), 'cloverleaf-mutant-'));
  try {
    plant(copy, mutant);
    if (mutant.test !== undefined) return await huntByTest(copy, mutant, mutant.test);
    const isInSchema = files.some((file) => file.startsWith('migrations/'));
    const open = await openWorkers(1, {
      root: copy,
      place: isInSchema ? undefined : hunting.place,
      cpu: hunting.cpu,
    });
    const found = await find(open, mutant, { ...hunting, copy }).finally(() => open.close());
    const by = found === undefined ? 'NOT FOUND' : `seed ${found.seed}`;
    const stale =
      hunting.hint === undefined || found?.seed === hunting.hint ? '' : `, and not seed ${hunting.hint} any more`;
    console.log(`${by.padEnd(9)} ${mutant.name} (${files.join(', ')})${stale}`);
    if (found !== undefined) console.log(`          ${found.kind}: ${found.violation}`);
    return { mutant: mutant.name, files, found: found !== undefined, ...found };
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

const filesOf = ({ changes }: Mutant): string[] => [...new Set(changes.map(({ file }) => file))];

/** The test passes on the source as it is, and fails on the copy with the bug. */
async function huntByTest(
  copy: string,
  mutant: Mutant,
  { file, name }: { file: string; name: string },
): Promise<Hunted> {
  const [ours, planted] = [await runTest(root, file, name), await runTest(copy, file, name)];
  const found = ours.passed && !planted.passed && planted.said.includes(`\u2716 ${name}`);
  console.log(`${found ? `test ${basename(file)}` : 'NOT FOUND'} ${mutant.name} (${filesOf(mutant).join(', ')})`);
  if (!ours.passed) console.log(`          ${file} fails without it: ${ours.said.slice(-300)}`);
  return { mutant: mutant.name, files: filesOf(mutant), found, ...(found ? { test: file, violation: name } : {}) };
}

async function runTest(folder: string, file: string, name: string): Promise<{ passed: boolean; said: string }> {
  const args = ['scripts/test.ts', file, '--name', escaped(name), '--retries', '0'];
  const child = spawn(process.execPath, args, { cwd: folder, stdio: ['ignore', 'pipe', 'inherit'] });
  const [said, code] = await Promise.all([text(child.stdout), once(child, 'close').then(([ended]) => ended)]);
  return { passed: code === 0, said };
}

const escaped = (name: string): string => name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** The hinted seed, or else the lowest. */
async function find(
  open: Workers,
  {
    name,
    kinds,
    restore,
    strays,
    moves,
    meetings,
    references,
    contradictions,
    rules,
    again,
    own,
    capped,
    wild,
    declares: ofDeclared,
    forgets: ofForgetful,
  }: Mutant,
  { seeds: [from, to], orders, hint, isClean, copy }: Hunting & { copy: string },
) {
  const all = Array.from({ length: to - from + 1 }, (_, n) => from + n).filter(
    (seed) =>
      (strays !== true || hasStrays(seed)) &&
      (moves !== true || hasMoves(seed)) &&
      (meetings !== true || hasMeetings(seed)) &&
      (references !== true || lacksReferences(seed)) &&
      (contradictions !== true || contradicts(seed)) &&
      (rules !== true || changesRules(seed)) &&
      (again !== true || laysAgain(seed)) &&
      (own !== true || sendsToOwn(seed)) &&
      (capped !== true || hasCap(seed)) &&
      (wild !== true || goesWild(seed)) &&
      (ofDeclared !== true || declares(seed)) &&
      (ofForgetful !== true || forgets(seed)),
  );
  const hinted = hint !== undefined && hint >= from && hint <= to ? [hint] : [];
  for (const seed of [...hinted, ...all.filter((one) => one !== hint)]) {
    const violations = await playOne(open, { seed, orders, restore }, kinds);
    // A planted bug that names a missing symbol only throws: it shows nothing.
    const broken = violations.find(({ what }) => what.includes('ReferenceError'));
    if (broken !== undefined) throw new Error(`${name}: is planted wrongly: ${broken.what.slice(0, 300)}`);
    const fits = violations.find(({ kind }) => kinds.includes(kind));
    if (fits === undefined || !(await isClean(seed, restore))) continue;
    // The traces of errors name the copy: results are committed, and it is gone by then.
    return { seed, kind: fits.kind, violation: fits.what.replaceAll(`file://${copy}/`, '').slice(0, 300) };
  }
  return undefined;
}

async function playOne(
  open: Workers,
  { seed, orders, restore }: { seed: number; orders: number; restore: true | undefined },
  until: readonly Kind[] = [],
): Promise<Violation[]> {
  let found: Violation[] = [];
  await open.play([{ seed, orders, until, ...(restore === true ? { restore } : {}) }], ({ violations }) => {
    found = violations;
    return undefined;
  });
  return found;
}

/** Those that no longer apply, in sentences: the source has changed. */
export function misplaced(): string[] {
  const unknown = Object.keys(notedSeeds()).filter((noted) => !MUTANTS.some(({ name }) => name === noted));
  return [
    ...unknown.map((name) => `${name}: a seed is noted of it, and it is not planted`),
    ...MUTANTS.flatMap(({ name, changes }) =>
      changes
        .filter(({ file, from }) => readFileSync(join(root, 'server', file), 'utf8').split(from).length !== 2)
        .map(({ file }) => `${name}: what it changes in ${file} does not stand there once`),
    ),
    ...MUTANTS.flatMap(({ name, test }) =>
      test === undefined || readFileSync(join(root, test.file), 'utf8').includes(`'${test.name}'`)
        ? []
        : [`${name}: ${test.file} has no test "${test.name}"`],
    ),
  ];
}

/** TypeScript's errors about a missing name, property or module. A planted bug may violate any other rule of types. */
const NO_SUCH_NAME = /error TS(?:2304|2305|2307|2551|2552|2724): /;

/**
 * Planted bugs that name symbols missing in the source, in sentences: each would only throw, and show nothing. Every changed file
 * is beside its original, in a copy, and TypeScript reads them all at once, with what they import.
 */
export function misnamed(): string[] {
  const copy = mkdtempSync(join(tmpdir(), 'cloverleaf-planted-'));
  try {
    for (const part of ['server/src', 'tsconfig.json', 'package.json'])
      cpSync(join(root, part), join(copy, part), { recursive: true });
    symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
    const owners = new Map<string, string>();
    for (const [at, { name, changes }] of MUTANTS.entries()) {
      const changed = changes.filter(({ file }) => file.endsWith('.ts'));
      for (const file of new Set(changed.map((change) => change.file))) {
        const beside = join('server', file.replace(/\.ts$/, `.planted${at}.ts`));
        owners.set(beside, name);
        const own = changed.filter((change) => change.file === file);
        const text = own.reduce(
          (before, { from, to }) => before.replace(from, () => to),
          readFileSync(join(root, 'server', file), 'utf8'),
        );
        writeFileSync(join(copy, beside), text);
      }
    }
    const tsc = join(root, 'node_modules', '.bin', 'tsc');
    // The changed files, and what they import: reading tests and tools with them takes twice as long, and shows no more.
    writeFileSync(
      join(copy, 'planted.json'),
      JSON.stringify({ extends: './tsconfig.json', include: [], files: [...owners.keys()] }),
    );
    const { stdout, error } = spawnSync(process.execPath, [tsc, '--noEmit', '-p', 'planted.json'], {
      cwd: copy,
      encoding: 'utf8',
    });
    if (error !== undefined) throw error;
    // With its place: what tsc says of its settings has none, and then it has read nothing.
    if (/^error TS/m.test(stdout)) throw new Error(stdout.slice(0, 1_000));
    return stdout
      .split('\n')
      .filter((line) => NO_SUCH_NAME.test(line))
      .map((line) => `${owners.get(line.slice(0, line.indexOf('('))) ?? 'no planted bug'}: ${line}`);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

function plant(copy: string, { name, changes }: Mutant): void {
  for (const part of [
    'server/src',
    'server/test',
    'server/migrations',
    'server/package.json',
    'scripts',
    'package.json',
  ])
    cpSync(join(root, part), join(copy, part), { recursive: true });
  symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
  for (const { file, from, to } of changes) {
    const path = join(copy, 'server', file);
    const text = readFileSync(path, 'utf8');
    if (text.split(from).length !== 2) throw new Error(`${name}: what it changes in ${file} does not stand there once`);
    writeFileSync(
      path,
      text.replace(from, () => to),
    );
  }
}

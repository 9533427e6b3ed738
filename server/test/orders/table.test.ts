/**
 * The order machine, written a second time: each transition must be listed here and there. The invariants of the table (nothing
 * is paid twice, every state ends) are in machine.test.ts.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  isFinal,
  isWaiting,
  legalFrom,
  next,
  type OrderEvent,
  type OrderState,
  STATES,
  TRANSITIONS,
} from '../../src/orders/machine.ts';

/** from · event · to · entry · due work */
const TABLE = `
created            deposit_seen       deposit_seen       -                                  -
created            requoted           created            -                                  -
created            deadline_passed    expired            -                                  -
created            cancelled          cancelled          -                                  -
created            deposit_confirmed  deposit_confirmed  receive                            screen
deposit_seen       deposit_confirmed  deposit_confirmed  receive                            screen
deposit_seen       deposit_reversed   created            -                                  expire
deposit_confirmed  requoted           deposit_confirmed  -                                  -
deposit_confirmed  cleared            paying_out         convert_and_hold                   send_payout
deposit_confirmed  short              awaiting_liquidity -                                  await_liquidity
deposit_confirmed  held               on_hold            -                                  open_case
awaiting_liquidity funded             paying_out         convert_and_hold                   send_payout
awaiting_liquidity held               on_hold            -                                  open_case
awaiting_liquidity requoted           deposit_confirmed  -                                  screen
on_hold            released           paying_out         convert_and_hold                   send_payout
on_hold            payout_found       settled            convert_and_payout_found           -
on_hold            short              awaiting_liquidity -                                  await_liquidity
on_hold            requoted           deposit_confirmed  -                                  screen
on_hold            refund_requested           refunding          hold_refund                        send_refund
on_hold            deposit_gone       cancelled          give_up_deposit                    -
on_hold            blocked            frozen             move_to_blocked                    report
paying_out         payout_settled     settled            settle_payout                      -
paying_out         payout_rejected      payout_held        void_payout                        open_case
payout_held        payout_found       settled            payout_found                       -
payout_held        requoted           deposit_confirmed  reverse_conversion                 screen
on_hold            held               on_hold            -                                  open_case
refund_held        held               refund_held        -                                  open_case
payout_held        held               payout_held        -                                  open_case
payout_held        released           payout_held        -                                  open_case
payout_held        retried            paying_out         hold_payout                        send_payout
payout_held        refund_requested           refunding          reverse_conversion_and_hold_refund send_refund
payout_held        deposit_gone       cancelled          reverse_conversion_and_give_up     -
payout_held        blocked            frozen             move_to_blocked                    report
refunding          refund_settled     refunded           settle_refund                      -
refunding          refund_rejected      refund_held        void_refund                        open_case
refund_held        refund_found       refunded           refund_found                       -
refund_held        payout_found       settled            convert_and_payout_found           -
refund_held        retried            refunding          hold_refund                        send_refund
refund_held        deposit_gone       cancelled          give_up_deposit                    -
refund_held        rest_gone          refunded           give_up_deposit                    -
refund_held        blocked            frozen             move_to_blocked                    report
`;
const rows = TABLE.trim()
  .split('\n')
  .map((line) => line.split(/\s+/) as [OrderState, OrderEvent, OrderState, string, string]);
const HOLDS: Record<OrderState, string> = {
  created: 'nothing',
  deposit_seen: 'nothing',
  deposit_confirmed: 'the deposit',
  awaiting_liquidity: 'the deposit',
  on_hold: 'the deposit',
  paying_out: 'the payout, held',
  payout_held: 'the payout',
  refunding: 'the deposit, held',
  refund_held: 'the deposit',
  settled: 'nothing',
  refunded: 'nothing',
  expired: 'nothing',
  cancelled: 'nothing',
  frozen: 'nothing',
};
const FINAL: OrderState[] = ['settled', 'refunded', 'expired', 'cancelled', 'frozen'];
const states = Object.keys(HOLDS) as OrderState[];

test('every transition is one of these, with its entry and its work', () => {
  const found = TRANSITIONS.flatMap(({ from, on, to, post = '-', then = '-' }) =>
    from.map((state) => [state, on, to, post, then].join(' ')),
  );
  assert.deepEqual(found.toSorted(), rows.map((row) => row.join(' ')).toSorted());
});

test('an event in a state is the transition of the table, and in any other state none', () => {
  for (const state of states) {
    for (const [, event] of rows) {
      const row = rows.find(([from, on]) => from === state && on === event);
      assert.equal(next(state, event)?.to, row?.[2], `${state} ${event}`);
    }
  }
});

test('an event is legal only in the table’s rows, and leads only to their states', () => {
  for (const [, event, to] of rows) {
    const from = rows.filter((row) => row[1] === event && row[2] === to).map(([state]) => state);
    assert.deepEqual(legalFrom(event, to).toSorted(), from.toSorted(), `${event} to ${to}`);
  }
  assert.deepEqual(legalFrom('cleared', 'settled'), []);
});

test('each state’s holdings, whether it ends, and whether it waits for someone, match the table', () => {
  assert.deepEqual(Object.fromEntries(Object.entries(STATES).map(([state, { holds }]) => [state, holds])), HOLDS);
  assert.deepEqual(states.filter(isFinal), FINAL);
  assert.deepEqual(
    states.filter(isWaiting),
    states.filter((state) => state !== 'created' && !FINAL.includes(state)),
  );
});

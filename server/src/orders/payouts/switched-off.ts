/**
 * Overdue orders that a kill switch stops: their payouts and refunds are created, and wait until the switch is lifted.
 *
 * No operator has to act per order, so there is one case per kill switch, however many orders it stops. It closes when the switch is
 * lifted, or stops no overdue order any more. An order that is then still overdue gets a case of its own, at its next check. A job
 * maintains the case, in a transaction that locks no order.
 */
import type { Tx } from '../../base/db.ts';
import { enqueue, type Handled, type Handlers } from '../../base/jobs.ts';
import { closeCases, upsertCase } from '../../compliance/index.ts';
import { type KillSwitch, killSwitches } from '../../partners/index.ts';
import { payoutsOf } from '../../rails/payouts.ts';
import type { OrdersContext } from '../context.ts';
import type { Order } from '../store.ts';

const CHECK = 'check_switched_off';
const EVERY_MS = 60_000;

const OVERDUE = `select count(distinct o.id)::int as orders, min(o.id) as first from orders o join payouts p on p.order_id = o.id
  where o.overdue and o.waits_until is not null and o.state in ('paying_out', 'refunding')
    and p.state = 'created' and p.ended_at is null and (o.state = 'paying_out') = (p.refund_id is null)
    and ($1::text is null or p.rail = $1)`;

const nameOf = ({ kind, subject }: Pick<KillSwitch, 'kind' | 'subject'>): string => `${kind}:${subject}`;

/** The kill switch that stops everything that this order has to submit, if there is one. */
export async function switchedOffBy(tx: Tx, { id, state }: Order): Promise<KillSwitch | undefined> {
  if (state !== 'paying_out' && state !== 'refunding') return undefined;
  const open = (await payoutsOf(tx, id)).filter(
    (one) => one.endedAt === null && (one.refundId === null) === (state === 'paying_out'),
  );
  if (open.length === 0 || open.some((one) => one.state !== 'created')) return undefined;
  const rails = open.map(({ rail }) => rail);
  return (await killSwitches(tx)).find(
    ({ kind, subject }) => kind === 'payouts' || (kind === 'rail' && rails.every((rail) => rail === subject)),
  );
}

/** Enqueues an update of the switch's case: an order that it stops is overdue. */
export const switchedOffIsOverdue = (tx: Tx, by: KillSwitch, now: Date): void =>
  enqueue(tx, { kind: CHECK, subject: nameOf(by), dueAt: now });

export function switchedOffHandlers({ db, clock }: Pick<OrdersContext, 'db' | 'clock'>): Handlers {
  return {
    [CHECK]: (name) =>
      db.asSystem(async (tx): Promise<Handled> => {
        const now = clock.now();
        const about = { kind: 'overdue', subject: `kill_switch:${name}` } as const;
        const by = (await killSwitches(tx)).find((one) => nameOf(one) === name);
        if (by === undefined) {
          await closeCases(tx, { ...about, outcome: 'the kill switch was lifted', now });
          return undefined;
        }
        const found = await tx.row<{ orders: number; first: bigint | null }>(OVERDUE, [
          by.kind === 'rail' ? by.subject : null,
        ]);
        if (found === undefined || found.first === null) {
          await closeCases(tx, { ...about, outcome: 'it stops no overdue order any more', now });
          return undefined;
        }
        const { orders, first } = found;
        await upsertCase(tx, {
          ...about,
          reason:
            `${orders} order${orders === 1 ? ' has' : 's have'} waited for longer than allowed, first order ${first}: ` +
            `a kill switch is on (${by.kind} ${by.subject}) since ${by.at.toISOString()}, set by ${by.by}: ${by.reason}`,
          facts: { orders, first: String(first), kind: by.kind, subject: by.subject },
          now,
        });
        return { againInMs: EVERY_MS };
      }),
  };
}

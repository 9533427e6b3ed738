/**
 * Reads of our own money. Wallet balances come from the desk that the composition opens; amounts owed by orders, from their rows.
 */

import { Refusal } from '../../base/errors.ts';
import { custodyAt } from '../../ledger/index.ts';
import { exposure, shortfalls } from '../../orders/index.ts';
import { allMarkets, assets } from '../../partners/index.ts';
import { TREASURY } from './declared/treasury.ts';
import { amountsIn, type Read, read } from './read.ts';

/** Sort order: alarm first, then low, then ok. */
const gravity = (state: string): number => ['alarm', 'low'].indexOf(state) + (state === 'ok' ? 3 : 0);

const STEP_MS = { day: 86_400_000, hour: 3_600_000 } as const;

/**
 * The instants of a chart, the last one `until`. By days, those before it are the beginnings of days (UTC), which the daily totals
 * answer alone.
 */
function pointsOf(until: Date, step: keyof typeof STEP_MS, steps: number): Date[] {
  const stepMs = STEP_MS[step];
  const last = step === 'day' ? Math.floor((until.getTime() - 1) / stepMs) * stepMs : until.getTime() - stepMs;
  return Array.from({ length: steps + 1 }, (_, n) => (n === steps ? until : new Date(last - (steps - 1 - n) * stepMs)));
}

export const TREASURY_READS: readonly Read[] = [
  read({
    ...TREASURY.levels,
    async answer({ treasury }, tx) {
      const waiting = new Map((await shortfalls(tx)).map((one) => [`${one.rail} ${one.asset}`, one]));
      const levels = (await treasury.levels(tx)).map((one) => {
        const { orders = 0n, units = 0n } = waiting.get(`${one.rail} ${one.asset}`) ?? {};
        const short = one.lowUnits - one.freeUnits;
        return {
          ...{ rail: one.rail, wallet: one.wallet, asset: one.asset, account: one.account, state: one.state },
          ...{ freeUnits: one.freeUnits, lowUnits: one.lowUnits, alarmUnits: one.alarmUnits },
          ...{ missingUnits: short > 0n ? short : 0n, waitingOrders: String(orders), waitingUnits: units },
          ...{ outsideUnits: one.outsideUnits, readAt: one.readAt },
        };
      });
      return { levels: levels.toSorted((one, other) => gravity(one.state) - gravity(other.state)) };
    },
  }),
  read({
    ...TREASURY.balances,
    async answer({ treasury }, tx) {
      const balances = (await treasury.balances(tx)).map((one) => ({
        ...{ rail: one.rail, wallet: one.wallet, asset: one.asset },
        ...{ ledgerUnits: one.ledgerUnits, outsideUnits: one.outsideUnits },
        differenceUnits: one.outsideUnits === null ? null : one.outsideUnits - one.ledgerUnits,
        ...{ transitUnits: one.transitUnits, breaks: String(one.breaks), comparedAt: one.comparedAt },
      }));
      return { balances };
    },
  }),
  read({
    ...TREASURY.history,
    async answer({ clock }, tx, { until = clock.now(), step = 'day', steps = 30, asset }) {
      if (asset !== undefined && !(await assets(tx)).has(asset))
        throw new Refusal('malformed_field', { fields: { asset: 'must be the code of an asset' } });
      const amount = await amountsIn(tx);
      const found = await custodyAt(tx, { at: pointsOf(until, step, steps), asset });
      return { history: found.map((one) => ({ ...one, units: amount(one.units, one.asset) })) };
    },
  }),
  read({
    ...TREASURY.exposure,
    async answer(_deps, tx) {
      const amount = await amountsIn(tx);
      const directions = new Map((await allMarkets(tx)).map(({ id, direction }) => [id, direction]));
      const rows = (await exposure(tx)).map((one) => ({
        ...{ marketId: one.marketId, direction: directions.get(one.marketId) },
        ...{ unpaid: String(one.unpaid), depositAsset: one.depositAsset },
        unpaidDepositUnits: amount(one.unpaidDepositUnits, one.depositAsset),
        receivedUnits: amount(one.receivedUnits, one.depositAsset),
        ...{ owed: String(one.owed), payoutAsset: one.payoutAsset },
        unpaidPayoutUnits: amount(one.unpaidPayoutUnits, one.payoutAsset),
        owedPayoutUnits: amount(one.owedPayoutUnits, one.payoutAsset),
      }));
      return { exposure: rows };
    },
  }),
  read({
    ...TREASURY.transfers,
    async answer({ treasury }, tx, { after, limit: most = 50 }) {
      const found = await treasury.transfers(tx, { after, limit: most + 1 });
      const transfers = found.slice(0, most).map((one) => ({
        ...{ key: one.key, kind: one.kind, rail: one.rail, asset: one.asset, units: one.units, state: one.state },
        ...{ why: one.why, reference: one.reference, createdAt: one.createdAt, endedAt: one.endedAt },
      }));
      return { transfers, next: found.length > most ? transfers.at(-1)?.key : null };
    },
  }),
  read({
    ...TREASURY.addresses,
    async answer({ transfers }, tx) {
      const addresses = (await transfers.addresses(tx)).map((one) => ({
        ...{ id: one.id, rail: one.rail, address: one.address, label: one.label, wallet: `own.${one.id}` },
        ...{ registeredBy: one.registeredBy, registeredAt: one.registeredAt },
        ...{ usableAt: one.usableAt, endedAt: one.endedAt },
      }));
      return { addresses };
    },
  }),
  read({
    ...TREASURY.ownTransfers,
    async answer({ transfers }, tx, { below, limit: most = 50 }) {
      const found = await transfers.transfers(tx, { below, limit: most + 1 });
      const shown = found.slice(0, most).map((one) => ({
        ...{ id: one.id, key: one.key, own: one.addressId, rail: one.rail, target: one.target },
        ...{ asset: one.asset, units: one.units, people: one.people, state: one.state, why: one.why },
        ...{ reference: one.reference, createdAt: one.createdAt, endedAt: one.endedAt },
      }));
      return { transfers: shown, next: found.length > most ? String(shown.at(-1)?.id) : null };
    },
  }),
];

/**
 * The desk of own addresses: what operators decide about addresses outside this server and about transfers to them. Each function
 * runs in the transaction of an operator's action. The job in transfers.ts sends the transfers that are created here.
 */
import type { Clock } from '../base/clock.ts';
import { later } from '../base/clock.ts';
import type { Tx } from '../base/db.ts';
import { Refusal } from '../base/errors.ts';
import { enqueue } from '../base/jobs.ts';
import { closeCases } from '../compliance/index.ts';
import { balance, chart, hold, post, release } from '../ledger/index.ts';
import { shortfalls } from '../orders/index.ts';
import { type ChainRail, hasSend, ownWallet } from '../rails/chain.ts';
import { thresholds } from './store.ts';
import * as store from './transfers.store.ts';
import { isDenied, TRANSFER, type TransferRules } from './transfers.ts';

interface DeskContext {
  clock: Clock;
  chains: ReadonlyMap<string, ChainRail>;
  rules: Pick<TransferRules, 'screenOwn'>;
  /** How long a registered address waits before it can be used, in milliseconds. */
  coolingOffMs: number;
}

const unfit = (why: string): Refusal => new Refusal('does_not_fit', { why });

function chainOf(chains: ReadonlyMap<string, ChainRail>, code: string): ChainRail {
  const rail = chains.get(code);
  if (rail === undefined) throw new Refusal('malformed_field', { fields: { rail: 'must be the code of a chain' } });
  return rail;
}

async function addressOf(tx: Tx, id: bigint): Promise<store.OwnAddress> {
  const found = await store.shareAddress(tx, id);
  if (found === undefined) throw new Refusal('unknown_own_address');
  return found;
}

/** What operators decide about own addresses and transfers to them. */
export const openTransfers = (context: DeskContext) => ({ ...addressDesk(context), ...transferDesk(context) });

function addressDesk({ chains, rules, coolingOffMs }: DeskContext) {
  /** @throws Refusal 'does_not_fit' | 'destination_held' | 'malformed_field' */
  async function requireNew(tx: Tx, { rail: code, address }: { rail: string; address: string }): Promise<void> {
    const rail = chainOf(chains, code);
    if (rail.readAddress?.(address) !== address)
      throw new Refusal('malformed_field', { fields: { address: `must be an address of ${code}` } });
    if (await rail.isOwnAddress?.(tx, address))
      throw unfit('it is a wallet or deposit address of this server, and no own address outside it');
    const there = await store.addressAt(tx, code, address);
    if (there !== undefined && there.endedAt === null) throw unfit(`it is registered as own address ${there.id}`);
    if (there === undefined && (await store.addresses(tx)).length >= store.MAX_ADDRESSES)
      throw unfit(`at most ${store.MAX_ADDRESSES} addresses are registered`);
    if (await store.isCustomers(tx, { rail: code, address }))
      throw unfit('money of customers was, or is to be, paid there: it is no address of ours');
    if (await isDenied(rules, tx, { id: there?.id ?? 0n, rail: code, address })) throw new Refusal('destination_held');
  }

  return {
    addresses: store.addresses,
    /** An address in its rail's normal spelling. @throws Refusal 'malformed_field' */
    spelled(rail: string, address: string): string {
      const read = chainOf(chains, rail).readAddress?.(address);
      if (read === undefined)
        throw new Refusal('malformed_field', { fields: { address: `must be an address of ${rail}` } });
      return read;
    },
    addressOf,
    addressAt: store.addressAt,
    requireNew,

    /** @returns the address's id @throws Refusal as `requireNew` */
    async register(
      tx: Tx,
      a: { rail: string; address: string; label: string; by: string; now: Date },
    ): Promise<bigint> {
      await store.lockAddresses(tx);
      await requireNew(tx, a);
      const made = await store.register(tx, { ...a, usableAt: later(a.now, coolingOffMs) });
      if (made === undefined) throw unfit('it is registered already');
      return made.id;
    },

    /** Ends the use of an address: nothing more is sent there. @throws Refusal 'unknown_own_address' */
    async end(tx: Tx, a: { id: bigint; by: string; now: Date }): Promise<void> {
      if ((await store.endAddress(tx, a)) === 0) throw new Refusal('unknown_own_address');
    },
  };
}

function transferDesk({ clock, chains, rules }: DeskContext) {
  /** @throws Refusal 'unknown_own_address' | 'does_not_fit' | 'malformed_amount' | 'destination_held' | 'funds_short' */
  async function requireFits(tx: Tx, t: { address: bigint; asset: string; units: bigint }) {
    const to = await addressOf(tx, t.address);
    const rail = chainOf(chains, to.rail);
    const now = clock.now();
    if (to.endedAt !== null) throw unfit('the address is no longer registered');
    if (now < to.usableAt) throw unfit(`the address is usable from ${to.usableAt.toISOString()}`);
    if (t.units <= 0n) throw new Refusal('malformed_amount', { why: 'must be above zero' });
    if (t.asset === (await rail.nativeAsset(tx))) throw unfit('the native asset is not sent to own addresses');
    if (await isDenied(rules, tx, to)) throw new Refusal('destination_held');
    // Orders come first: those that wait for this money are paid before any of it is moved to an own address.
    if ((await shortfalls(tx)).some((one) => one.rail === to.rail && one.asset === t.asset))
      throw new Refusal('funds_short', { asset: t.asset });
    return { to, wallet: rail.wallets.payouts };
  }

  /** Units of a wallet that may be moved to an own address: neither held for a payout nor below the wallet's low threshold. */
  async function spare(tx: Tx, of: { rail: string; wallet: string; asset: string }): Promise<bigint> {
    const { units, heldUnits } = await balance(tx, chart.custody(of.rail, of.wallet, of.asset));
    const threshold = (await thresholds(tx)).find(
      ({ rail, wallet, asset }) => rail === of.rail && wallet === of.wallet && asset === of.asset,
    );
    return units - heldUnits - (threshold?.lowUnits ?? 0n);
  }

  return {
    transfers: store.listTransfers,

    /** @throws Refusal as `requireFits` */
    async require(tx: Tx, t: { address: bigint; asset: string; units: bigint }): Promise<void> {
      const { to, wallet } = await requireFits(tx, t);
      const { asset, units } = t;
      if ((await spare(tx, { rail: to.rail, wallet, asset })) < units) throw new Refusal('funds_short', { asset });
    },

    /** Creates the row and its hold; a job sends it. @returns its key @throws Refusal as `requireFits` */
    async create(
      tx: Tx,
      t: { address: bigint; asset: string; units: bigint; people: readonly string[]; reason: string; now: Date },
    ): Promise<string> {
      const { to, wallet } = await requireFits(tx, t);
      const { asset, units, people, reason, now } = t;
      const row = await store.write(tx, {
        ...{ addressId: to.id, rail: to.rail, wallet, target: to.address },
        ...{ asset, units, people: [...people], reason, now },
      });
      const from = chart.custody(to.rail, wallet, asset);
      const lines = hold(row.key, chart.custody(to.rail, ownWallet(to.id), asset), from, units);
      const posted = await post(tx, { id: row.key, kind: 'transfer_held', at: now, lines });
      // The accounts are locked now, so two concurrent transfers cannot both count on the same money.
      if (posted.outcome === 'short' || (await spare(tx, { rail: to.rail, wallet, asset })) < 0n)
        throw new Refusal('funds_short', { asset });
      enqueue(tx, { kind: TRANSFER, subject: row.key, dueAt: now });
      return row.key;
    },

    async look(tx: Tx, key: string): Promise<store.WalletTransfer> {
      const row = await store.findTransfer(tx, key);
      if (row === undefined) throw new Refusal('unknown_transfer');
      return row;
    },

    /** Cancels a transfer before a transaction of it exists. @throws Refusal 'unknown_transfer' | 'does_not_fit' */
    async cancel(tx: Tx, c: { key: string; by: string; now: Date }): Promise<void> {
      const row = await store.lockTransfer(tx, c.key);
      if (row === undefined) throw new Refusal('unknown_transfer');
      if (row.endedAt !== null) throw unfit(`it is ${row.state}`);
      if (await hasSend(tx, row.rail, row.key))
        throw unfit(
          'a transaction of it is reserved or signed: a kill switch on its rail stops it before it is broadcast',
        );
      await post(tx, { id: `${row.key}:released`, kind: 'transfer_released', at: c.now, lines: release(row.key) });
      await store.endTransfer(tx, row.key, { state: 'cancelled', why: `by ${c.by}`, reference: null, now: c.now });
      await closeCases(tx, { kind: 'transfer_held', subject: row.key, outcome: `cancelled by ${c.by}`, now: c.now });
    },
  };
}

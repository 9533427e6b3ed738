/** Acts on orders and customers: what moves money or lets somebody trade. */
import type { Tx } from '../../../base/db.ts';
import { Refusal } from '../../../base/errors.ts';
import { parseUnits } from '../../../base/money.ts';
import {
  blockCustomer,
  customerName,
  fiatAccounts,
  fiatOfAccount,
  findCustomer,
  openContact,
  openFiatAccount,
  unblockCustomer,
} from '../../../customers/index.ts';
import { type Doing, type Needs, needsSecond } from '../../../operators/index.ts';
import {
  assignDeposit,
  block,
  findDeposit,
  lockOrder,
  NAMEABLE,
  nameDestination,
  type Act as OrderAct,
  type RefundTo,
  refundAddressOn,
  refundDeposit,
  refundsOf,
  refundsOfDeposit,
  reject,
  release,
  releaseBlocked,
  retry,
  retryRefund,
} from '../../../orders/index.ts';
import { assets } from '../../../partners/index.ts';
import { type Act, act, type OperatorDeps } from '../act.ts';
import { amount, id, oneOf, optional, text } from '../fields.ts';

/** What an order is at, without what moves by itself while nothing happens. */
async function look(_deps: OperatorDeps, tx: Tx, ask: { order: bigint }): Promise<unknown> {
  const order = await lockOrder(tx, ask.order);
  return {
    state: order.state,
    version: order.version,
    exception: order.exception,
    asset: order.depositAsset,
    receivedUnits: order.receivedUnits ?? order.depositUnits,
    payoutAsset: order.payoutAsset,
    payoutUnits: order.payoutUnits,
  };
}

/** The same, where what the order took is to go back: the destination that is named has to fit it. */
async function lookBack(deps: OperatorDeps, tx: Tx, ask: { order: bigint } & To): Promise<unknown> {
  const { depositRail, depositAsset } = await lockOrder(tx, ask.order);
  await requireFit(deps, tx, { rail: depositRail, asset: depositAsset, orderId: ask.order }, ask);
  return await look(deps, tx, ask);
}

/** As much as came in: that is what can leave. */
async function needs(_deps: OperatorDeps, tx: Tx, ask: { order: bigint }): Promise<Needs> {
  const order = await lockOrder(tx, ask.order);
  return { asset: order.depositAsset, units: order.receivedUnits ?? order.depositUnits };
}

const subject = ({ order }: { order: bigint }): string => `order:${order}`;
const said = (ask: { order: bigint }, doing: Doing): OrderAct => ({
  orderId: ask.order,
  by: doing.operator.name,
  why: doing.reason,
  now: doing.now,
});

const address = text(128, /^[\x21-\x7e]+$/, 'an address of at most 128 characters without spaces');
const customer = text(40, /^[0-9A-Za-z]{10}_[0-9]{1,19}$/, "a customer's id");

const customerLook = async (_deps: OperatorDeps, tx: Tx, ask: { customer: string }) => ({
  blocked: (await findCustomer(tx, ask.customer)).blocked,
});
const customerSubject = (ask: { customer: string }) => `customer:${ask.customer}`;

export const ORDER_ACTS: readonly Act[] = [
  act({
    name: 'order.release',
    path: '/orders/:order/release',
    right: 'money',
    fields: { order: id },
    subject,
    look,
    needs,
    async perform({ orders }, tx, ask, doing) {
      await release(orders, tx, said(ask, doing));
    },
  }),
  act({
    name: 'order.refuse',
    path: '/orders/:order/refuse',
    right: 'money',
    fields: {
      order: id,
      failure: oneOf(['amount', 'name', 'other']),
      address: optional(address),
      fiatAccountId: optional(id),
    },
    subject,
    async look(deps, tx, ask) {
      requireDestination(ask);
      return await lookBack(deps, tx, ask);
    },
    needs,
    async outside({ orders }, ask, doing) {
      const { failure, address: to, fiatAccountId } = ask;
      await reject(orders, said(ask, doing), {
        failure,
        ...(to === undefined ? {} : { address: to }),
        ...(fiatAccountId === undefined ? {} : { fiatAccountId }),
      });
    },
  }),
  act({
    name: 'order.retry',
    path: '/orders/:order/retry',
    right: 'money',
    fields: { order: id },
    subject,
    look,
    needs,
    async perform({ orders }, tx, ask, doing) {
      await retry(orders, tx, said(ask, doing));
    },
  }),
  act({
    name: 'order.retry-refund',
    path: '/orders/:order/retry-refund',
    right: 'money',
    fields: { order: id, address: optional(address), fiatAccountId: optional(id) },
    subject,
    look: lookBack,
    needs,
    async outside({ db, orders }, ask, doing) {
      const to = await db.asSystem(async (tx) => {
        const { depositRail } = await lockOrder(tx, ask.order);
        return await destinationOf(orders, tx, depositRail, ask);
      });
      await retryRefund(orders, { ...said(ask, doing), to });
    },
  }),
  act({
    name: 'order.destination',
    path: '/orders/:order/destination',
    right: 'money',
    fields: { order: id, address: optional(address), fiatAccountId: optional(id) },
    subject,
    async look(deps, tx, ask) {
      requireDestination(ask);
      requireOne(ask);
      await requireOwnAccount(tx, ask);
      const waiting = (await waitingFor(tx, ask.order)).map(({ id: refund, state, asset, grossUnits }) => ({
        refund,
        state,
        asset,
        units: grossUnits,
      }));
      return { ...(Object(await look(deps, tx, ask)) as object), waiting };
    },
    // What waits for this word may be more than the order: a second deposit, or what came in excess.
    async needs(deps, tx, ask) {
      for (const { asset, grossUnits: units } of await waitingFor(tx, ask.order))
        if (await needsSecond(tx, { asset, units })) return { asset, units };
      return await needs(deps, tx, ask);
    },
    async perform({ orders }, tx, ask, { now }) {
      const to = { address: ask.address, fiatAccountId: ask.fiatAccountId };
      await nameDestination(orders, tx, { orderId: ask.order, to, now });
    },
  }),
  act({
    name: 'order.release-blocked',
    path: '/orders/:order/release-blocked',
    right: 'money',
    fields: { order: id, legalAct: text(200) },
    subject,
    look,
    needs: async () => 'always' as const,
    async perform({ orders }, tx, ask, doing) {
      await releaseBlocked(orders, tx, { ...said(ask, doing), legalAct: ask.legalAct });
    },
  }),
  act({
    name: 'deposit.refund',
    path: '/deposits/:deposit/refund',
    right: 'money',
    fields: { deposit: id, amount: optional(amount), address: optional(address), fiatAccountId: optional(id) },
    subject: (ask) => `deposit:${ask.deposit}`,
    async look(deps, tx, ask) {
      const deposit = await findDeposit(tx, ask.deposit);
      await requireFit(deps, tx, deposit, ask);
      const { state, asset, units } = deposit;
      const refunds = (await refundsOfDeposit(tx, ask.deposit)).map((one) => ({ id: one.id, state: one.state }));
      return { state, asset, units, refunds };
    },
    async needs(_deps, tx, ask) {
      const { orderId, asset, units } = await findDeposit(tx, ask.deposit);
      // Whose it is nobody knows but the operator who says so.
      if (orderId === null) return 'always' as const;
      // All that went back of it counts, so pieces are no way below the limit; one that waits goes as a whole.
      const refunds = (await refundsOfDeposit(tx, ask.deposit)).filter((one) => one.state !== 'cancelled');
      const named = refunds.reduce((sum, one) => sum + one.grossUnits, 0n);
      if (refunds.some((one) => one.state !== 'settled')) return { asset, units: named };
      return { asset, units: named + ((await unitsOf(tx, asset, ask.amount)) ?? units) };
    },
    async perform({ orders }, tx, ask, { operator, reason, now }) {
      const deposit = await findDeposit(tx, ask.deposit);
      const to = await destinationOf(orders, tx, deposit.rail, ask);
      const units = await unitsOf(tx, deposit.asset, ask.amount);
      await refundDeposit(orders, tx, {
        ...{ depositId: ask.deposit, by: operator.name, why: reason, now },
        ...(units === undefined ? {} : { units }),
        ...(to === undefined ? {} : { to }),
      });
    },
  }),
  act({
    name: 'deposit.assign',
    path: '/deposits/:deposit/assign',
    right: 'money',
    fields: { deposit: id, order: id },
    subject: (ask) => `deposit:${ask.deposit}`,
    async look(_deps, tx, ask) {
      const { state, asset, units, orderId } = await findDeposit(tx, ask.deposit);
      const order = await lockOrder(tx, ask.order);
      return {
        state,
        asset,
        units,
        belongs: orderId,
        order: { id: order.id, state: order.state, version: order.version },
      };
    },
    async needs(_deps, tx, ask) {
      const { orderId, asset, units } = await findDeposit(tx, ask.deposit);
      // Whose it is nobody knows but the operator who says so.
      return orderId === ask.order ? { asset, units } : ('always' as const);
    },
    async perform({ orders }, tx, ask, { operator, reason, now }) {
      const { deposit: depositId, order: orderId } = ask;
      await assignDeposit(orders, tx, { depositId, orderId, by: operator.name, why: reason, now });
    },
  }),
  act({
    name: 'order.block',
    path: '/orders/:order/block',
    right: 'money',
    fields: { order: id },
    subject,
    look,
    // Nothing leaves by it, and the law does not wait.
    async perform({ orders }, tx, ask, doing) {
      await block(orders, tx, said(ask, doing));
    },
  }),
  act({
    name: 'customer.block',
    path: '/customers/:customer/block',
    right: 'money',
    fields: { customer },
    subject: customerSubject,
    look: customerLook,
    async perform(_deps, tx, ask, doing) {
      await blockCustomer(tx, ask.customer, doing.now);
    },
  }),
  act({
    name: 'customer.unblock',
    path: '/customers/:customer/unblock',
    right: 'money',
    fields: { customer },
    subject: customerSubject,
    look: customerLook,
    needs: async () => 'always' as const,
    async perform(_deps, tx, ask, doing) {
      await unblockCustomer(tx, ask.customer, doing.now);
    },
  }),
  // Looking is an act, too.
  act({
    name: 'customer.personal',
    path: '/customers/:customer/personal',
    right: 'personal',
    fields: { customer },
    subject: customerSubject,
    async look(_deps, tx, ask) {
      await findCustomer(tx, ask.customer);
      return null;
    },
    async perform({ vault }, tx, ask) {
      const accounts = await fiatAccounts(tx, ask.customer);
      return {
        personal: {
          ...(await openContact(tx, vault, ask.customer)),
          name: (await customerName(tx, vault, ask.customer)) ?? null,
          accounts: await Promise.all(
            accounts.map(async (account) => ({
              fiatAccountId: account.id,
              fiat: account.fiat,
              ...(await openFiatAccount(tx, vault, account.id)).details,
            })),
          ),
        },
      };
    },
  }),
];

interface Back {
  rail: string;
  asset: string;
  orderId: bigint | null;
}

/** Refunds out of suspense that go, or go again, where somebody says. */
const waitingFor = async (tx: Tx, order: bigint) =>
  (await refundsOf(tx, order)).filter(({ source, state }) => source === 'suspense' && NAMEABLE.includes(state));

/** One destination, such as the rail has, in the deposit's own fiat. @throws Refusal 'malformed_field' | 'unknown_account' */
async function requireFit({ orders }: OperatorDeps, tx: Tx, back: Back, ask: To): Promise<void> {
  requireOne(ask);
  const { fiatAccountId } = ask;
  if (fiatAccountId === undefined) return;
  if (back.orderId !== null) await requireOwnAccount(tx, { order: back.orderId, fiatAccountId });
  const wrong = (rule: string) => new Refusal('malformed_field', { fields: { fiatAccountId: rule } });
  if (orders.rails.get(back.rail)?.kind === 'chain')
    throw wrong(`must be left out: on ${back.rail} there are addresses`);
  if ((await fiatOfAccount(tx, fiatAccountId)) !== back.asset) throw wrong(`must be an account in ${back.asset}`);
}

function requireOne({ address: to, fiatAccountId }: To): void {
  if (to !== undefined && fiatAccountId !== undefined)
    throw new Refusal('malformed_field', { fields: { fiatAccountId: 'must not stand beside address' } });
}

/** A deposit goes back to an account of its own customer, never of another. */
async function requireOwnAccount(tx: Tx, ask: { order: bigint; fiatAccountId: bigint | undefined }): Promise<void> {
  if (ask.fiatAccountId === undefined) return;
  const { customerId } = await lockOrder(tx, ask.order);
  const own = (await fiatAccounts(tx, customerId)).some((account) => account.id === ask.fiatAccountId);
  if (!own) throw new Refusal('unknown_account');
}

interface To {
  address: string | undefined;
  fiatAccountId: bigint | undefined;
}

function requireDestination({ address: to, fiatAccountId }: To): void {
  if (to === undefined && fiatAccountId === undefined)
    throw new Refusal('missing_fields', { names: ['address or fiatAccountId'] });
}

/** In the spelling that is kept, on the rail it goes back by; undefined where none is named. @throws Refusal 'malformed_field' */
async function destinationOf(
  orders: OperatorDeps['orders'],
  tx: Tx,
  railCode: string,
  ask: To,
): Promise<RefundTo | undefined> {
  if (ask.fiatAccountId !== undefined) return { fiatAccountId: ask.fiatAccountId };
  if (ask.address === undefined) return undefined;
  return { address: await refundAddressOn(orders, tx, railCode, ask.address) };
}

async function unitsOf(tx: Tx, asset: string, given: string | undefined): Promise<bigint | undefined> {
  return given === undefined ? undefined : parseUnits(given, (await assets(tx)).get(asset)?.decimals ?? 0);
}

/** Controls that pay: the simulated customer pays an order as asked, by wallet or by bank. */
import { Refusal } from '../base/errors.ts';
import { pow10 } from '../base/money.ts';
import { type Order, passDeadline, trace } from '../orders/index.ts';
import { type Asset, assets } from '../partners/index.ts';
import type { ChainRail } from '../rails/chain.ts';
import { railCode } from './catalogue.ts';
import {
  type Answered,
  type Asked,
  assetOf,
  type ControlsContext,
  looksAtTheBank,
  ownLine,
  paidByBank,
  saying,
  wrong,
} from './controls.context.ts';

const PATIENCE_MS = 10_000;
/** A payer who is not a customer here. */
const STRANGER = 'Somebody Else';

export async function pay(context: ControlsContext, asked: Asked<'pay'>): Answered<'pay'> {
  const { order, how, units: given } = asked;
  if (how === 'LATE') {
    const rail = context.chains.get(order.depositRail);
    // Checked first: if the payment were impossible, a deadline moved for it would stay moved.
    if (rail !== undefined)
      await saying(`The node of ${rail.chain} does not answer: nothing was paid.`, () => rail.gasPrice());
    await expire(context, order);
  }
  const wanted = order.depositUnits;
  const units = given ?? (how === 'UNDER' ? wanted / 2n : how === 'OVER' ? wanted + wanted / 2n : wanted);
  const times = how === 'TWICE' ? [1, 2] : [1];
  const payments = paidByBank(context, order)
    ? await payFromAccount(context, asked, units, times)
    : await payFromWallet(context, asked, units, times);
  return { payments };
}

async function payFromAccount(
  context: ControlsContext,
  { order, how, key }: Asked<'pay'>,
  units: bigint,
  times: readonly number[],
): Promise<string[]> {
  if (how === 'ANOTHER_TOKEN' || how === 'ANOTHER_CHAIN') throw wrong('how', 'is for orders that are paid on a chain');
  const payments: string[] = [];
  for (const time of times) {
    const id = `${ownLine(order.partnerId)}${key}-${time}`;
    payments.push(await context.payer.fromAccount(order, { id, units, text: order.depositTarget }));
  }
  await context.db.asSystem((tx) => looksAtTheBank(context, tx));
  return payments;
}

async function payFromWallet(
  context: ControlsContext,
  { order, how, key }: Asked<'pay'>,
  units: bigint,
  times: readonly number[],
): Promise<string[]> {
  const usual = {
    rail: context.chains.get(order.depositRail) as ChainRail,
    asset: await assetOf(context, order.depositAsset),
  };
  const { rail, asset } =
    how === 'ANOTHER_TOKEN' || how === 'ANOTHER_CHAIN' ? await insteadOf(context, order, how) : usual;
  if (asset === undefined || usual.asset === undefined)
    throw wrong('order', 'is paid with a token that the sandbox no longer has');
  // The same number of whole coins, converted to the other asset's decimals.
  const scaled = (units * pow10(asset.decimals)) / pow10(usual.asset.decimals);
  const payments: string[] = [];
  for (const time of times) {
    const payment = {
      key: `pay:${order.id}:${key}:${time}`,
      asset: asset.code,
      units: scaled,
      address: order.depositTarget,
    };
    payments.push(await saying(made(payments, times), () => context.payer.fromWallet(rail, payment)));
  }
  return payments;
}

/** The asset that an order is paid with instead of the one it asks for. */
async function insteadOf(
  context: ControlsContext,
  order: Order,
  how: 'ANOTHER_TOKEN' | 'ANOTHER_CHAIN',
): Promise<{ rail: ChainRail; asset: Asset }> {
  const { db, chains } = context;
  const all = [...(await db.asSystem(assets)).values()].filter(({ kind, native }) => kind === 'crypto' && !native);
  const asked = await assetOf(context, order.depositAsset);
  const isAwake = ({ chain }: Asset): boolean => chains.get(railCode(chain ?? ''))?.isAsleep?.() !== true;
  const there = all.find(
    (one) =>
      isAwake(one) &&
      (how === 'ANOTHER_TOKEN'
        ? one.chain === asked?.chain && one.coin !== asked?.coin
        : one.chain !== asked?.chain && one.coin === asked?.coin),
  );
  const rail = chains.get(railCode(there?.chain ?? ''));
  if (there === undefined || rail === undefined) throw wrong('how', 'has nothing to pay with here');
  return { rail, asset: there };
}

async function expire({ db, clock }: ControlsContext, order: Order): Promise<void> {
  if (order.state === 'created') {
    const action = { orderId: order.id, by: 'sandbox', why: 'paid late, as requested', now: clock.now() };
    await db.asSystem((tx) => passDeadline(tx, action));
  } else if (order.state !== 'expired') throw new Refusal('order_over', { state: order.state });
  const get = () => db.asSystem(async (tx) => (await trace(tx, order.id)).order.state);
  for (const giveUpAt = Date.now() + PATIENCE_MS; (await get()) !== 'expired' && Date.now() < giveUpAt; )
    await new Promise((wake) => setTimeout(wake, 50));
}

export async function credit(
  context: ControlsContext,
  { order, units, reference, name, key }: Asked<'credit'>,
): Answered<'credit'> {
  if (!paidByBank(context, order)) throw wrong('order', 'is paid on a chain: use pay');
  const text = { RIGHT: order.depositTarget, NONE: '', WRONG: mistyped(order.depositTarget) }[reference];
  const who = { RIGHT: {}, NONE: { name: '' }, WRONG: { name: STRANGER } }[name];
  const id = `${ownLine(order.partnerId)}${key}-1`;
  const line = await context.payer.fromAccount(order, { id, units: units ?? order.depositUnits, text, ...who });
  await context.db.asSystem((tx) => looksAtTheBank(context, tx));
  return { line };
}

/** If one of several payments fails, says how many were made before. */
const made = (payments: readonly string[], times: readonly number[]): string | undefined =>
  payments.length === 0 ? undefined : `${payments.length} of ${times.length} payments was made, the next was not.`;

/** Changes one character: the check in every reference detects it. */
const mistyped = (reference: string): string => `${reference.slice(0, -1)}${reference.endsWith('7') ? '8' : '7'}`;

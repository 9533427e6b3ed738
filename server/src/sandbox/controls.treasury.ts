/** The control of the operator's own funds: empties them, or refills them. */
import { Refusal, Unavailable } from '../base/errors.ts';
import { randomHex } from '../base/ids.ts';
import { formatUnits, parseUnits, pow10 } from '../base/money.ts';
import { balance, chart, isPosted, move, post } from '../ledger/index.ts';
import type { Asset } from '../partners/index.ts';
import { FIATS, OPENING, railCode } from './catalogue.ts';
import { type Answered, type Asked, assetOf, type ControlsContext, looksAtTheBank, wrong } from './controls.context.ts';
import { assetCode, BANK } from './seed.ts';

const FILLED_WITHIN_MS = 12_000;

export async function treasury(
  context: ControlsContext,
  { currency, chain, state, amount }: Asked<'treasury'>,
): Answered<'treasury'> {
  const code = chain === undefined ? currency.toLowerCase() : assetCode(currency.toLowerCase(), chain.toLowerCase());
  const asset = await assetOf(context, code);
  const isFiat = FIATS.some((fiat) => fiat.code === code);
  if (asset === undefined || asset.native || (chain === undefined && !isFiat))
    throw wrong('currency', `must be ${FIATS.map((fiat) => fiat.code).join(', ')}, or a token with its chain`);
  if (asset.chain !== null) await context.wake(asset.chain);
  if (state === 'DRY') await setAside(context, code);
  else {
    const whole = isFiat ? OPENING.fiat : OPENING.tokens;
    const units = amount === undefined ? whole * pow10(asset.decimals) : unitsIn(amount, asset.decimals);
    await bring(context, asset, units);
  }
  const { units } = await context.db.asSystem((tx) => balance(tx, chart.treasury(code)));
  return { asset: code, available: formatUnits(units, asset.decimals) };
}

async function setAside({ db, clock }: ControlsContext, asset: string): Promise<void> {
  await db.asSystem(async (tx) => {
    const { units } = await balance(tx, chart.treasury(asset));
    const lines = move(chart.treasury(asset), chart.capital(asset), units);
    if (units <= 0n || lines.length === 0) return;
    await post(tx, { id: `sandbox_dry_${randomHex(8)}`, kind: 'set_aside', at: clock.now(), lines });
  });
}

/**
 * Brings in new operator funds: into the bank account, or from the faucet into the hot wallet. They are booked when the rail
 * reports them.
 */
async function bring(context: ControlsContext, { code, chain }: Asset, units: bigint): Promise<void> {
  const { db, chains, bank } = context;
  const id = `sandbox-${randomHex(8)}`;
  let entry = `fund_${BANK}_FUNDING:${id}`;
  const rail = chains.get(railCode(chain ?? ''));
  if (rail === undefined) await bank.fund({ currency: code.toUpperCase(), units, id });
  else {
    const destination = { kind: 'address', address: rail.walletAddresses.hot ?? '' } as const;
    const sent = await rail.sendFrom('faucet', { key: `sandbox:fill:${id}`, asset: code, units, destination });
    if (sent.outcome === 'rejected') throw wrong('amount', `was not given by the faucet: ${sent.why}`);
    if (sent.outcome === 'unknown')
      throw new Unavailable(rail.code, sent.why, {
        said: `The node of ${chain} did not take the transfer: the treasury was not filled.`,
      });
    entry = `fund_${rail.code}_${sent.reference}:0`;
  }
  const isBooked = () => db.asSystem((tx) => isPosted(tx, entry));
  for (const giveUpAt = Date.now() + FILLED_WITHIN_MS; !(await isBooked()) && Date.now() < giveUpAt; ) {
    if (rail === undefined) await db.asSystem((tx) => looksAtTheBank(context, tx));
    else await context.finalize(rail.chain);
    await new Promise((wake) => setTimeout(wake, 200));
  }
  if (!(await isBooked()))
    throw new Unavailable(rail?.code ?? BANK, 'new money is not booked yet', {
      said: `The money for ${code} is on its way and not booked yet: the treasury is not filled.`,
    });
}

function unitsIn(amount: string, decimals: number): bigint {
  try {
    return parseUnits(amount, decimals);
  } catch (error) {
    if (error instanceof Refusal) throw wrong('amount', String(error.facts.why));
    throw error;
  }
}

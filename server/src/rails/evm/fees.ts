/** Fees on an EVM chain: the market's fee, our offer, and raising an offer. */
import type { Fee } from '../chain.adapter.ts';
import { type Evm, hex, lower, refusedIsUnavailable } from './node.ts';
import { list, object, orUnavailable, quantity, RpcError } from './rpc.ts';

/** Number of blocks over which paid tips are measured, and the percentile of the tips that is used. */
const TIP_BLOCKS = 5;
const TIP_PERCENTILE = 50;
/** Used if no tips were paid recently: 1 gwei. */
const DEFAULT_TIP = 1_000_000_000n;
/** A quarter more, because nodes require at least a tenth more before they replace a transaction. */
export const raised = (fee: bigint): bigint => fee + fee / 4n + 1n;

interface Amounts {
  gas: bigint;
  price: bigint;
  tip: bigint | undefined;
}

/** Conversion of a fee to its stored form, and back. */
export const feeOf = ({ gas, price, tip }: Amounts): Fee => ({
  gas: String(gas),
  price: String(price),
  ...(tip === undefined ? {} : { tip: String(tip) }),
});
export const amounts = (fee: Fee): Amounts => ({
  gas: BigInt(fee.gas ?? 0),
  price: BigInt(fee.price ?? 0),
  tip: fee.tip === undefined ? undefined : BigInt(fee.tip),
});

export async function gasPrice(evm: Evm): Promise<bigint> {
  const { base, tip } = await market(evm);
  return capped(evm, (base ?? 0n) + tip);
}

/** Offers twice the base fee, which is enough for six full blocks in a row. The unused part is not charged. */
export async function offer(evm: Evm, gas: bigint): Promise<Fee> {
  const { base, tip } = await market(evm);
  if (base === undefined) return feeOf({ gas, price: capped(evm, tip), tip: undefined });
  const price = capped(evm, base * 2n + tip);
  return feeOf({ gas, price, tip: lower(tip, price) });
}

/** Base fee of the next block and the usual tip; `base` undefined on a chain without EIP-1559. */
async function market(evm: Evm): Promise<{ base: bigint | undefined; tip: bigint }> {
  const { code, rpc } = evm;
  const [history, price] = await refusedIsUnavailable(evm, () =>
    rpc.batch([
      { method: 'eth_feeHistory', params: [hex(BigInt(TIP_BLOCKS)), 'latest', [TIP_PERCENTILE]] },
      { method: 'eth_gasPrice', params: [] },
    ]),
  );
  return orUnavailable(code, () => {
    if (history instanceof RpcError) return { base: undefined, tip: quantity(price, 'gasPrice') };
    const { baseFeePerGas, reward } = object(history, 'feeHistory');
    const base = quantity(list(baseFeePerGas, 'baseFeePerGas').at(-1), 'baseFeePerGas');
    if (base === 0n && reward === undefined) return { base: undefined, tip: quantity(price, 'gasPrice') };
    const tips = list(reward ?? [], 'reward')
      .map((row) => quantity(list(row, 'reward')[0], 'reward'))
      .filter((tip) => tip > 0n)
      .toSorted((a, b) => (a < b ? -1 : 1));
    return { base, tip: tips[Math.floor(tips.length / 2)] ?? DEFAULT_TIP };
  });
}

const capped = ({ options }: Evm, price: bigint): bigint => lower(price, options.maxGasPrice);

/**
 * Cost of a transaction on Tron: energy for a contract's computation, bandwidth for its bytes, and the burn for opening an
 * account. The prices are parameters of the chain, and a higher offer gives no priority.
 *
 * The wallet's staked or free daily resources make it cheaper. We count the cost without them, because other sends of ours may
 * have used them up by the time of inclusion.
 */
import type { Call } from '../chain.adapter.ts';
import { amount, list, object, reading } from './http.ts';
import type { Tron } from './node.ts';
import { BYTE_PRICE, NEW_ACCOUNT } from './signer.ts';

export interface Prices {
  /** Native units for one unit of energy, for one byte, and for an account that a transfer opens. */
  energy: bigint;
  byte: bigint;
  account: bigint;
}

export async function prices({ code, ask }: Tron): Promise<Prices> {
  const answer = await ask('wallet/getchainparameters');
  return reading(code, () => {
    const all = new Map(
      list(object(answer, 'parameters').chainParameter, 'chainParameter').map((one) => {
        const { key, value } = object(one, 'chainParameter');
        return [String(key), value];
      }),
    );
    const of = (key: string): bigint => amount(all.get(key), key);
    return {
      energy: of('getEnergyFee'),
      byte: of('getTransactionFee') || BYTE_PRICE,
      account: of('getCreateNewAccountFeeInSystemContract') + of('getCreateAccountFee') || NEW_ACCOUNT,
    };
  });
}

/** Native units for one unit of energy, capped. */
export async function energyPrice(tron: Tron): Promise<bigint> {
  const { energy } = await prices(tron);
  return energy < tron.options.maxEnergyPrice ? energy : tron.options.maxEnergyPrice;
}

/** Energy that a call would use now, or why it would fail. */
export async function energyOf(
  { code, ask }: Tron,
  owner: string,
  { target, data, value }: Call,
): Promise<bigint | { rejected: string }> {
  const answer = await ask('wallet/triggerconstantcontract', {
    owner_address: owner,
    contract_address: target,
    data: data.toString('hex'),
    call_value: value,
    visible: true,
  });
  return reading(code, () => {
    const call = object(answer, 'call');
    const result = object(call.result ?? {}, 'result');
    const { ret } = object(call.transaction ?? {}, 'transaction');
    const [ended] = list(ret ?? [], 'ret').map((one) => object(one, 'ret').ret);
    if (result.result !== true || ended === 'FAILED') return { rejected: `would fail: ${why(result)}` };
    return amount(call.energy_used, 'energy_used');
  });
}

/** The reason of a failure. A node encodes its messages in hex. */
export function why(result: Readonly<Record<string, unknown>>): string {
  const { code = 'reverted', message } = result;
  const text =
    typeof message === 'string' && /^([0-9a-f]{2})+$/.test(message) ? Buffer.from(message, 'hex').toString() : message;
  const words = text === undefined ? String(code) : `${String(code)}: ${String(text)}`;
  return words.replace(/[^\x20-\x7e]/g, '?').slice(0, 200);
}

/**
 * Signers: the one place that holds keys, with limits of its own.
 *
 * It signs two things and nothing else: `transfer(address,uint256)` on a contract of its list, and a plain transfer of
 * native coin. Whoever gains control of the rest of the server still cannot make it approve a spender, call a contract,
 * sign for another chain, burn the wallet as fees, or pay more than a limit in one transfer.
 *
 * A signer in another process or an HSM is the same interface with another body.
 */
import { HDKey } from '@scure/bip32';
import { privateKeyToAccount } from 'viem/accounts';
import { keccak256 } from 'viem/utils';
import { assert, BugError } from '../../base/errors.ts';
import { decodeTransferCall } from './transfers.ts';

/** What is asked to be signed. Fees are native units per unit of gas. */
export interface Unsigned {
  chainId: bigint;
  nonce: bigint;
  /** The contract called or the account paid. */
  target: string;
  data: Buffer;
  value: bigint;
  gas: bigint;
  /** `tip` undefined: a chain without EIP-1559, where `price` is the gas price. */
  price: bigint;
  tip: bigint | undefined;
}

export type Wanted = Pick<Unsigned, 'target' | 'data' | 'value' | 'gas' | 'price'>;

export interface Signer {
  /** Lower case. */
  readonly address: string;
  /** Why this would not be signed, or undefined. Asked before a nonce is reserved, so that a refusal leaves no gap. */
  refuses(wanted: Wanted): string | undefined;
  /** @throws BugError for what it refuses */
  sign(unsigned: Unsigned): Promise<{ raw: Buffer; hash: string }>;
}

export interface SignerLimits {
  chainId: bigint;
  /** Lower-case contract → most units in one transfer. A contract that is not here is not called. */
  allowedContracts: Readonly<Record<string, bigint>>;
  /** Most native units in one plain transfer; 0 for none. */
  maxNativeUnitsPerTransfer: bigint;
  /** Most native units one transaction may cost. */
  maxFeeUnits: bigint;
  /** Where given: nobody else is paid, whatever is asked for. Lower case. */
  onlyTo?: readonly string[];
}

/** @param privateKey 32 bytes as hex with `0x`; kept in this closure and nowhere else */
export function localSigner(privateKey: string, limits: SignerLimits): Signer {
  const account = privateKeyToAccount(privateKey as `0x${string}`);
  const allowed = new Map(
    Object.entries(limits.allowedContracts).map(([contract, max]) => [contract.toLowerCase(), max]),
  );

  const refuses = ({ target, data, value, gas, price }: Wanted): string | undefined => {
    if (gas * price > limits.maxFeeUnits) return 'a fee above the limit';
    const mayPay = (to: string) => limits.onlyTo === undefined || limits.onlyTo.includes(to);
    if (data.length === 0) {
      if (!mayPay(target)) return 'a recipient that is not allowed';
      if (allowed.has(target)) return 'native coin to a token contract';
      return value > limits.maxNativeUnitsPerTransfer ? 'more native coin than one transfer may move' : undefined;
    }
    const max = allowed.get(target);
    if (max === undefined) return 'a contract that is not allowed';
    if (value !== 0n) return 'native coin along with a token transfer';
    const transfer = decodeTransferCall(data);
    if (transfer === undefined) return 'a call that is no transfer';
    if (allowed.has(transfer.to)) return 'tokens to a token contract';
    if (!mayPay(transfer.to)) return 'a recipient that is not allowed';
    return transfer.units > max ? 'more than one transfer may move' : undefined;
  };

  return {
    address: account.address.toLowerCase(),
    refuses,
    async sign(unsigned) {
      const why = refuses(unsigned) ?? (unsigned.chainId === limits.chainId ? undefined : 'another chain');
      if (why !== undefined) throw new BugError(`the signer refuses: ${why}`);
      const { target, value, gas, price, tip } = unsigned;
      const common = {
        chainId: Number(unsigned.chainId),
        nonce: Number(unsigned.nonce),
        to: target as `0x${string}`,
        data: `0x${unsigned.data.toString('hex')}` as const,
        value,
        gas,
      };
      const signed = await (tip === undefined
        ? account.signTransaction({ ...common, type: 'legacy', gasPrice: price })
        : account.signTransaction({ ...common, type: 'eip1559', maxFeePerGas: price, maxPriorityFeePerGas: tip }));
      return { raw: Buffer.from(signed.slice(2), 'hex'), hash: keccak256(signed) };
    },
  };
}

/**
 * Signers of the deposit addresses, each for moving what lies there to the wallet that pays and to nobody else: a bug, or
 * whoever gains control of the rest of the server, cannot sweep elsewhere.
 *
 * @param xprv  the private half of the extended key that deposit addresses come from. A process that only watches has none
 * @param limits.to the one recipient, lower case. No native coin is ever sent from a deposit address
 */
export function sweepSigner(
  xprv: string,
  limits: Omit<SignerLimits, 'onlyTo' | 'maxNativeUnitsPerTransfer'> & { to: string },
): (index: bigint) => Signer {
  const parent = HDKey.fromExtendedKey(xprv);
  assert(parent.privateKey !== null, 'sweeping needs the extended private key');
  const { to, ...rest } = limits;
  return (index) => {
    const child = parent.deriveChild(Number(index)).privateKey;
    assert(child !== null, 'a derived key has a private half');
    return localSigner(`0x${Buffer.from(child).toString('hex')}`, {
      ...rest,
      maxNativeUnitsPerTransfer: 0n,
      onlyTo: [to.toLowerCase()],
    });
  };
}

/**
 * Signers: the interface through which a rail gets signatures, the checks that need only the transfer itself, and signing.
 *
 * Only two kinds of transaction are signed: `transfer(address,uint256)` on a listed contract, and a plain native transfer. An
 * attacker who controls the rest of the server still cannot make a signer approve a spender, call a contract, sign for another
 * chain, burn the wallet as fees, or pay more than a limit in one transfer.
 *
 * If a sweeper contract is listed, batches are signed, too: calls that move listed tokens from deposit addresses to the paying
 * wallet, and nothing else, because the contract can do nothing else.
 *
 * Not here: keys at rest, limits per hour, the signing journal, and the process that holds all three: ../../signer/.
 */
import { HDKey } from '@scure/bip32';
import { privateKeyToAccount } from 'viem/accounts';
import { keccak256 } from 'viem/utils';
import { assert, BugError } from '../../base/errors.ts';
import type { SignedBefore } from '../chain.adapter.ts';
import { batchMoves, type Delegating } from './batch.ts';
import { decodeTransferCall } from './transfers.ts';

/** A signing request. Fees are native units per unit of gas. */
export interface Unsigned {
  chainId: bigint;
  nonce: bigint;
  /** The contract that is called, or the account that is paid. */
  target: string;
  data: Buffer;
  value: bigint;
  gas: bigint;
  /** `tip` is undefined on a chain without EIP-1559, where `price` is the gas price. */
  price: bigint;
  tip: bigint | undefined;
  /** Index of the deposit address that is paid, if it is one of ours: the signer can derive and verify it. */
  depositIndex?: bigint | undefined;
  /** Deposit addresses that delegate to the sweeper contract in this transaction, with the nonces that this uses. */
  delegating?: readonly Delegating[];
  /** The same, signed; not needed by a signer that holds the keys of these addresses. */
  authorizations?: readonly Authorized[];
}

/** An address's consent to run a contract's code (EIP-7702). It counts on one chain, at one nonce of the address. */
export interface Authorized {
  chainId: number;
  address: `0x${string}`;
  nonce: number;
  r: `0x${string}`;
  s: `0x${string}`;
  yParity: number;
}

export type Wanted = Pick<Unsigned, 'target' | 'data' | 'value' | 'gas' | 'price' | 'depositIndex'>;

/** A transfer as a signer is asked about it. With a nonce if a version under that nonce was signed before. */
export type Asked = Wanted & { nonce?: bigint };

export interface SignedTransfer {
  raw: Buffer;
  hash: string;
}

export interface Signer {
  /** In lower case. */
  readonly address: string;
  /**
   * Why this would not be signed; undefined if it would. Called before a nonce is reserved, so that a rejection leaves no gap; and
   * before a higher fee is offered, with the nonce, so that only the increase counts towards a limit.
   * @throws NotSigned if the keys are in another process that does not answer
   */
  refuses(wanted: Asked): Promise<string | undefined>;
  /** @throws BugError for a transfer that it rejects; NotSigned if the keys are in another process that does not sign */
  sign(unsigned: Unsigned): Promise<SignedTransfer>;
  /** True if `sign` makes the authorizations of a batch itself. */
  readonly delegates?: boolean;
  /** Lets the sweeper contract move this address's tokens to the paying wallet. Absent if it authorizes nothing. */
  authorize?: (sweeper: string, nonce: bigint) => Promise<Authorized>;
  /**
   * The transactions that it has signed under nonces from this one on, in order; the first ones if there are many. For a deposit
   * address only those signed under this nonce. Absent if it keeps no journal. @throws NotSigned
   */
  signedFrom?(nonce: bigint): Promise<SignedBefore[]>;
}

export interface SignerLimits {
  chainId: bigint;
  /** Maximum units of one transfer, by lower-case contract. Only listed contracts are called. */
  allowedContracts: Readonly<Record<string, bigint>>;
  /** Maximum native units of one plain transfer; 0 for none. */
  maxNativeUnitsPerTransfer: bigint;
  /** Maximum cost of one transaction, in native units. */
  maxFeeUnits: bigint;
  /** If set, the only recipients, in lower case. */
  onlyTo?: readonly string[];
  /** Our Sweeper contract, in lower case: deposit addresses may delegate to it, and the paying wallet may call it. */
  sweeper?: string;
}

/** The transfer, read from the bytes to be signed. `contract` is null for the native asset. */
export function movedBy({
  target,
  data,
  value,
}: Wanted): { contract: string | null; to: string; units: bigint } | string {
  if (data.length === 0) return { contract: null, to: target, units: value };
  if (value !== 0n) return 'native asset along with a token transfer';
  const transfer = decodeTransferCall(data);
  return transfer === undefined ? 'a call that is no transfer' : { contract: target, ...transfer };
}

/** Why a transfer is not signed, regardless of earlier signatures; undefined if it may be. Pure. */
export function refusalOf(limits: SignerLimits, wanted: Wanted): string | undefined {
  if (wanted.gas * wanted.price > limits.maxFeeUnits) return 'a fee above the limit';
  const allowed = limits.allowedContracts;
  if (limits.sweeper !== undefined && wanted.target === limits.sweeper) return batchRefusal(limits, wanted);
  if (wanted.data.length > 0 && allowed[wanted.target] === undefined) return 'a contract that is not allowed';
  const moved = movedBy(wanted);
  if (typeof moved === 'string') return moved;
  const { contract, to, units } = moved;
  if (limits.onlyTo !== undefined && !limits.onlyTo.includes(to)) return 'a recipient that is not allowed';
  if (allowed[to] !== undefined)
    return contract === null ? 'native asset to a token contract' : 'tokens to a token contract';
  if (contract === null)
    return units > limits.maxNativeUnitsPerTransfer ? 'more of the native asset than one transfer may move' : undefined;
  return units > (allowed[contract] ?? 0n) ? 'more than one transfer may move' : undefined;
}

/** Why a batch of sweeps is not signed. Its sum must not be more than one transfer of the token may move. */
function batchRefusal({ allowedContracts, onlyTo }: SignerLimits, { data, value }: Wanted): string | undefined {
  const batch = batchMoves(data);
  if (batch === undefined || value !== 0n) return 'a call of the sweeper that is no batch';
  if (onlyTo !== undefined) return 'a batch from a deposit address';
  const most = allowedContracts[batch.contract];
  if (most === undefined) return 'a contract that is not allowed';
  const sum = batch.moves.reduce((all, { units }) => all + units, 0n);
  return sum > most ? 'more than one transfer may move' : undefined;
}

/**
 * Signs without any check: the caller has decided that the transaction may be signed. @param privateKey 32 bytes as hex with `0x`
 */
export function signingWith(privateKey: string): {
  address: string;
  sign(unsigned: Unsigned): Promise<SignedTransfer>;
  authorize(chainId: bigint, contract: string, nonce: bigint): Promise<Authorized>;
} {
  const account = privateKeyToAccount(privateKey as `0x${string}`);
  return {
    address: account.address.toLowerCase(),
    async authorize(chainId, contract, nonce) {
      // Chain id 0 would count on every chain.
      assert(chainId > 0n, 'an authorization needs a chain');
      const of = { chainId: Number(chainId), address: contract as `0x${string}`, nonce: Number(nonce) };
      const { r, s, yParity } = await account.signAuthorization(of);
      return { ...of, r, s, yParity: yParity ?? 0 };
    },
    async sign({ chainId, nonce, target, data, value, gas, price, tip, authorizations = [] }) {
      const common = {
        chainId: Number(chainId),
        nonce: Number(nonce),
        to: target as `0x${string}`,
        data: `0x${data.toString('hex')}` as const,
        value,
        gas,
      };
      const fees = { maxFeePerGas: price, maxPriorityFeePerGas: tip ?? 0n };
      const signed = await (authorizations.length > 0
        ? account.signTransaction({ ...common, ...fees, type: 'eip7702', authorizationList: [...authorizations] })
        : tip === undefined
          ? account.signTransaction({ ...common, type: 'legacy', gasPrice: price })
          : account.signTransaction({ ...common, ...fees, type: 'eip1559' }));
      return { raw: Buffer.from(signed.slice(2), 'hex'), hash: keccak256(signed) };
    },
  };
}

/** A signer in this process. @param privateKey kept only in this closure */
export function localSigner(privateKey: string, limits: SignerLimits): Signer {
  const { address, sign, authorize } = signingWith(privateKey);
  const refuses = (wanted: Wanted) => refusalOf(limits, wanted);
  return {
    address,
    refuses: async (wanted) => refuses(wanted),
    async sign(unsigned) {
      const why = refuses(unsigned) ?? (unsigned.chainId === limits.chainId ? undefined : 'another chain');
      if (why !== undefined) throw new BugError(`the signer refuses: ${why}`);
      return await sign(unsigned);
    },
    ...(limits.sweeper === undefined
      ? {}
      : {
          async authorize(sweeper: string, nonce: bigint) {
            if (sweeper !== limits.sweeper) throw new BugError('the signer refuses: another contract');
            return await authorize(limits.chainId, sweeper, nonce);
          },
        }),
  };
}

/**
 * Signers of the deposit addresses. Each can move funds only to the paying wallet: a bug, or an attacker who controls the
 * rest of the server, cannot sweep elsewhere.
 *
 * @param xprv extended private key of the deposit addresses. A process that only watches has none
 * @param limits.to the only recipient, lower case. Native units are never sent from a deposit address
 */
export function sweepSigner(
  xprv: string,
  limits: Omit<SignerLimits, 'onlyTo' | 'maxNativeUnitsPerTransfer'> & { to: string },
): (index: bigint) => Signer {
  const parent = HDKey.fromExtendedKey(xprv);
  assert(parent.privateKey !== null, 'sweeping needs the extended private key');
  const { to, ...rest } = limits;
  return (index) =>
    localSigner(depositKey(parent, index), { ...rest, maxNativeUnitsPerTransfer: 0n, onlyTo: [to.toLowerCase()] });
}

/** Private key of a deposit address, as hex with `0x`. */
export function depositKey(parent: HDKey, index: bigint): string {
  const child = parent.deriveChild(Number(index)).privateKey;
  assert(child !== null, 'a derived key has no private key');
  return `0x${Buffer.from(child).toString('hex')}`;
}

/**
 * Sending on an EVM chain: signers, gas, and a node's answers to signed bytes.
 *
 * A wallet's transactions are numbered, and the number is the slot of a send: its versions share it, and a higher fee replaces
 * a lower one at any time.
 */
import { keccak256 } from 'viem/utils';
import { assert, Unavailable } from '../../base/errors.ts';
import type { Broadcast, Call, Fate, Fee, Prepared, SendAsked } from '../chain.adapter.ts';
import { readAddress } from './addresses.ts';
import { balances } from './balances.ts';
import { authorizationsOf, prepareBatch } from './batch.sends.ts';
import { type BatchMove, batchCall, delegatingIn } from './batch.ts';
import { receipts } from './blocks.ts';
import { amounts, feeOf, offer, raised } from './fees.ts';
import { ask, type Evm, hex, higher, lower } from './node.ts';
import { count, hash32, orUnavailable, quantity, RpcError } from './rpc.ts';
import type { SignedTransfer, Signer } from './signer.ts';
import { encodeTransfer } from './transfers.ts';

const PLAIN_TRANSFER_GAS = 21_000n;
const NO_GAS = 'not enough of the native asset for gas';
/** The engine's name of a deposit address as a sending wallet. */
const DEPOSIT_WALLET = /^deposit:([0-9]+)$/;

export const signerFor = ({ code, options, address }: Evm, wallet: string): Signer | undefined => {
  const index = DEPOSIT_WALLET.exec(wallet)?.[1];
  if (index === undefined) return options.signers?.[wallet];
  const signer = options.sweepSigner?.(BigInt(index));
  assert(
    signer === undefined || signer.address === address(BigInt(index)),
    `${code} sweeps with another key than it watches`,
  );
  return signer;
};

const signerOf = (evm: Evm, wallet: string): Signer => {
  const signer = signerFor(evm, wallet);
  assert(signer, `${evm.code} has no signer for the wallet`);
  return signer;
};

export const walletAddress = ({ code, options, address }: Evm, wallet: string): string => {
  const index = DEPOSIT_WALLET.exec(wallet)?.[1];
  const known =
    index === undefined ? (options.signers?.[wallet]?.address ?? options.addresses?.[wallet]) : address(BigInt(index));
  assert(known, `a wallet of ${code} has no address`);
  return known.toLowerCase();
};

/** Without a nonce, which is taken when the row is written. */
const UNNUMBERED = { slots: [], deadline: null, body: null } as const;

type Estimated = { fee: Fee; needUnits: bigint; hasUnits: bigint };

export async function estimated(evm: Evm, wallet: string, call: Call): Promise<Estimated | { rejected: string }> {
  const { code, rpc } = evm;
  const signer = signerFor(evm, wallet);
  if (signer === undefined) return { rejected: 'no signer for this wallet' };
  const unwilling = await signer.refuses({ ...call, gas: 0n, price: 0n });
  if (unwilling !== undefined) return { rejected: unwilling };
  const asked = {
    from: signer.address,
    to: call.target,
    data: `0x${call.data.toString('hex')}`,
    value: hex(call.value),
  };
  let answer: unknown;
  try {
    answer = await rpc.call('eth_estimateGas', [asked]);
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    // Code 3 means "execution reverted". Other errors may be the node's own.
    const fails = error.code === 3 || /revert|insufficient|exceeds balance/i.test(error.message);
    if (fails) return { rejected: `would fail: ${error.message}` };
    throw new Unavailable(code, `the node rejected: ${error.message}`, { cause: error });
  }
  const usual = orUnavailable(code, () => quantity(answer, 'gas'));
  // A fifth more, because the recipient's first balance takes a storage slot, which may have existed when the gas was estimated.
  const fee = await offer(evm, usual === PLAIN_TRANSFER_GAS ? usual : usual + usual / 5n);
  const tooDear = await signer.refuses({ ...call, ...amounts(fee) });
  if (tooDear !== undefined) return { rejected: tooDear };
  const [coin] = await balances(evm, null, [signer.address]);
  const { gas, price } = amounts(fee);
  return { fee, needUnits: call.value + gas * price, hasUnits: coin ?? 0n };
}

/** A node accepts a transaction only if the wallet could pay for it at the highest price offered. */
export async function prepare(evm: Evm, wallet: string, call: Call): Promise<Prepared | { rejected: string }> {
  const found = await estimated(evm, wallet, call);
  if ('rejected' in found) return found;
  return found.hasUnits < found.needUnits ? { rejected: NO_GAS } : { ...UNNUMBERED, fee: found.fee };
}

/** A version with a higher fee under the same nonce, for which a node replaces the transaction. */
export async function replace(evm: Evm, wallet: string, call: Call, prepared: Prepared): Promise<Prepared | undefined> {
  const { maxGasPrice } = evm.options;
  const before = amounts(prepared.fee);
  const now = amounts(await offer(evm, before.gas));
  const price = higher(raised(before.price), now.price);
  const tip = before.tip === undefined ? undefined : lower(higher(raised(before.tip), now.tip ?? 0n), price);
  const signer = signerOf(evm, wallet);
  const [nonce] = prepared.slots;
  assert(nonce !== undefined, 'a send has no nonce');
  const asked = { ...call, gas: before.gas, price, nonce: BigInt(nonce) };
  if (price > maxGasPrice || (await signer.refuses(asked)) !== undefined) return undefined;
  const [coin] = await balances(evm, null, [signer.address]);
  if ((coin ?? 0n) < call.value + before.gas * price) return undefined;
  return { ...prepared, fee: feeOf({ gas: before.gas, price, tip }) };
}

export async function broadcast(evm: Evm, raw: Buffer): Promise<Broadcast> {
  const { code, rpc } = evm;
  try {
    const answer = await rpc.call('eth_sendRawTransaction', [`0x${raw.toString('hex')}`]);
    const taken = orUnavailable(code, () => hash32(answer, 'transaction hash'));
    if (taken !== keccak256(raw)) throw new Unavailable(code, 'the node says it took another transaction');
    return { taken: true };
  } catch (error) {
    if (!(error instanceof RpcError)) throw error;
    // The wording differs between clients; the meaning of these is the same.
    if (/already known|known transaction|already imported|already in mempool|ALREADY_EXISTS/i.test(error.message))
      return { taken: true };
    return {
      taken: false,
      slotUsed: /nonce (is )?too low|nonce too small|NONCE_EXPIRED/i.test(error.message),
      why: error.message,
    };
  }
}

export async function nonces(evm: Evm, wallet: string): Promise<{ mined: bigint; pending: bigint }> {
  const { address: of } = signerOf(evm, wallet);
  const [mined, pending] = await ask(
    evm,
    'eth_getTransactionCount',
    [
      [of, 'latest'],
      [of, 'pending'],
    ],
    (nonce) => count(nonce, 'nonce'),
  );
  assert(mined !== undefined && pending !== undefined, 'the node did not answer with two nonces');
  return { mined, pending };
}

export async function sign(
  evm: Evm,
  wallet: string,
  { target, data, value, depositIndex }: Call,
  { slots, fee, body }: Prepared,
): Promise<SignedTransfer> {
  const [nonce] = slots;
  assert(nonce !== undefined && slots.length === 1, 'a send has no nonce, or further slots');
  const { chainId } = evm;
  const signer = signerOf(evm, wallet);
  const delegating = delegatingIn(body);
  const authorizations =
    signer.delegates === true
      ? []
      : await authorizationsOf(delegating, target, (index) => signerOf(evm, `deposit:${index}`));
  return await signer.sign({
    chainId,
    delegating,
    authorizations,
    nonce: BigInt(nonce),
    target,
    data,
    value,
    depositIndex,
    ...amounts(fee),
  });
}

/** A call that moves these units of a token from deposit addresses to the paying wallet. */
export function callOfBatch(evm: Evm, contract: string, moves: readonly BatchMove[]): Call | { rejected: string } {
  const { batch } = evm.options;
  return batch === undefined ? { rejected: 'batches are off' } : batchCall(batch.sweeper, contract, moves);
}

export async function prepareBatchOf(
  evm: Evm,
  wallet: string,
  call: Call,
  indexes: readonly bigint[],
): Promise<Prepared | { rejected: string }> {
  const { batch } = evm.options;
  const signer = signerFor(evm, wallet);
  if (batch === undefined || signer === undefined) return { rejected: 'batches are off' };
  return await prepareBatch(evm, batch, signer, call, indexes);
}

/** Never `absent`: only reading the other transaction proves that it used a nonce. The engine reads and adopts it. */
export async function fates(evm: Evm, sends: readonly SendAsked[]): Promise<Fate[]> {
  const hashes = sends.flatMap(({ versions }) => versions.map(({ hash }) => hash));
  const found = hashes.length === 0 ? [] : await receipts(evm, hashes);
  const receiptOf = new Map(hashes.map((hash, at) => [hash, found[at]]));
  return sends.map(({ versions }): Fate => {
    const hash = versions.find((one) => receiptOf.get(one.hash) !== undefined)?.hash;
    const receipt = hash === undefined ? undefined : receiptOf.get(hash);
    return hash === undefined || receipt === undefined ? { is: 'open' } : { is: 'included', hash, ...receipt };
  });
}

export function callOf(contract: string | null, to: string, units: bigint): Call | { rejected: string } {
  const recipient = readAddress(to);
  if (recipient === undefined) return { rejected: 'not an address' };
  if (recipient === contract) return { rejected: 'tokens to their own contract' };
  return contract === null
    ? { target: recipient, data: Buffer.alloc(0), value: units }
    : { target: contract, data: encodeTransfer(recipient, units), value: 0n };
}

export const canSend = ({ options }: Evm, wallet: string): boolean =>
  DEPOSIT_WALLET.test(wallet) ? options.sweepSigner !== undefined : wallet in (options.signers ?? {});

/**
 * Sending on Tron. A transaction has no nonce and is never replaced: its expiration ensures that it happens once. It is built
 * here, with a reference to a solidified block, so that no node chooses the content to sign. Its bytes are stored before they are
 * signed, and its hash is computed from them.
 *
 * Not here: the proof that one can never be included (fates.ts).
 */
import { randomInt } from 'node:crypto';
import { assert, Unavailable } from '../../base/errors.ts';
import type { Broadcast, Call, Prepared } from '../chain.adapter.ts';
import { encodeTransfer } from '../erc20.ts';
import { accountOf, readAddress } from './addresses.ts';
import { balances } from './balances.ts';
import { energyOf, prices, why } from './fees.ts';
import { object, reading } from './http.ts';
import { newestBlock, type Tron } from './node.ts';
import { decodeRawData, decodeTransaction, encodeRawData, encodeTransaction } from './protobuf.ts';
import { hashOf, mostOf, type TronSigner, tronSignerOf } from './signer.ts';

/** Time from the newest block to the expiration, in milliseconds: the value that this chain's wallets use. */
const VALID_MS = 60_000;
/**
 * A fifth more energy than now, because a recipient's first balance takes a storage slot, and the price of a busy contract grows.
 */
const SPARE_PARTS = 5n;
const NO_GAS = 'not enough of the native asset for energy and bandwidth';
/** The engine's name of a deposit address as a sending wallet. */
const DEPOSIT_WALLET = /^deposit:([0-9]+)$/;

export function signerFor({ code, options, address }: Tron, wallet: string): TronSigner | undefined {
  const index = DEPOSIT_WALLET.exec(wallet)?.[1];
  if (index === undefined) return options.signers?.[wallet];
  const signer = options.sweepSigner?.(BigInt(index));
  assert(
    signer === undefined || signer.address === address(BigInt(index)),
    `${code} sweeps with another key than it watches`,
  );
  return signer;
}

export const canSend = ({ options }: Tron, wallet: string): boolean =>
  DEPOSIT_WALLET.test(wallet) ? options.sweepSigner !== undefined : wallet in (options.signers ?? {});

export function walletAddress({ code, options, address }: Tron, wallet: string): string {
  const index = DEPOSIT_WALLET.exec(wallet)?.[1];
  const known =
    index === undefined ? (options.signers?.[wallet]?.address ?? options.addresses?.[wallet]) : address(BigInt(index));
  assert(known, `a wallet of ${code} has no address`);
  return known;
}

export function callOf(contract: string | null, to: string, units: bigint): Call | { rejected: string } {
  const recipient = readAddress(to);
  if (recipient === undefined) return { rejected: 'not an address' };
  if (recipient === contract) return { rejected: 'tokens to their own contract' };
  return contract === null
    ? { target: recipient, data: Buffer.alloc(0), value: units }
    : { target: contract, data: encodeTransfer(accountOf(recipient), units), value: 0n };
}

interface Estimate {
  prepared: Prepared;
  needUnits: bigint;
  hasUnits: bigint;
}

/** Builds the transaction that is to be signed. */
export async function estimated(tron: Tron, wallet: string, call: Call): Promise<Estimate | { rejected: string }> {
  const signer = signerFor(tron, wallet);
  if (signer === undefined) return { rejected: 'no signer for this wallet' };
  if (call.target === signer.address) return { rejected: 'a transfer to the wallet itself' };
  const unwilling = await signer.refuses({ ...call, feeUnits: 0n });
  if (unwilling !== undefined) return { rejected: unwilling };
  const { energy: price } = await prices(tron);
  const energy = call.data.length === 0 ? 0n : await energyOf(tron, signer.address, call);
  if (typeof energy !== 'bigint') return energy;
  const feeLimit = energy === 0n ? 0n : (energy + energy / SPARE_PARTS) * price + BigInt(randomInt(1_000));
  if (feeLimit > tron.options.maxFeeLimit) return { rejected: 'a fee above the limit' };
  const [base, newest] = [await newestBlock(tron, 'walletsolidity'), await newestBlock(tron, 'wallet')];
  const expirationMs = BigInt(newest.at.getTime() + VALID_MS);
  const body = encodeRawData({
    refBlockBytes: Buffer.from(base.hash.slice(12, 16), 'hex'),
    refBlockHash: Buffer.from(base.hash.slice(16, 32), 'hex'),
    expirationMs,
    // Two transfers of one amount to one recipient must differ in something, or they are the same transaction. No node checks
    // this time, and two sends with the same hash are never stored.
    timestampMs: BigInt(Date.now() - randomInt(VALID_MS)),
    feeLimit,
    owner: signer.address,
    target: call.target,
    data: call.data,
    value: call.value,
  });
  const cost = mostOf({ feeLimit, data: call.data }, body.length);
  const tooDear = await signer.refuses({ ...call, feeUnits: cost });
  if (tooDear !== undefined) return { rejected: tooDear };
  const [coin] = await balances(tron, null, [signer.address]);
  const fee = { limit: String(feeLimit), energy: String(energy), price: String(price) };
  return {
    prepared: { slots: [], deadline: new Date(Number(expirationMs)), body, fee },
    needUnits: call.value + cost,
    hasUnits: coin ?? 0n,
  };
}

export async function prepare(tron: Tron, wallet: string, call: Call): Promise<Prepared | { rejected: string }> {
  const found = await estimated(tron, wallet, call);
  if ('rejected' in found) return found;
  return found.hasUnits < found.needUnits ? { rejected: NO_GAS } : found.prepared;
}

export async function sign(
  tron: Tron,
  wallet: string,
  call: Call,
  { body }: Prepared,
): Promise<{ raw: Buffer; hash: string }> {
  const signer = signerFor(tron, wallet);
  assert(signer, `${tron.code} has no signer for the wallet`);
  const raw = body === null ? undefined : decodeRawData(body);
  const isSame = raw?.target === call.target && raw.value === call.value && raw.data.equals(call.data);
  assert(body !== null && isSame && raw.owner === signer.address, 'the stored bytes are another transfer');
  const signature = await signer.sign(body, call.depositIndex);
  assert(tronSignerOf(body, signature) === signer.address, `the signature is not that of wallet ${wallet}`);
  return { raw: encodeTransaction(body, signature), hash: hashOf(body) };
}

/** Answers that say nothing about this transaction: the node is busy, or cannot reach other nodes. */
const BUSY = /SERVER_BUSY|NO_CONNECTION|NOT_ENOUGH_EFFECTIVE_CONNECTION|BLOCK_UNSOLIDIFIED|OTHER_ERROR/;

export async function broadcast({ code, ask }: Tron, raw: Buffer): Promise<Broadcast> {
  const answer = await ask('wallet/broadcasthex', { transaction: raw.toString('hex') });
  return reading(code, () => {
    const result = object(answer, 'broadcast');
    if (result.result === true) {
      const rawData = decodeTransaction(raw)?.rawData;
      if (rawData === undefined || result.txid !== hashOf(rawData))
        throw new Unavailable(code, 'the node says it took another transaction');
      return { taken: true };
    }
    const said = String(result.code);
    if (said === 'DUP_TRANSACTION_ERROR') return { taken: true };
    if (BUSY.test(said)) throw new Unavailable(code, `the node did not take it: ${why(result)}`);
    return { taken: false, slotUsed: false, why: why(result) };
  });
}

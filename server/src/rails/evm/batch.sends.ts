/** Preparing a batch of sweeps, and the authorizations of its deposit addresses. batch.ts encodes it. */
import { assert } from '../../base/errors.ts';
import type { Call, Prepared } from '../chain.adapter.ts';
import { balances } from './balances.ts';
import { type BatchOptions, bodyOf, type Delegating, gasOf } from './batch.ts';
import { amounts, offer } from './fees.ts';
import { ask, type Evm } from './node.ts';
import { bytesOf, count } from './rpc.ts';
import type { Authorized, Signer } from './signer.ts';

/** @param indexes numbers of the deposit addresses, in the order of the call's items */
export async function prepareBatch(
  evm: Evm,
  { sweeper }: BatchOptions,
  signer: Signer,
  call: Call,
  indexes: readonly bigint[],
): Promise<Prepared | { rejected: string }> {
  const addresses = indexes.map((index) => evm.address(index));
  const code = await ask(
    evm,
    'eth_getCode',
    addresses.map((address) => [address, 'latest']),
    (answer) => bytesOf(answer, 'code').toString('hex'),
  );
  const nonces = await ask(
    evm,
    'eth_getTransactionCount',
    addresses.map((address) => [address, 'latest']),
    (answer) => count(answer, 'nonce'),
  );
  // EIP-7702: the code of a delegated account is this prefix and the contract.
  const delegated = `ef0100${sweeper.slice(2)}`;
  const authorize = indexes.flatMap((index, at) =>
    code[at] === delegated ? [] : [{ index, nonce: nonces[at] ?? 0n }],
  );
  // Not estimated: a node looks for the least gas with which the transaction succeeds, and it succeeds without moving anything.
  const fee = await offer(evm, gasOf(indexes.length, authorize.length));
  const unwilling = await signer.refuses({ ...call, ...amounts(fee) });
  if (unwilling !== undefined) return { rejected: unwilling };
  const { gas, price } = amounts(fee);
  const [coin] = await balances(evm, null, [signer.address]);
  if ((coin ?? 0n) < gas * price) return { rejected: 'not enough of the native asset for gas' };
  return { slots: [], deadline: null, body: bodyOf(authorize), fee };
}

/** The authorizations of a batch, signed. The same nonces give the same signatures. */
export async function authorizationsOf(
  delegating: readonly Delegating[],
  sweeper: string,
  signerOf: (index: bigint) => Signer,
): Promise<Authorized[]> {
  const all: Authorized[] = [];
  for (const { index, nonce } of delegating) {
    const { authorize } = signerOf(index);
    assert(authorize, 'the signer of a deposit address cannot authorize');
    all.push(await authorize(sweeper, nonce));
  }
  return all;
}

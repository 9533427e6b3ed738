/** The options of an EVM rail. */
import type { Http } from '../../base/http.ts';
import type { ChainPace } from '../chain.adapter.ts';
import type { BatchOptions } from './batch.ts';
import type { NodeUrl } from './rpc.ts';
import type { Signer } from './signer.ts';

export interface EvmOptions {
  /** `evm.matic20` and `matic20`. */
  code: string;
  chain: string;
  rpcUrl: NodeUrl;
  /** Whether that node has not been started yet. */
  isAsleep?: () => boolean;
  /** Further nodes of the chain, used if that one does not answer. */
  spareRpcUrls?: readonly string[];
  chainId: bigint;
  /** Extended public key whose children are the deposit addresses. */
  xpub: string;
  /** Wallets by name; `hot` pays customers. */
  signers?: Readonly<Record<string, Signer>>;
  /** Addresses of wallets whose signers are elsewhere: they are watched, and this process cannot send from them. */
  addresses?: Readonly<Record<string, string>>;
  /** Signers of the deposit addresses by index; only in a process that sweeps. */
  sweepSigner?: (index: bigint) => Signer;
  /** Number of blocks below the head from which on a block is treated as final. */
  finality: number;
  /** Maximum native units per unit of gas that are ever offered, or charged in a quote. */
  maxGasPrice: bigint;
  /** Sweeps in batches through a contract of ours (docs/decisions/0100-batched-sweeps.md). Without it each sweep is sent alone. */
  batch?: BatchOptions;
  pace?: Partial<ChainPace>;
  deadlineMs?: number;
  maxResponseBytes?: number;
  /** HTTP client. */
  http?: Http;
}

/**
 * The common part of all controls of the sandbox: their context, their refusals, and their report of an outside system that does
 * not answer.
 */
import type { Vault } from '../base/crypto.ts';
import type { Tx } from '../base/db.ts';
import { Refusal, Unavailable } from '../base/errors.ts';
import { enqueue } from '../base/jobs.ts';
import type { Order, OrdersContext } from '../orders/index.ts';
import { type Asset, assets } from '../partners/index.ts';
import type { SandboxControls } from '../protocols/whitelabel/index.ts';
import type { PriceSource } from '../quotes/index.ts';
import type { ChainRail } from '../rails/chain.ts';
import { OBSERVE } from '../rails/rail.ts';
import type { SimulatedBank } from '../rails/simulated/index.ts';
import type { Payer } from './payer.ts';
import { BANK } from './seed.ts';

export interface ControlsContext extends OrdersContext {
  vault: Vault;
  chains: ReadonlyMap<string, ChainRail>;
  prices: ReadonlyMap<string, PriceSource>;
  bank: SimulatedBank;
  payer: Payer;
  finalize(chain: string): Promise<void>;
  reorg(chain: string, blocks: number): Promise<void>;
  /** Starts the node of a sleeping chain. @throws Unavailable */
  wake(chain: string): Promise<void>;
  /** Whether messages to partners are dropped. */
  webhooks: { dropped: boolean };
}

/** A control's input and reply. */
export type Asked<Name extends keyof SandboxControls> = Parameters<SandboxControls[Name]>[0];
export type Answered<Name extends keyof SandboxControls> = ReturnType<SandboxControls[Name]>;

export const wrong = (field: string, why: string): Refusal =>
  new Refusal('malformed_field', { fields: { [field]: why } });

export const assetOf = async ({ db }: ControlsContext, code: string): Promise<Asset | undefined> =>
  (await db.asSystem(assets)).get(code);

export const paidByBank = ({ chains }: ControlsContext, order: Order): boolean => !chains.has(order.depositRail);

export const looksAtTheBank = ({ clock }: ControlsContext, tx: Tx): void =>
  enqueue(tx, { kind: OBSERVE, subject: BANK, dueAt: clock.now() });

/** Prefix of the ids of a partner's own lines at the bank. */
export const ownLine = (partnerId: bigint): string => `sandbox-${partnerId}-`;

/**
 * Turns an outage of an outside system into an error for the caller. @param said its text; undefined for the error's own
 * message
 */
export async function saying<T>(said: string | undefined, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof Unavailable) || said === undefined) throw error;
    throw new Unavailable(error.source, 'not done', { cause: error, retryAfterMs: error.retryAfterMs, said });
  }
}

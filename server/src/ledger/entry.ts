/** Entries and their lines in three forms: as callers give them, resolved to accounts, and as reports show them. */
import type { AssetCode } from '../base/money.ts';
import type { Account } from './chart.ts';

export type Line =
  | { step: 'post'; debit: Account; credit: Account; units: bigint }
  | { step: 'hold'; hold: string; debit: Account; credit: Account; units: bigint }
  | { step: 'settle'; hold: string }
  | { step: 'void'; hold: string };

export interface Entry {
  /** The cause. Unique forever. */
  id: string;
  kind: string;
  orderId?: bigint;
  at: Date;
  /** Ids and numbers that explain the entry; never personal data. */
  facts?: Readonly<Record<string, string | number>>;
  lines: readonly Line[];
}

export interface ResolvedLine {
  step: Line['step'];
  hold: string | null;
  debit: bigint;
  credit: bigint;
  asset: AssetCode;
  units: bigint;
}

export interface TrialBalance {
  asset: AssetCode;
  debits: bigint;
  credits: bigint;
  heldDebits: bigint;
  heldCredits: bigint;
}

export interface StatementLine {
  entry: string;
  kind: string;
  at: Date;
  step: Line['step'];
  debit: string;
  credit: string;
  asset: AssetCode;
  units: bigint;
}

/**
 * Adapter: what a price source, verifier, sender of codes or bank says of itself, in the folder or file that it is. registry.ts
 * lists them, and everything else follows from the list: settings and what production demands of them (config.ts,
 * production/refusals.ts), `npm run config`, docs/settings.md, and the contract tests.
 *
 * Settings belong to one adapter, and their names to nobody else; a test looks. They are read and judged by their rules whether
 * or not the adapter is used; what they demand is asked only where it is.
 */
import type { Read, Settings } from './env.ts';

/** @typeParam T what it makes. @typeParam C what it is submitted for that by the installation, beside its settings */
export interface Adapter<T, C = void> {
  /** Stands in rows and settings, so it never changes. */
  readonly code: string;
  /** One line for people who choose. */
  readonly about: string;
  /** Why production does not start with it; absent where it is meant for real money. */
  readonly sandboxOnly?: string;
  readonly settings: Settings;
  /** @throws SettingError naming the setting and its rule */
  create(values: Values, context: C): T;
}

/** The settings of one adapter, as it has declared them. */
export type Values = Readonly<Record<string, unknown>>;

/** Declares an adapter; what its settings are read to is known within it and forgotten in lists. */
export const adapter = <const S extends Settings, T, C = unknown>(declared: {
  code: string;
  about: string;
  sandboxOnly?: string;
  settings: S;
  create(values: Read<S>, context: C): T;
}): Adapter<T, C> => declared as unknown as Adapter<T, C>;

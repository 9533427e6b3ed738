/**
 * Adapter: the declaration that each price source, verifier, code sender, bank, channel of alerts, provider of address risk and
 * travel rule protocol exports from its own file or folder.
 * registry.ts lists the adapters, and everything else is derived from that list: settings and what production requires of them
 * (config.ts, production/refusals.ts), `npm run config`, docs/settings.md, and the contract tests.
 *
 * A setting belongs to exactly one adapter, and its name is unique; a test checks this. Settings are always read and
 * validated, whether or not the adapter is used; a required setting must be present only when the adapter is used.
 */
import type { Read, Settings } from './env.ts';

/** @typeParam T what the adapter creates. @typeParam C what the installation passes to `create` besides the settings */
export interface Adapter<T, C = void> {
  /** Stored in rows and settings, so it never changes. */
  readonly code: string;
  /** One line that helps an operator choose. */
  readonly about: string;
  /** Why production refuses to start with it; absent for an adapter that handles real money. */
  readonly sandboxOnly?: string;
  readonly settings: Settings;
  /** @throws SettingError with the setting and the rule that it violates */
  create(values: Values, context: C): T;
}

/** The values of one adapter's settings, by name. */
export type Values = Readonly<Record<string, unknown>>;

/** Declares an adapter. The types of its settings are known inside the declaration and erased in lists. */
export const adapter = <const S extends Settings, T, C = unknown>(declared: {
  code: string;
  about: string;
  sandboxOnly?: string;
  settings: S;
  create(values: Read<S>, context: C): T;
}): Adapter<T, C> => declared as unknown as Adapter<T, C>;

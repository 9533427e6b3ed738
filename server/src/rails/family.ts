/**
 * A family of chains, as an installation's chains file configures it: the fields that it adds, its spelling of addresses, and how
 * a rail is opened with them, and its transactions signed. families.ts lists the families; the code that reads the file and starts the rails is independent of
 * them.
 */
import { isSafe, webAddress } from '../base/fields.ts';
import { listAt, readAt } from '../base/jsonfile.ts';
import type { ChainPace, RailContext } from './chain.adapter.ts';
import type { ChainRail } from './chain.rail.ts';
import type { ChainSigning } from './signing.ts';

/** The fields that the file has for a chain of any family. */
export interface ChainSettings {
  code: string;
  chain: string;
  chainId: bigint;
  xpub: string;
  hotWallet: string;
}

/** A chain that this installation is connected to. */
export interface ConnectedChain {
  readonly chain: string;
  readonly chainId: bigint;
  /** @param pace  overrides the pace of the real chain */
  open(context: RailContext, pace?: Partial<ChainPace>): ChainRail;
}

const node = webAddress(
  'an https address, or http on this machine, without a login',
  (url) => isSafe(url) && url.username === '',
);

/** Up to five nodes, asked in this order. @throws SettingError without the URL, which may contain an API key */
export const nodesAt = (value: unknown, at: string): [string, ...string[]] =>
  listAt(value, at, { most: 5 }).map((url, i) => readAt(url, `${at}[${i}]`, node)) as [string, ...string[]];

/** @typeParam Keys  the signer's client, as this family uses it */
export interface ChainFamily<Keys> {
  /** As in the file; the code of a rail is `<code>.<chain>`. */
  readonly code: string;
  /** Decimals of the native asset. */
  readonly nativeDecimals: number;
  /** The family's own fields of a chain in the file. */
  readonly fields: readonly string[];
  /**
   * Reads the family's own fields.
   *
   * @returns a function that connects the chain with these; without keys the chain is only watched
   * @throws SettingError with the field and its rule
   */
  read(
    given: Readonly<Record<string, unknown>>,
    at: string,
  ): (settings: ChainSettings, keys: Keys | undefined) => ConnectedChain;
  /** The one spelling of an address; undefined if the text is no address. */
  readAddress(text: string): string | undefined;
  readonly addressRule: string;
  /** The 20 bytes of an address, as the signer names it: hex with `0x`. */
  accountOf(address: string): string;
  readonly signing: ChainSigning;
}

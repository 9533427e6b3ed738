/**
 * Publicly known keys: those of the phrase that local nodes use by default. Funds sent to one of them on a real chain are stolen
 * within a block.
 */
import { HDKey } from '@scure/bip32';
import { mnemonicToSeedSync } from '@scure/bip39';
import { addressOfPublicKey } from '../rails/evm/index.ts';

const PHRASE = 'test test test test test test test test test test test junk';
const ACCOUNTS = 20;
/** Derivation paths at which programs look for deposit addresses of a phrase. */
const BRANCHES = ["m/44'/60'/0'", "m/44'/60'/0'/0", "m/44'/60'/1'", "m/44'/60'/1'/0"];

let known: { addresses: ReadonlySet<string>; xpubs: ReadonlySet<string> } | undefined;

/** Computed once, at first use, because deriving keys from a phrase takes thousands of hashes. */
function derived() {
  const root = HDKey.fromMasterSeed(mnemonicToSeedSync(PHRASE));
  const account = root.derive("m/44'/60'/0'/0");
  const addressOf = (at: number) => addressOfPublicKey(account.deriveChild(at).publicKey ?? new Uint8Array());
  return {
    addresses: new Set(Array.from({ length: ACCOUNTS }, (_, at) => addressOf(at))),
    xpubs: new Set(BRANCHES.map((path) => root.derive(path).publicExtendedKey)),
  };
}

const all = () => {
  known ??= derived();
  return known;
};

/** Lower case. */
export const isTestAddress = (address: string): boolean => all().addresses.has(address);
export const isTestXpub = (xpub: string): boolean => all().xpubs.has(xpub);

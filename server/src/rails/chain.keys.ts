/** Keys of sends that are not payouts, recognised by their prefix. */

/** Transfers of a simulated customer, without a payout. No facts are reported about them. */
export const SANDBOX_KEY = 'sandbox:';
/** Transfers between our own wallets. They are reported as such, and only when final. */
export const SWEEP_KEY = 'sweep:';
export const GAS_KEY = 'gas:';
/** Transfers to an address of the operator outside this server. */
export const TRANSFER_KEY = 'transfer:';
/** Whether a transfer is from one wallet of this server to another. */
export const isBetweenWallets = (key: string): boolean => key.startsWith(SWEEP_KEY) || key.startsWith(GAS_KEY);
export const isOwn = (key: string): boolean => isBetweenWallets(key) || key.startsWith(TRANSFER_KEY);
/** A batch of sweeps in one transaction of the paying wallet: `sweep:<rail>:batch:<hash>`. */
export const batchKeyOf = (rail: string, hash: string): string => `${SWEEP_KEY}${rail}:batch:${hash}`;
export const isBatch = (key: string): boolean => /^sweep:[^:]+:batch:/.test(key);

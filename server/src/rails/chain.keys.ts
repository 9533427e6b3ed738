/** Keys of sends that are not payouts, distinguished by their prefix. */

/** Keys of transfers without a payout: those of a simulated customer. No facts are reported of them. */
export const SANDBOX_KEY = 'sandbox:';
/** Keys of transfers between our own wallets. They are reported as such, and only when final. */
export const SWEEP_KEY = 'sweep:';
export const GAS_KEY = 'gas:';
/** To an address of the operator outside this server. */
export const TRANSFER_KEY = 'transfer:';
/** From one wallet of this server to another. */
export const isBetweenWallets = (key: string): boolean => key.startsWith(SWEEP_KEY) || key.startsWith(GAS_KEY);
export const isOwn = (key: string): boolean => isBetweenWallets(key) || key.startsWith(TRANSFER_KEY);

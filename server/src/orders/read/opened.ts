/** Decrypts the texts of an order that its partner typed. */
import type { Vault } from '../../base/crypto.ts';
import { openTextOrNull } from '../../base/texts.ts';
import type { ListedOrder } from '../store.ts';

/** The order with its encrypted texts decrypted. */
export const opened = <O extends ListedOrder>(vault: Vault, order: O): O => ({
  ...order,
  merchantReference: openTextOrNull(vault, order.partnerId, order.merchantReference),
  payerReference: openTextOrNull(vault, order.partnerId, order.payerReference),
});

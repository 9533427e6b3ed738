/** Ids of the entries by which operators explain a debit: facts of the debit that come later look for them. */

/**
 * Id of the entry that explains an unexplained debit.
 *
 * @param debit id of the debit's own entry
 * @param as    the correction: `fee`, `recall`, `partner_fees` or `lost_order`
 */
export const explainedEntry = (debit: string, as: string): string => `${debit}:${as === 'lost_order' ? 'order' : as}`;

/** In an entry id: separates the id of the `lost_order` entry from the id of a further deposit. */
export const LOST_PART = ':with_';

/**
 * Rights that need a fresh login when they are used by session: rights that move or release money, and rights that could grant
 * such rights.
 */
import type { Right } from '../../operators/index.ts';

const FRESH_RIGHTS: ReadonlySet<Right> = new Set([
  ...(['money', 'treasury', 'resume', 'reviews'] as const),
  ...(['partners', 'terms', 'compliance', 'operators'] as const),
]);

export const needsFresh = (right: Right): boolean => FRESH_RIGHTS.has(right);

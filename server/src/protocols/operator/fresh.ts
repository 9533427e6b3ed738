/**
 * Which rights take a fresh login when they are used by a session: those that move money or let it move, and those that could give
 * them away.
 */
import type { Right } from '../../operators/index.ts';

const FRESH_RIGHTS: ReadonlySet<Right> = new Set([
  ...(['money', 'resume', 'reviews'] as const),
  ...(['partners', 'terms', 'operators'] as const),
]);

export const needsFresh = (right: Right): boolean => FRESH_RIGHTS.has(right);

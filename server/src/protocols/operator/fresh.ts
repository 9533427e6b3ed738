/** Which rights take a fresh login when they are used by a session: those that move money, and those that could give them away. */
import type { Right } from '../../operators/index.ts';

const FRESH_RIGHTS: ReadonlySet<Right> = new Set(['money', 'partners', 'terms', 'operators']);

export const needsFresh = (right: Right): boolean => FRESH_RIGHTS.has(right);

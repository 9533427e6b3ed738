/**
 * Rights that need a fresh login when they are used by session: rights that move or release money, and rights that could grant
 * such rights.
 */
import { Refusal } from '../../base/errors.ts';
import type { Right, Session } from '../../operators/index.ts';
import { STEP_UP_MS } from '../browser.ts';

const FRESH_RIGHTS: ReadonlySet<Right> = new Set([
  ...(['money', 'treasury', 'resume', 'reviews'] as const),
  ...(['partners', 'terms', 'compliance', 'operators'] as const),
]);

export const needsFresh = (right: Right): boolean => FRESH_RIGHTS.has(right);

/**
 * A stolen session alone must move no money. Tokens are exempt, because a browser has none. @throws Refusal 'step_up_required'
 */
export function requireFresh({ session }: { session?: Session | undefined }, now: Date): void {
  if (session === undefined) return;
  if (session.freshAt === null || now.getTime() - session.freshAt.getTime() > STEP_UP_MS)
    throw new Refusal('step_up_required');
}

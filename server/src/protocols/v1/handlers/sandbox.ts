/**
 * Controls of the sandbox. They call chains and banks, so they run before the transaction that stores the reply. A payment uses
 * the request's Idempotency-Key, so it is made once.
 */
import { parseUnits } from '../../../base/money.ts';
import { assets } from '../../../partners/index.ts';
import { type Control, runControl } from '../../controls.ts';
import { CONTROL_ENDPOINTS } from '../declared/sandbox.ts';
import { type Asked, type Handled, writes } from '../handler.ts';

const run = ({ deps, caller, values, idempotencyKey, inTx }: Asked, control: Control): Promise<object> =>
  runControl(control, deps.sandbox?.controls, {
    wire: 'v1',
    values,
    partnerId: caller.partner.id,
    keyOf: () => idempotencyKey,
    orderOf: (id) => inTx((tx) => deps.orders.get(tx, { id: id as bigint })),
    async unitsOf({ depositAsset }, amount) {
      if (amount === undefined) return undefined;
      return parseUnits(amount, (await inTx(assets)).get(depositAsset)?.decimals ?? 0);
    },
  });

export const SANDBOX_HANDLERS: readonly Handled[] = CONTROL_ENDPOINTS.map(({ control, declared }) => {
  const done = new WeakMap<object, object>();
  return writes(declared, async (_tx, asked) => ({ control: declared.name, facts: { ...done.get(asked) } }), {
    before: async (asked) => void done.set(asked, await run(asked, control)),
  });
});

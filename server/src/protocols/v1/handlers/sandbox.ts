/**
 * Controls of the sandbox. They call chains and banks, so they run before the transaction that stores the reply. A payment uses
 * the request's Idempotency-Key, so it is made once.
 */
import { Refusal } from '../../../base/errors.ts';
import { parseUnits } from '../../../base/money.ts';
import type { Order } from '../../../orders/index.ts';
import { assets } from '../../../partners/index.ts';
import type { Fields } from '../../declaration/fields.ts';
import type { BankFault, PayHow, SandboxControls } from '../../sandbox.ts';
import type { Declared } from '../declare.ts';
import { SANDBOX } from '../declared/sandbox.ts';
import { type Asked, type Handled, writes } from '../handler.ts';

/** In the spelling of the sandbox module. */
const upper = <T extends string>(word: Lowercase<T>): T => word.toUpperCase() as T;

function control<F extends Fields>(
  declared: Declared<F> & { gives: (typeof SANDBOX.pay)['gives'] },
  act: (controls: SandboxControls, asked: Asked<F>) => Promise<object>,
): Handled {
  const done = new WeakMap<object, object>();
  return writes(declared, async (_tx, asked) => ({ control: declared.name, facts: { ...done.get(asked) } }), {
    async before(asked) {
      const controls = asked.deps.sandbox?.controls;
      if (controls === undefined) throw new Refusal('sandbox_only');
      done.set(asked, await act(controls, asked as Asked<F>));
    },
  });
}

type OfOrder = Asked<{ order: (typeof SANDBOX.recall)['fields']['order'] }>;
const orderOf = ({ deps, inTx, values }: OfOrder): Promise<Order> =>
  inTx((tx) => deps.orders.get(tx, { id: values.order }));

async function unitsOf({ inTx }: Asked, order: Order, amount: string | undefined): Promise<bigint | undefined> {
  if (amount === undefined) return undefined;
  const decimals = (await inTx(assets)).get(order.depositAsset)?.decimals ?? 0;
  return parseUnits(amount, decimals);
}

export const SANDBOX_HANDLERS: readonly Handled[] = [
  control(SANDBOX.pay, async (controls, asked) => {
    const { how = 'exact', amount } = asked.values;
    const order = await orderOf(asked);
    const units = await unitsOf(asked, order, amount);
    return await controls.pay({ order, how: upper<PayHow>(how), units, key: asked.idempotencyKey });
  }),
  control(SANDBOX.credit, async (controls, asked) => {
    const { payerReference = 'right', payerName = 'right', amount } = asked.values;
    const order = await orderOf(asked);
    const units = await unitsOf(asked, order, amount);
    const said = {
      reference: upper<'RIGHT' | 'NONE' | 'WRONG'>(payerReference),
      name: upper<'RIGHT' | 'WRONG' | 'NONE'>(payerName),
    };
    return await controls.credit({ order, units, ...said, key: asked.idempotencyKey });
  }),
  control(SANDBOX.recall, async (controls, asked) =>
    controls.recall({ partnerId: asked.caller.partner.id, order: await orderOf(asked) }),
  ),
  control(SANDBOX.bounce, async (controls, asked) => controls.bounce({ order: await orderOf(asked) })),
  control(SANDBOX.screening, async (controls, asked) =>
    controls.screening({ order: await orderOf(asked), fails: asked.values.outcome === 'fail' }),
  ),
  control(SANDBOX.clock, (controls, { caller, values }) =>
    controls.advanceClock({ partnerId: caller.partner.id, ms: values.seconds * 1_000 }),
  ),
  control(SANDBOX.webhooks, (controls, { values }) => controls.dropWebhooks({ drop: values.deliveries === 'drop' })),
  control(SANDBOX.prices, (controls, { values }) => controls.movePrice({ ...values, price: values.price })),
  control(SANDBOX.treasury, (controls, { values: { currency, chain, level } }) =>
    controls.treasury({ currency, chain, state: upper<'DRY' | 'FILLED'>(level), amount: undefined }),
  ),
  control(SANDBOX.bank, (controls, { values: { fault, times = 1 } }) =>
    controls.bankFault({ fault: upper<BankFault | 'NONE'>(fault), times, delayMs: 8_000 }),
  ),
  control(SANDBOX.reorg, (controls, { values }) => controls.reorg(values)),
];

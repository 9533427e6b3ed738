/**
 * Lists of all of a partner's transactions: in the shape of a customer's list, and flat with numbers for accounting.
 *
 * Both read ranges of a sequence (orders), so a late page costs as much as the first one.
 */
import { defined } from '../../../base/defined.ts';
import type { Direction, ListedOrder } from '../../../orders/index.ts';
import { type Asset, assets, markets } from '../../../partners/index.ts';
import type { Reply } from '../../protocol.ts';
import { fiatIfNamed, optionalFiat } from '../fiat.ts';
import { moment, oneOf, optional, required, wholeNumber } from '../fields.ts';
import { ok, type SignedRequest, whenNeeded } from '../route.ts';
import { type Assets, historyShape, offrampShape, onrampShape } from '../shapes.ts';

const MOST = 500;

export const allFields = {
  page: required(wholeNumber({ min: 1 })),
  pageSize: required(wholeNumber({ min: 1, max: MOST })),
};

export const listAllOnramp = (input: SignedRequest<typeof allFields>): Promise<Reply> =>
  listAll('onramp', input, onrampShape);
export const listAllOfframp = (input: SignedRequest<typeof allFields>): Promise<Reply> =>
  listAll('offramp', input, offrampShape);

async function listAll(
  direction: Direction,
  { deps, caller, values, readOnly: look }: SignedRequest<typeof allFields>,
  shape: (order: ListedOrder, assets: Assets) => unknown,
): Promise<Reply> {
  return await look(async (tx) => {
    const { orders, total } = await deps.orders.listAll(tx, { partnerId: caller.partner.id, direction, ...values });
    const known = await assets(tx);
    return listed(
      orders.map((order) => shape(order, known)),
      total,
    );
  });
}

const listed = (items: unknown[], total: bigint): Reply => ok(items, { 'x-total-count': String(total) });

/** Programs may omit all of these; the reply is then the first fifty purchases, oldest first. */
export const historyFields = {
  page: optional(wholeNumber({ min: 1 })),
  pageSize: optional(wholeNumber({ min: 1, max: MOST })),
  since: optional(moment),
  order: optional(oneOf('ASC', 'DESC')),
  type: optional(oneOf('1', '2'), '1: buying. 2: selling'),
  ...optionalFiat,
};

export async function merchantHistory({
  deps,
  caller,
  values,
  readOnly: look,
}: SignedRequest<typeof historyFields>): Promise<Reply> {
  const { page = 1, pageSize = 50, since, order = 'ASC', type = '1' } = values;
  const fiat: Pick<Asset, 'code'> | undefined = fiatIfNamed(values, await markets(whenNeeded(deps.db)));
  return await look(async (tx) => {
    const { orders, total } = await deps.orders.listAll(tx, {
      partnerId: caller.partner.id,
      direction: type === '1' ? 'onramp' : 'offramp',
      oldestFirst: order === 'ASC',
      page,
      pageSize,
      ...defined({ since }),
      ...defined({ fiat: fiat?.code }),
    });
    const known = await assets(tx);
    return listed(
      orders.map((one) => historyShape(one, known)),
      total,
    );
  });
}

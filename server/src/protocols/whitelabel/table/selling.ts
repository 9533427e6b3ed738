/** Endpoints for selling crypto. */
import { allFields, listAllOfframp } from '../endpoints/lists.ts';
import {
  createFields,
  createOfframp,
  getOfframp,
  listOfframp,
  offrampListFields,
  quoteOfframp,
} from '../endpoints/offramp.ts';
import { quoteFields, transactionFields } from '../endpoints/orders.ts';
import { destinationFields, nameDestinationIn, refundsFields, refundsIn } from '../endpoints/refunds.ts';
import * as replies from '../replies.ts';
import { type Route, signed, wl } from '../route.ts';
import { COUNTED, IDEMPOTENT, ONE_OF_ITS, onBank, QUOTE_HEADERS, QUOTED, TRADING } from './parts.ts';

export const SELLING: readonly Route[] = [
  signed({
    paths: wl('offramp/quote'),
    scope: 'trade',
    says: 'Quotes a sale of coins.',
    takes: quoteFields,
    gives: replies.QUOTE,
    headers: QUOTE_HEADERS,
    refuses: QUOTED,
    answer: quoteOfframp,
  }),
  signed({
    paths: wl('offramp/createTransaction'),
    scope: 'trade',
    says: 'Creates a sale, once per request, and returns the address to which the customer sends the coins.',
    takes: createFields,
    gives: replies.CREATED_SALE,
    refuses: [...IDEMPOTENT, ...TRADING, ...QUOTED, 'unknown_account', 'price_moved', 'destination_held'],
    answer: createOfframp,
  }),
  signed({
    paths: wl('offramp/transaction'),
    scope: 'read',
    says: 'Returns one sale, with its refunds and the payouts that came back.',
    takes: transactionFields,
    gives: replies.SALE_DETAIL,
    refuses: ONE_OF_ITS,
    answer: getOfframp,
  }),
  signed({
    paths: wl('offramp/allUserTransaction', onBank('offramp/allUserTransaction')),
    scope: 'read',
    says: 'Lists the sales of a customer, newest first.',
    takes: offrampListFields,
    gives: replies.SALES,
    headers: COUNTED,
    refuses: ['unknown_customer'],
    answer: listOfframp,
  }),
  signed({
    paths: wl('offramp/allTransaction'),
    scope: 'read',
    says: 'Lists all sales of the partner, newest first.',
    takes: allFields,
    gives: replies.SALES,
    headers: COUNTED,
    answer: listAllOfframp,
  }),
  signed({
    paths: wl('offramp/refundDestination'),
    scope: 'trade',
    method: 'PUT',
    says: 'Names the destination of a refund of a sale, or of a payout that came back and is paid again.',
    takes: destinationFields,
    gives: replies.NAMED_DESTINATION,
    refuses: [...ONE_OF_ITS, 'unknown_account', 'unknown_refund', 'refund_under_way', 'order_over', 'destination_held'],
    answer: nameDestinationIn('offramp'),
  }),
  signed({
    paths: wl('offramp/refunds'),
    scope: 'read',
    says: 'Returns the money received for a sale, its refunds, and the payouts that came back.',
    takes: refundsFields,
    gives: replies.REFUNDS,
    refuses: ONE_OF_ITS,
    answer: refundsIn('offramp'),
  }),
];

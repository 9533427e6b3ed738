/** A story with clients of the partner API, and functions for the actions of a partner. */
import assert from 'node:assert/strict';
import { randomBytes, randomUUID } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { openFolder } from '../../../src/base/blobs.ts';
import { outsideFor } from '../../../src/events/index.ts';
import { openOrders } from '../../../src/orders/index.ts';
import { openPartners } from '../../../src/partners/index.ts';
import { team } from '../../../src/protocols/team/index.ts';
import { type V1Deps, v1 } from '../../../src/protocols/v1/index.ts';
import { createServer } from '../../../src/protocols/whitelabel/index.ts';
import { type Came, newPhone } from '../../support/client.ts';
import { freshFolder } from '../../support/folder.ts';
import { openStory, type Purchase, type Sale, type Story, type StoryOptions } from '../../support/story.ts';
import { openV1, type V1Client } from '../../support/v1.ts';

export type V1Environment = Awaited<ReturnType<typeof v1Environment>>;

/** Another server of the same installation, with settings of its own. */
export async function besideStory(
  s: Story,
  over: Partial<V1Deps> & { loginsPerMinute?: number } = {},
): Promise<{ baseUrl: string; close(): Promise<void> }> {
  const { db, vault, orders: context } = s.server;
  const { clock, log } = context;
  const app = createServer({ log });
  let baseUrl = '';
  await app.register(
    v1({
      ...{
        db,
        vault,
        blobs: openFolder(freshFolder('beside')),
        clock,
        log,
        context,
        publicUrl: () => baseUrl,
        egress: outsideFor('production'),
      },
      ...{
        profile: 'production',
        hasDocs: false,
        coolingOffMs: 86_400_000,
        networkIds: new Map(),
        highestLevelFor: () => 5,
      },
      partners: openPartners({ db, vault, clock }),
      orders: openOrders({ ...context, vault }),
      ...over,
    }),
  );
  const { profile = 'production', loginsPerMinute = 30 } = over;
  await app.register(team({ db, clock, log, publicUrl: () => baseUrl, profile, loginsPerMinute }));
  await app.listen({ port: 0, host: '127.0.0.1' });
  baseUrl = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`;
  return { baseUrl, close: () => app.close() };
}

export async function v1Environment(options: StoryOptions = {}) {
  const s = await openStory(options);
  const [keys, otherKeys] = s.server.sandbox.partners;
  assert.ok(keys && otherKeys);
  const api = openV1(s.server.baseUrl, keys);
  const other = openV1(s.server.baseUrl, otherKeys);

  /** A customer who has logged in and is verified. */
  async function customer(): Promise<string> {
    const made = await api.does('POST', '/customers', {
      ...{ reference: randomUUID(), kind: 'individual', phone: newPhone() },
    });
    await s.told('test/changeKycStatus', { customerId: made.id, status: 'ADVANCE_KYC_COMPLETED' });
    return made.id;
  }

  const account = async (customerId: string, ending = '0000', by: V1Client = api): Promise<Came> =>
    await by.does('POST', `/customers/${customerId}/destinations`, {
      ...{ kind: 'account', asset: 'inr', ifsc: 'HDFC0000001' },
      accountNumber: `0001${randomBytes(3).readUIntBE(0, 3).toString().padStart(8, '0')}${ending}`,
    });
  const address = async (customerId: string, by: V1Client = api): Promise<Came> =>
    await by.does('POST', `/customers/${customerId}/destinations`, {
      ...{ kind: 'address', chain: 'matic20', address: `0x${randomBytes(20).toString('hex')}` },
    });

  /** Sells usdc for rupees. */
  async function sells(
    amount: string,
    how: {
      customerId?: string;
      destinationId?: string;
      refundDestinationId?: string;
      reference?: string;
      ending?: string;
    } = {},
  ): Promise<Came> {
    const customerId = how.customerId ?? (await customer());
    const destinationId = how.destinationId ?? (await account(customerId, how.ending)).id;
    const quote = await api.does('POST', '/quotes', {
      ...{ payAsset: 'usdc.matic20', receiveAsset: 'inr', payAmount: amount },
    });
    return await api.does('POST', '/orders', {
      ...{ quoteId: quote.id, customerId, destinationId },
      ...(how.reference === undefined ? {} : { reference: how.reference }),
      ...(how.refundDestinationId === undefined ? {} : { refundDestinationId: how.refundDestinationId }),
    });
  }

  /** The order in the form that stories use. */
  const sale = (order: Came): Sale => ({
    ...{ id: BigInt(order.id), customerId: order.customerId, chain: 'matic20', coin: 'usdc', asset: 'usdc.matic20' },
    ...{ fiat: 'INR', depositAddress: order.payment.address, fromAmount: order.pay.amount },
    ...{ toAmount: order.receive.amount, fees: { operator: 0n, partner: 0n, rail: 0n, chain: 0n } },
  });
  const purchase = (order: Came): Purchase => ({
    ...{ id: BigInt(order.id), customerId: order.customerId, chain: 'matic20', coin: 'usdc', asset: 'usdc.matic20' },
    ...{ fiat: 'INR', reference: order.payment.reference, address: order.destination.address },
    ...{ fromAmount: order.pay.amount, toAmount: order.receive.amount },
    fees: { operator: 0n, partner: 0n, rail: 0n, chain: 0n },
  });

  const get = (order: { id: string }): Promise<Came> => api.does('GET', `/orders/${order.id}`);
  const traced = (order: { id: string }): Promise<Came> => api.does('GET', `/orders/${order.id}/trace`);

  /** Waits until the order is in a state, and mines blocks meanwhile. */
  const becomes = (order: { id: string }, state: string): Promise<Came> =>
    s.until(`order ${order.id} is ${state}`, async () => {
      const now = await get(order);
      return now.state === state && now;
    });

  return { s, api, other, keys, otherKeys, customer, account, address, sells, sale, purchase, get, traced, becomes };
}

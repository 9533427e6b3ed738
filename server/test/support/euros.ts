/**
 * The setup of a production installation by its operator: two assets, a market each way between USDC on one chain and euros at one
 * bank, a partner with a key; and a customer, verified by an operator.
 */
import type { Vault } from '../../src/base/crypto.ts';
import type { Tx } from '../../src/base/db.ts';
import { createKey, createPartner, upsertAsset, upsertMarket } from '../../src/partners/index.ts';
import { DETAILS, openBrowser } from '../protocols/checkout/environment.ts';
import type { Client, Keys } from './client.ts';
import { type CodeHost, PUBLIC_URL } from './production.ts';
import { fiat, marketTerms } from './terms.ts';

/** The name in DETAILS, as a bank writes it. */
export const CUSTOMER_NAME = 'Zebulon Quagmire-Ōtaki';

export async function seedEuros(
  tx: Tx,
  vault: Vault,
  { token, bank, now }: { token: string; bank: string; now: Date },
): Promise<Keys> {
  const usdc = { kind: 'crypto', chain: 'base', contract: token, native: false, decimals: 6 } as const;
  await upsertAsset(tx, fiat('eur'));
  await upsertAsset(tx, { ...usdc, code: 'usdc.base', coin: 'usdc' });
  const terms = {
    ...marketTerms,
    crypto: 'usdc.base',
    fiat: 'eur',
    priceSources: ['kraken'],
    priceMaxAgeMs: 60_000,
    paymentMethod: 'SEPA_BANK_TRANSFER',
  };
  const [sale, purchase] = [
    { minUnits: 1n, maxUnits: 10n ** 10n, payoutDecimals: 2 },
    { minUnits: 1n, maxUnits: 10n ** 6n, payoutDecimals: 6 },
  ];
  const chain = 'evm.base';
  await upsertMarket(tx, { ...terms, ...sale, direction: 'offramp', depositRail: chain, payoutRail: bank });
  await upsertMarket(tx, { ...terms, ...purchase, direction: 'onramp', depositRail: bank, payoutRail: chain });
  const { id: partnerId } = await createPartner(tx, { name: 'Acme', now, tradeLevel: 1 });
  return await createKey(tx, vault, {
    partnerId,
    label: 'live',
    scopes: ['read', 'trade', 'customers'],
    addresses: [],
    now,
  });
}

/** Logs in with the code that was sent, submits details, and is verified by an operator. @returns the customer's id */
export async function verifiedCustomer(
  { url, partner, codes }: { url: string; partner: Client; codes: CodeHost },
  operates: (path: string, body: Record<string, unknown>) => Promise<{ review: { version: unknown } }>,
  number = 1,
): Promise<string> {
  const phoneNumber = `+44-770090012${number + 2}`;
  const invited = await partner.post('kyc/url', { clientCustomerId: `c-${number}`, phoneNumber, type: 'INDIVIDUAL' });
  if (invited.status !== 200) throw new Error(invited.text);
  const { customerId, kycUrl } = invited.body.data as { customerId: string; kycUrl: string };
  const browser = openBrowser();
  await browser.open(kycUrl.replace(PUBLIC_URL, url));
  await browser.go('code');
  await browser.go('login', { code: codes.sent.findLast(({ phone }) => phone === phoneNumber)?.code ?? '' });
  // A document of one's own: two customers with the same are reviewed by two people.
  await browser.go('details', { ...DETAILS, identityNumber: `${DETAILS.identityNumber}${number}` });
  const { review } = await operates(`/customers/${customerId}/review/open`, {});
  await operates(`/customers/${customerId}/review/decide`, { version: review.version, outcome: 'verified', level: 1 });
  return customerId;
}

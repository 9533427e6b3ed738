/** Public reference data: the offered assets, chains and methods, without a signature. */
import { formatUnits } from '../../../base/money.ts';
import { BUSINESS_FORM } from '../../../customers/index.ts';
import { type Market, markets } from '../../../partners/index.ts';
import type { Reply } from '../../protocol.ts';
import { businessForm } from '../../submissions.ts';
import { type Field, type Fields, optional } from '../fields.ts';
import {
  allConfig,
  chainNumber,
  coinNumber,
  coins,
  countryConfig,
  type NetworkIds,
  networks,
  paymentMethods,
  supportedFiats,
} from '../reference.ts';
import { type Input, type MaybeSigned, ok, whenNeeded } from '../route.ts';
import { rawNumber } from '../shapes.ts';
import { countryOf } from './identity.ts';

const fromMarkets =
  (view: (all: readonly Market[], networkIds: NetworkIds) => unknown) =>
  async ({ deps }: Input<Fields>): Promise<Reply> =>
    ok(view(await markets(whenNeeded(deps.db)), deps.networkIds ?? new Map()));

export const listFiats = fromMarkets(supportedFiats);
export const listPaymentMethods = fromMarkets(paymentMethods);
export const listCountries = fromMarkets(countryConfig);
export const listCoins = fromMarkets(coins);
export const listNetworks = fromMarkets(networks);
export const sellConfig = fromMarkets(allConfig);

/** The longest of the constant replies, serialised once. */
const KYB_DEFAULT: Reply = {
  status: 200,
  body: JSON.stringify(ok(BUSINESS_FORM).body),
  headers: { 'content-type': 'application/json; charset=utf-8', 'cache-control': 'no-store' },
};

/** Programs send names and other texts here too, and get the default form: no text is refused. */
const anyCountry: Field<string> = { rule: 'a text', schema: { type: 'string' }, read: String };

export const kybRequirementsFields = {
  country: optional(
    anyCountry,
    'Country that selects the form, two letters; without it, or with another text, the default form',
    'IN',
  ),
};

/** Unsigned: the form of the country, or the default. Signed: the partner's own form, if it has one. */
export async function kybRequirements({
  deps,
  values,
  caller,
  inTx,
}: MaybeSigned<typeof kybRequirementsFields>): Promise<Reply> {
  const now = deps.clock.now();
  const country = countryOf(values.country);
  const chosen =
    inTx === undefined
      ? await businessForm(whenNeeded(deps.db), undefined, { country }, now)
      : await inTx((tx) => businessForm(tx, caller?.partner, { country }, now));
  return chosen.form === BUSINESS_FORM ? KYB_DEFAULT : ok(chosen.form);
}

/** Wall-clock time, because signatures use it. */
export const currentTimestamp = async (): Promise<Reply> => ok(Date.now());

/** `{allGasFee: {"54": {"3": {withdrawalFee: 0.21, minimumWithdrawal: 0.21, nodeInSync: 1}}}}`, in the coin, as numbers. */
export async function gasFees({ deps }: Input<Fields>): Promise<Reply> {
  const list: Record<string, Record<string, unknown>> = {};
  for (const market of await markets(whenNeeded(deps.db))) {
    const { crypto } = market;
    const byChain = (list[coinNumber(crypto)] ??= {});
    if (crypto.chain === null || deps.withdrawalFee === undefined || chainNumber(crypto.chain) in byChain) continue;
    const fee = rawNumber(formatUnits(await deps.withdrawalFee(market), crypto.decimals));
    byChain[chainNumber(crypto.chain)] = { withdrawalFee: fee, minimumWithdrawal: fee, nodeInSync: 1 };
  }
  return ok({ allGasFee: list });
}

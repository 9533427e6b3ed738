/**
 * Chainalysis: the Entity Risking API, formerly called Address Screening.
 *
 * `GET /v2/entities/{address}` answers with `risk` in one of four words, by the rules that the operator has set up there. Since
 * December 2024 an address need not be registered first. Requests do not name the chain: an address that exists on several EVM
 * chains is one entity there. It covers main networks only and allows 40 requests a second; beyond that it returns 429, which
 * is Unavailable here like any other status.
 *
 * An answer whose `status` is not `COMPLETE` is not final, so it counts as no answer. Older answers have no `status`.
 *
 * Sources: https://docs.chainalysis.com/api/address-screening/, https://docs.chainalysis.com/api/address-screening/whats-new.
 * Not yet run against the live service.
 */
import { adapter } from '../../../base/adapter.ts';
import { demanded, secret, webAddress } from '../../../base/env.ts';
import { Unavailable } from '../../../base/errors.ts';
import { type AddressRiskContext, type AddressRiskProvider, getJson, type Level, wordsOf } from '../provider.ts';

const CODE = 'chainalysis';

const LEVEL_OF: Readonly<Record<string, Level>> = { Low: 'low', Medium: 'medium', High: 'high', Severe: 'severe' };

export const chainalysisRisk = adapter({
  code: CODE,
  about: 'Chainalysis: risk of entities, by the rules set up there',
  settings: {
    baseUrl: webAddress('CHAINALYSIS_URL', "Chainalysis's risk API", 'https://api.chainalysis.com/api/risk'),
    apiKey: demanded(secret('CHAINALYSIS_API_KEY', 'API key of Chainalysis'), 'the API key'),
  },
  create: ({ baseUrl, apiKey = '' }, context: AddressRiskContext): AddressRiskProvider => ({
    code: CODE,
    rules: '1',
    async assess({ address }) {
      const { json, bytes } = await getJson(CODE, context, {
        url: `${baseUrl}/v2/entities/${encodeURIComponent(address)}`,
        headers: { token: apiKey },
      });
      const { address: answered, risk, riskReason, status = 'COMPLETE' } = json;
      // Some chains write addresses in either case, so case is ignored.
      if (typeof answered !== 'string' || answered.toLowerCase() !== address.toLowerCase())
        throw new Unavailable(CODE, 'it answered about another address');
      if (status !== 'COMPLETE') throw new Unavailable(CODE, 'its answer is not complete');
      const level = typeof risk === 'string' && Object.hasOwn(LEVEL_OF, risk) ? LEVEL_OF[risk] : undefined;
      if (level === undefined) throw new Unavailable(CODE, 'its answer has a risk that is not documented');
      return { level, score: String(risk), reason: wordsOf(riskReason), answer: bytes };
    },
  }),
});

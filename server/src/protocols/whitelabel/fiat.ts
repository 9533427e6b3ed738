/**
 * The fiat that a request names: by `fiatType`, or by `countryCode`, which stands for the fiat of that country.
 *
 * Every endpoint with a `fiatType` uses this module. If both are sent, `fiatType` decides, and a country with another fiat is
 * an error. A country whose fiat is unknown to us is accepted.
 */
import type { Asset, Market } from '../../partners/index.ts';
import { type Body, isAbsent } from './body.ts';
import { code, type Field, Malformed, malformedFields, missingFields, optional, required } from './fields.ts';
import { fiatOf, fiatOfCountry } from './reference.ts';

type Named = { readonly fiatType?: string | undefined; readonly countryCode?: string | undefined };

/** For endpoints where the fiat may be omitted. */
export const optionalFiat = { fiatType: optional(code), countryCode: optional(code) };

/** For endpoints that need a fiat. Without either field, `fiatType` is the missing one. */
export const requiredFiat = (body: Body): typeof optionalFiat => ({
  ...optionalFiat,
  fiatType: (isAbsent(body.get('countryCode')) ? required : optional)(code) as Field<string | undefined>,
});

/** Whether a request names a fiat by either field. */
export const namesFiat = (body: Body): boolean => !isAbsent(body.get('fiatType')) || !isAbsent(body.get('countryCode'));

/**
 * The fiat of a request that has to name one.
 *
 * @throws Refusal 'unsupported_pair' when no market has it; 'malformed_field' when the two fields contradict each other
 */
export function fiatNamed(values: Named, all: readonly Market[]): Asset {
  const fiat = fiatIfNamed(values, all);
  if (fiat === undefined) throw missingFields(['fiatType']);
  return fiat;
}

/** The same, undefined when the request names none. */
export function fiatIfNamed({ fiatType, countryCode }: Named, all: readonly Market[]): Asset | undefined {
  if (countryCode === undefined) return fiatType === undefined ? undefined : fiatOf(fiatType, all);
  const ofCountry = fiatOfCountry(countryCode);
  if (fiatType === undefined) return fiatOf(ofCountry ?? `of ${countryCode}`, all);
  const fiat = fiatOf(fiatType, all);
  const named = fiat.coin.toUpperCase();
  if (ofCountry !== undefined && ofCountry !== named)
    throw malformedFields([
      ['fiatType', new Malformed(`must be the fiat of countryCode, ${ofCountry}, where both are sent`)],
      ['countryCode', new Malformed(`must be a country of fiatType, ${named}, where both are sent`)],
    ]);
  return fiat;
}

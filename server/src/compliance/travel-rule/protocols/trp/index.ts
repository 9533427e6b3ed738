/**
 * TRP, the Travel Rule Protocol of the OpenVASP association, version 3: JSON over HTTPS, with the data as IVMS101.
 *
 * The provider that sends coins posts an inquiry to the URL in the beneficiary's travel address. The response is an approval
 * with the payment address, a rejection, or only the version; in the last case the resolution is later posted to the inquiry's
 * callback. After the approval, the transaction or a cancellation is posted to the approval's callback. Each URL is a secret of
 * the two providers. The headers `api-version` and `request-identifier` are in each request and in its response.
 *
 * An asset is named by `dti` (Digital Token Identifier) or `slip0044`, from the setting TRP_ASSETS: SLIP-0044 does not cover
 * tokens. An amount is a JSON number; it is written and read digit by digit, never as a floating-point number. A string is
 * accepted too.
 *
 * A client certificate (mTLS) is sent if one is configured. Certificates of callers are checked by the proxy in front of this
 * server.
 *
 * Not implemented: LNURL, which travel addresses have replaced; extensions; `/identity`, `/version` and `/uptime`.
 *
 * Sources: https://gitlab.com/OpenVASP/travel-rule-protocol (core/specification.md, 3.1.0 and 3.2.1) as implemented in
 * https://github.com/trisacrypto/trisa/tree/main/pkg/openvasp. Not yet run against another provider.
 */
import { lookup } from 'node:dns';
import { Agent } from 'node:https';
import type { LookupFunction } from 'node:net';
import { adapter } from '../../../../base/adapter.ts';
import { defined } from '../../../../base/defined.ts';
import { demanded, type Setting, SettingError, secret, text } from '../../../../base/env.ts';
import { Unavailable } from '../../../../base/errors.ts';
import { NoAnswer } from '../../../../base/http.ts';
import { type Ivms, readIvms } from '../../ivms.ts';
import {
  type Call,
  type Confirmation,
  type Message,
  Misread,
  type Resolution,
  type TravelContext,
  type TravelProtocol,
} from '../../protocol.ts';
import { travelAddressOf, urlOfTravelAddress, webUrl } from './address.ts';

const CODE = 'trp';
const VERSION = '3.1.0';
const LONGEST_ANSWER = 16 * 1024;
const LONGEST_TEXT = 500;
/** Bounds above the digits and decimals of any asset. */
const AMOUNT = /^(0|[1-9][0-9]{0,29})(\.[0-9]{1,30})?$/;

type Json = Readonly<Record<string, unknown>>;
type Named = { readonly dti: string } | { readonly slip0044: number };

const ASSETS_RULE =
  'codes of assets, each with = and dti: or slip0044:, such as usdc.matic20=dti:ABCD12345, separated by commas';

/** Our assets and their names in the protocol, unique in both directions. */
const namedAssets = (name: string, about: string): Setting<ReadonlyMap<string, Named>> => ({
  name,
  about,
  read(value = '') {
    const assets = new Map<string, Named>();
    const names = new Set<string>();
    for (const part of value.split(',').map((one) => one.trim())) {
      if (part === '') continue;
      const [, code, dti, slip] = /^([a-z0-9.]{1,64})=(?:dti:([0-9A-Z]{9})|slip0044:([0-9]{1,10}))$/.exec(part) ?? [];
      const named = part.slice(part.indexOf('=') + 1);
      if (code === undefined || assets.has(code) || names.has(named))
        throw new SettingError(`${name} must be ${ASSETS_RULE}`);
      names.add(named);
      assets.set(code, dti === undefined ? { slip0044: Number(slip) } : { dti });
    }
    return assets;
  },
});

export const trp = adapter({
  code: CODE,
  about: 'TRP: the Travel Rule Protocol of OpenVASP, version 3',
  settings: {
    legalName: demanded(text('TRP_LEGAL_NAME', 'legal name of this provider, as TRP sends it', undefined), 'the name'),
    lei: text('TRP_LEI', 'legal entity identifier of this provider, as TRP sends it', undefined),
    assets: namedAssets('TRP_ASSETS', `assets that TRP exchanges data about: ${ASSETS_RULE}`),
    // The certificate is not a secret, but platforms provide it as a file.
    certificate: secret('TRP_CLIENT_CERT', 'certificate in PEM that TRP shows to other providers'),
    key: secret('TRP_CLIENT_KEY', 'its private key in PEM'),
    authorities: secret('TRP_CA', 'certificate authorities of other providers in PEM; unset uses those of Node'),
  },
  create({ legalName = '', lei, assets, certificate, key, authorities }, context: TravelContext): TravelProtocol {
    if ((certificate === undefined) !== (key === undefined))
      throw new SettingError('TRP_CLIENT_CERT and TRP_CLIENT_KEY are set together');
    const agent = new Agent({
      keepAlive: false,
      minVersion: 'TLSv1.2',
      ...defined({ cert: certificate, key, ca: authorities }),
    });
    const via = { agent, lookup: lookup as unknown as LookupFunction };

    async function post({ url, requestId, body }: Message): Promise<{ status: number; body: Buffer }> {
      return await context
        .ask({
          ...{ url, method: 'POST', body, longestBytes: LONGEST_ANSWER },
          deadline: AbortSignal.timeout(context.deadlineMs),
          headers: {
            accept: 'application/json',
            'content-type': 'application/json',
            'api-version': VERSION,
            'request-identifier': requestId,
          },
          ...(url.startsWith('https:') ? { via } : {}),
        })
        .catch((error: unknown) => {
          throw new Unavailable(CODE, error instanceof NoAnswer ? error.message : 'it did not answer');
        });
    }

    return {
      code: CODE,
      names: (asset) => assets.has(asset),
      addressOf: travelAddressOf,
      urlOf: (address) => urlOfTravelAddress(address, context),

      writeInquiry({ asset, amount, callback, ivms }) {
        const sent = { callback, IVMS101: { ...ivms, originatingVASP: ownName(legalName, lei) } };
        return `{"asset":${JSON.stringify(assets.get(asset) ?? {})},"amount":${amount},${JSON.stringify(sent).slice(1)}`;
      },
      writeResolution: (resolution) =>
        JSON.stringify(
          resolution.outcome === 'approved'
            ? { approved: { address: resolution.address, callback: resolution.callback } }
            : { rejected: resolution.reason },
        ),
      writeConfirmation: (told) => JSON.stringify('tx' in told ? { txid: told.tx } : { canceled: told.canceled }),

      readInquiry(call) {
        const requestId = headOf(call);
        const json = objectOf(call.body);
        const { callback } = json;
        if (typeof callback !== 'string' || webUrl(callback, context) === undefined)
          throw new Misread('callback must be an https address');
        return {
          ...{ requestId, asset: assetOf(json.asset, assets), amount: amountOf(json.amount) },
          callback: webUrl(callback, context)?.href ?? '',
          ivms: ivmsIn(json.IVMS101),
        };
      },
      readResolution(call) {
        headOf(call);
        const resolution = resolutionOf(objectOf(call.body), context);
        if (resolution.outcome === 'pending') throw new Misread('one of approved and rejected must be there');
        return resolution;
      },
      readConfirmation(call): Confirmation {
        headOf(call);
        const { txid, canceled } = objectOf(call.body);
        if (isGiven(txid) === isGiven(canceled)) throw new Misread('one of txid and canceled must be there');
        if (isGiven(canceled)) return { canceled: textOf('canceled', canceled) };
        if (typeof txid !== 'string' || !/^[\x21-\x7e]{1,200}$/.test(txid))
          throw new Misread('txid must be the name of a transaction');
        return { tx: txid };
      },
      replyTo: ({ headers }) => ({
        headers: {
          'content-type': 'application/json',
          'api-version': VERSION,
          ...(IDENTIFIER.test(headers['request-identifier'] ?? '')
            ? { 'request-identifier': headers['request-identifier'] ?? '' }
            : {}),
        },
        pending: JSON.stringify({ version: VERSION }),
      }),

      async inquire(message) {
        const { status, body } = await post(message);
        if (status !== 200) throw new Unavailable(CODE, `it answered ${status}`);
        try {
          return resolutionOf(objectOf(body), context);
        } catch (error) {
          if (error instanceof Misread) throw new Unavailable(CODE, `its answer cannot be read: ${error.message}`);
          throw error;
        }
      },
      async tell(message) {
        const { status } = await post(message);
        if (status >= 200 && status < 300) return true;
        // The other provider made this secret URL: 404 means that it has no such transfer.
        if (status === 404 || status === 410) return false;
        throw new Unavailable(CODE, `it answered ${status}`);
      },
    };
  },
});

const IDENTIFIER = /^[\x21-\x7e]{1,100}$/;
const isGiven = (value: unknown): boolean => value !== undefined && value !== null;

/** @returns the request identifier */
function headOf({ headers }: Call): string {
  const { 'api-version': version = '', 'request-identifier': requestId = '' } = headers;
  if (!/^3\.[0-9]{1,3}\.[0-9]{1,3}$/.test(version)) throw new Misread(`api-version must be 3, such as ${VERSION}`);
  if (!IDENTIFIER.test(requestId)) throw new Misread('request-identifier must have 1 to 100 characters without spaces');
  return requestId;
}

/** Parses JSON; a number becomes the text of its digits. */
function objectOf(body: Buffer): Json {
  let json: unknown;
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(body);
    json = JSON.parse(text, function (key: string, value: unknown, ...more: unknown[]) {
      const [source] = more as [{ source?: string } | undefined];
      return key === 'amount' && typeof value === 'number' ? (source?.source ?? String(value)) : value;
    });
  } catch {
    throw new Misread('the body must be JSON');
  }
  if (typeof json !== 'object' || json === null || Array.isArray(json)) throw new Misread('the body must be an object');
  return json as Json;
}

function amountOf(given: unknown): string {
  const amount = typeof given === 'string' ? plainOf(given) : '';
  if (!AMOUNT.test(amount) || /^[0.]*$/.test(amount)) throw new Misread('amount must be a number above zero');
  return amount;
}

/** Expands exponents such as `2.1e-8`, which programs write for small numbers. */
function plainOf(text: string): string {
  const [, whole = '', part = '', power = '0'] =
    /^([0-9]{1,30})(?:\.([0-9]{1,30}))?(?:e([+-]?[0-9]{1,2}))?$/i.exec(text) ?? [];
  if (whole === '' || Number(power) === 0) return whole === '' ? '' : text.replace(/e.*$/i, '');
  const at = whole.length + Number(power);
  const digits = `${'0'.repeat(Math.max(0, 1 - at))}${whole}${part}`.padEnd(at, '0');
  const point = Math.max(1, at);
  const [left, right] = [digits.slice(0, point).replace(/^0+(?=[0-9])/, ''), digits.slice(point)];
  return right === '' ? left : `${left}.${right}`;
}

function assetOf(given: unknown, assets: ReadonlyMap<string, Named>): string {
  const { dti, slip0044 } = (typeof given === 'object' && given !== null ? given : {}) as Json;
  for (const [code, named] of assets)
    if ('dti' in named ? named.dti === dti : named.slip0044 === Number(slip0044 ?? Number.NaN)) return code;
  throw new Misread('asset must be one that this provider takes, named by dti or slip0044');
}

function ivmsIn(given: unknown): Ivms {
  const ivms = readIvms(given);
  if (ivms === undefined)
    throw new Misread('IVMS101 must have persons of originator and beneficiary, each with a name');
  return ivms;
}

function resolutionOf(json: Json, context: TravelContext): Resolution {
  const { approved, rejected, version } = json;
  if (isGiven(approved) && isGiven(rejected)) throw new Misread('only one of approved and rejected may be there');
  if (isGiven(approved)) {
    const { address, callback } = (typeof approved === 'object' ? approved : {}) as Json;
    if (typeof address !== 'string' || !/^[\x21-\x7e]{1,200}$/.test(address))
      throw new Misread('approved.address must be a payment address');
    const url = typeof callback === 'string' ? webUrl(callback, context) : undefined;
    if (url === undefined) throw new Misread('approved.callback must be an https address');
    return { outcome: 'approved', address, callback: url.href };
  }
  if (Object.hasOwn(json, 'rejected')) return { outcome: 'rejected', reason: textOf('rejected', rejected ?? '') };
  if (typeof version === 'string') return { outcome: 'pending' };
  throw new Misread('one of version, approved and rejected must be there');
}

function textOf(name: string, given: unknown): string {
  if (typeof given !== 'string') throw new Misread(`${name} must be a text`);
  return given
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim()
    .slice(0, LONGEST_TEXT);
}

const ownName = (legalPersonName: string, lei: string | undefined) => ({
  originatingVASP: {
    legalPerson: {
      name: { nameIdentifier: [{ legalPersonName, legalPersonNameIdentifierType: 'LEGL' }] },
      ...(lei === undefined
        ? {}
        : { nationalIdentification: { nationalIdentifier: lei, nationalIdentifierType: 'LEIX' } }),
    },
  },
});

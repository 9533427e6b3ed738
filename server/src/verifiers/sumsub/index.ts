/**
 * Sumsub: a provider that checks documents and faces on a page of its own.
 *
 * An applicant is created once, with our key as `externalUserId`: Sumsub answers 409 to a second request. `finding` asks for
 * the applicant by that id and reads its review. `reviewAnswer` decides: GREEN is verified, RED with FINAL is refused, any
 * other RED is failed; an uncompleted review is in review. SUMSUB_LEVELS maps the level name of the review to our level. It may
 * differ from the requested one, because an operator can change it at Sumsub.
 *
 * Requests are signed: HMAC-SHA256 under the secret key over time, method, path with query, and body. Webhooks are signed with
 * a separate secret, by SHA-256 or SHA-512; the older SHA-1 is not accepted. The signed body contains the time at which the
 * webhook was created. A webhook older than two days is refused: Sumsub stops resending after about a day.
 *
 * The applicant has all documents that were recognised, with number and last day of each. Only those count whose type and country the
 * verification accepted: of them the first day, and number and country of those that prove identity. A proof of residence has a number
 * too, which people of one household share.
 *
 * `info` has what was recognised on the documents: the names and the date of birth of a person, the name of a company. It is in the
 * answer that has the review.
 *
 * What surprises: each request makes a new link to the page, valid for half an hour. A person's names and date of birth are
 * passed on as `fixedInfo`, so that Sumsub compares them with the document. Files that a program submitted are not passed on:
 * the applicant shows the document on Sumsub's page.
 *
 * Sources: https://docs.sumsub.com/reference/authentication, https://docs.sumsub.com/reference/create-applicants,
 * https://docs.sumsub.com/reference/get-applicant-data-via-externaluserid,
 * https://docs.sumsub.com/reference/get-applicant-verification-steps-status,
 * https://docs.sumsub.com/reference/generate-websdk-external-link, https://docs.sumsub.com/docs/webhook-manager,
 * https://docs.sumsub.com/docs/receive-and-interpret-results-via-api Not yet run against the live service.
 */
import { createHmac } from 'node:crypto';
import { adapter } from '../../base/adapter.ts';
import { defined } from '../../base/defined.ts';
import { demanded, secret, sharedSecret, webAddress } from '../../base/env.ts';
import { Unavailable } from '../../base/errors.ts';
import { countryOfThree, oneCountry } from '../countries.ts';
import {
  askProvider,
  at,
  earliestDay,
  isSame,
  type Json,
  jsonOf,
  type Levels,
  levelOf,
  levels,
  nameFor,
  namesOf,
  numbersOf,
  textAt,
  wordOf,
} from '../provider.ts';
import type {
  DocumentNames,
  Finding,
  ProviderCall,
  VerificationRequest,
  Verifier,
  VerifierContext,
} from '../verifier.ts';

const CODE = 'sumsub';
const LINK_TTL_S = 1_800;
const OLDEST_CALL_MS = 2 * 86_400_000;
const DIGESTS: Readonly<Record<string, string>> = { HMAC_SHA256_HEX: 'sha256', HMAC_SHA512_HEX: 'sha512' };

export interface SumsubAccount {
  baseUrl: string;
  appToken: string;
  secretKey: string;
  webhookSecret: string;
  /** Levels for persons, and for businesses if Sumsub verifies them. */
  levels: Levels;
  companyLevels?: Levels | undefined;
  deadlineMs?: number;
  /** Wall-clock time, which signatures use even if the sandbox's clock differs. */
  realNow?: () => number;
}

export function sumsub(account: SumsubAccount, context: Pick<VerifierContext, 'details'>): Verifier {
  const { realNow = Date.now } = account;
  const ask = (method: 'GET' | 'POST', path: string, expects: readonly number[], json?: Json) => {
    const seconds = String(Math.floor(realNow() / 1_000));
    const body = json === undefined ? '' : JSON.stringify(json);
    return askProvider(CODE, {
      ...{ url: `${account.baseUrl}${path}`, method, expects, deadlineMs: account.deadlineMs },
      headers: {
        'content-type': 'application/json',
        'x-app-token': account.appToken,
        'x-app-access-ts': seconds,
        'x-app-access-sig': createHmac('sha256', account.secretKey)
          .update(seconds + method + path + body)
          .digest('hex'),
      },
      ...(json !== undefined && { body }),
    });
  };
  const levelsFor = (kind: VerificationRequest['kind']): Levels =>
    (kind === 'BUSINESS' ? account.companyLevels : account.levels) ?? new Map();

  return {
    code: CODE,
    highestLevel: Math.max(...account.levels.keys(), ...(account.companyLevels?.keys() ?? [])),
    highestLevelFor: (kind) => Math.max(0, ...levelsFor(kind).keys()),

    async begin({ key, customerId, kind, level }) {
      const levelName = nameFor(levelsFor(kind), level);
      if (levelName === undefined)
        throw new Unavailable(CODE, `no level of its own is set for level ${level}, ${kind}`);
      const { fields = {} } = (await context.details(customerId)) ?? {};
      // 409: the applicant exists already.
      await ask('POST', `/resources/applicants?levelName=${encodeURIComponent(levelName)}`, [200, 201, 409], {
        externalUserId: key,
        type: kind === 'BUSINESS' ? 'company' : 'individual',
        ...(kind === 'INDIVIDUAL' && { fixedInfo: fixedInfo(fields) }),
      });
      const link = await ask('POST', '/resources/sdkIntegrations/levels/-/websdkLink', [200, 201], {
        ...{ levelName, userId: key, ttlInSecs: LINK_TTL_S },
      });
      const pageUrl = textAt(link.body, 'url');
      if (pageUrl === undefined || !URL.canParse(pageUrl) || new URL(pageUrl).protocol !== 'https:')
        throw new Unavailable(CODE, 'its answer has no link');
      return { pageUrl };
    },

    async finding({ key, kind }) {
      const path = `/resources/applicants/-;externalUserId=${encodeURIComponent(key)}/one`;
      const { status, body } = await ask('GET', path, [200, 404]);
      if (status === 404) return inReview();
      if (textAt(body, 'externalUserId') !== key) throw new Unavailable(CODE, 'it answered about another applicant');
      const review = readReview(at(body, 'review'), levelsFor(kind));
      const names = namesIn(at(body, 'info'));
      const finding = review.outcome === 'verified' && names !== undefined ? { ...review, names } : review;
      const shown = at(body, 'info', 'idDocs');
      const documents = Array.isArray(shown)
        ? shown.filter((one) => (textAt(one, 'validUntil') ?? textAt(one, 'number')) !== undefined)
        : [];
      if (finding.outcome !== 'verified' || documents.length === 0) return finding;
      const id = textAt(body, 'id');
      if (id === undefined) throw new Unavailable(CODE, 'its applicant has no id');
      const steps = await ask('GET', `/resources/applicants/${encodeURIComponent(id)}/requiredIdDocsStatus`, [200]);
      const identity = Object.fromEntries(Object.entries(steps.body).filter(([step]) => step.startsWith('IDENTITY')));
      const proving = acceptedIn(documents, identity);
      const documentNumbers = numbersOf(proving.map((one) => textAt(one, 'number')));
      const country = oneCountry(proving.map((one) => countryOfThree(textAt(one, 'country'))));
      const expiresOn = earliestDay(acceptedIn(documents, steps.body).map((one) => textAt(one, 'validUntil')));
      return { ...finding, ...defined({ expiresOn, documentNumbers, country }) };
    },

    readCallback: (call) => readCallback(call, account.webhookSecret, realNow()),
  };
}

/**
 * The fields that the document must match; empty when nothing was given. No country is passed on, because Sumsub uses
 * three-letter codes.
 */
function fixedInfo(fields: Readonly<Record<string, string>>): Json {
  const { firstName, dob } = fields;
  const lastName = [fields.lastName, fields.firstSurname, fields.secondSurname].filter(Boolean).join(' ');
  return { ...(firstName && { firstName }), ...(lastName !== '' && { lastName }), ...(dob && { dob }) };
}

/**
 * What Sumsub read from the documents; `fixedInfo`, which has what we passed on, is not read. A name in another script is taken as
 * Sumsub transliterates it, because banks write Latin letters.
 */
function namesIn(info: unknown): DocumentNames | undefined {
  const latin = (name: string) => {
    const printed = textAt(info, name);
    return printed === undefined || IS_LATIN.test(printed) ? printed : (textAt(info, `${name}En`) ?? printed);
  };
  const firstName = [latin('firstName'), latin('middleName')].filter(Boolean).join(' ');
  return namesOf({
    ...{ firstName, lastName: latin('lastName'), dob: textAt(info, 'dob') },
    companyName: textAt(info, 'companyInfo', 'companyName'),
  });
}
const IS_LATIN = /^[\p{Script=Latin}\p{Script=Common}\p{Script=Inherited}]+$/u;

/** @param steps by step of the verification: its result, and the document that was shown for it */
function acceptedIn(documents: readonly unknown[], steps: Json): unknown[] {
  const kindOf = (one: unknown) => `${textAt(one, 'idDocType')} ${textAt(one, 'country')}`;
  const accepted = Object.values(steps).filter((step) => textAt(step, 'reviewResult', 'reviewAnswer') === 'GREEN');
  const kinds = new Set(accepted.map(kindOf));
  return documents.filter((one) => kinds.has(kindOf(one)));
}

const inReview = (): Finding => ({ outcome: 'in_review', level: 0, pending: { callsBack: true } });

/** Labels that a partner may be told. Any other may name a suspicion. */
const CODES: Readonly<Record<string, string>> = {
  unsatisfactory_photos: 'document_unreadable',
  low_quality: 'document_unreadable',
  document_damaged: 'document_unreadable',
  document_page_missing: 'document_incomplete',
  incomplete_document: 'document_incomplete',
  not_document: 'document_not_accepted',
  problematic_applicant_data: 'data_differs',
  wrong_address: 'data_differs',
  age_requirement_mismatch: 'under_age',
  wrong_user_region: 'not_supported',
};

/** The finding for a review. @throws Unavailable for a review that is not completely understood */
function readReview(review: unknown, known: Levels): Finding {
  const status = textAt(review, 'reviewStatus');
  if (status === undefined) throw new Unavailable(CODE, 'its answer has no review');
  if (status !== 'completed') return inReview();
  const answer = textAt(review, 'reviewResult', 'reviewAnswer');
  if (answer === 'GREEN') {
    const level = levelOf(known, textAt(review, 'levelName'));
    if (level === undefined) throw new Unavailable(CODE, 'it verified to a level that SUMSUB_LEVELS does not name');
    return { outcome: 'verified', level };
  }
  if (answer !== 'RED') throw new Unavailable(CODE, 'its review has no answer');
  const labels = at(review, 'reviewResult', 'rejectLabels');
  const reason = wordOf(Array.isArray(labels) ? labels[0] : undefined);
  const isFinal = at(review, 'reviewResult', 'reviewRejectType') === 'FINAL';
  const code = reason === undefined ? undefined : CODES[reason];
  return { outcome: isFinal ? 'refused' : 'failed', level: 0, ...defined({ reason, code }) };
}

function readCallback({ headers, body }: ProviderCall, webhookSecret: string, nowMs: number): string | undefined {
  const digest = DIGESTS[headers['x-payload-digest-alg'] ?? ''];
  if (digest === undefined) return undefined;
  const right = createHmac(digest, webhookSecret).update(body).digest('hex');
  if (!isSame(headers['x-payload-digest'] ?? '', right)) return undefined;
  const told = jsonOf(body);
  // Format: "2020-02-21 13:23:19.321", in UTC.
  const createdAt = Date.parse(`${(textAt(told, 'createdAtMs') ?? '').replace(' ', 'T')}Z`);
  if (!(Math.abs(nowMs - createdAt) <= OLDEST_CALL_MS)) return undefined;
  return textAt(told, 'externalUserId');
}

export const sumsubApplicants = adapter({
  code: CODE,
  about: 'Sumsub: documents and faces, checked on its own page',
  settings: {
    baseUrl: webAddress('SUMSUB_URL', "Sumsub's API", 'https://api.sumsub.com'),
    appToken: demanded(secret('SUMSUB_APP_TOKEN', 'app token of Sumsub'), 'the app token'),
    secretKey: demanded(
      secret('SUMSUB_SECRET_KEY', 'secret key of the app token, which signs requests'),
      'its secret key',
    ),
    webhookSecret: demanded(
      sharedSecret('SUMSUB_WEBHOOK_SECRET', "secret key of Sumsub's webhook to /verifiers/sumsub/callback"),
      'the secret of its webhooks',
    ),
    levels: demanded(
      levels('SUMSUB_LEVELS', 'our levels and the level names of Sumsub that verify to them'),
      'its levels',
    ),
    companyLevels: levels('SUMSUB_COMPANY_LEVELS', 'the same for businesses; none are verified there by default'),
  },
  create(
    { baseUrl, appToken = '', secretKey = '', webhookSecret = '', levels: own = new Map(), companyLevels },
    context: VerifierContext,
  ) {
    return sumsub({ baseUrl, appToken, secretKey, webhookSecret, levels: own, companyLevels }, context);
  },
});

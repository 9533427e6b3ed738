/**
 * Persona: a provider that verifies people in an inquiry, on a page of its own.
 *
 * An inquiry is found by our key, its `reference-id`, and created if there is none. Two processes that create one concurrently
 * send the same `Idempotency-Key`, so only one is created. Persona repeats its answer to such a key for a day, even an error,
 * so the key contains the hour: an error is then repeated for an hour at most. If there are two inquiries nevertheless, the
 * newest one counts.
 *
 * `approved` is verified, `declined` refused, `failed` failed. `completed` is in review, because a decision may follow; for
 * templates without a later decision, PERSONA_COMPLETED makes it a verification. The level is the one of ours that the
 * inquiry's template stands for (PERSONA_TEMPLATES). An expired inquiry is resumed when it is begun again.
 *
 * The list of inquiries has no documents: those of an approved inquiry are read with it. Of the passed ones the first day of expiry
 * counts, the names of the first one that has any, and the country if all are of one.
 *
 * The name of a business is not read, so the one that it typed is compared. The documented inquiry has a business's name only among
 * its fields, as it was typed. A Business Registry Verification compares that with a register, and since August 2024 its match
 * requirements have `extracted_attributes`, the value of the register. But the documentation that we found names neither these
 * requirements nor their place in an answer, and the check of a name would be only as good as our guess.
 *
 * Webhooks are signed over their time and body, with both secrets during an exchange of secrets. The time is that of this
 * delivery, also for a repeated one; a call whose time differs by more than five minutes is refused.
 *
 * What surprises: a link to the page can be used once, so each request makes a new one; a finished inquiry has none. Our key
 * identifies one version of a customer's details, so Persona has one account per version. Files that a program submitted are
 * not passed on.
 *
 * Sources: https://docs.withpersona.com/api-reference/inquiries/list-all-inquiries,
 * https://docs.withpersona.com/api-reference/inquiries/create-an-inquiry,
 * https://docs.withpersona.com/api-reference/inquiries/retrieve-an-inquiry,
 * https://docs.withpersona.com/integration-guide-understanding-a-persona-api-payload,
 * https://docs.withpersona.com/inquiry-one-time-links,
 * https://docs.withpersona.com/resuming-inquiries, https://docs.withpersona.com/model-lifecycle,
 * https://docs.withpersona.com/idempotence, https://docs.withpersona.com/docs/webhooks-best-practices,
 * https://docs.withpersona.com/2025-12-08/api-reference/versioning/changelog/2024/8/13 Not yet run against the
 * live service.
 */
import { createHash, createHmac } from 'node:crypto';
import { adapter } from '../../base/adapter.ts';
import { defined } from '../../base/defined.ts';
import { demanded, oneOf, secret, sharedSecret, webAddress } from '../../base/env.ts';
import { Unavailable } from '../../base/errors.ts';
import { oneCountry } from '../countries.ts';
import {
  askProvider,
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

const CODE = 'persona';
/** The version of Persona's API that this adapter uses. */
const API_VERSION = '2023-01-05';
const CALL_TOLERANCE_S = 300;
const HOUR_MS = 3_600_000;
/** Statuses in which the customer can still do something on the page. */
const UNDER_WAY = ['created', 'pending', 'expired'];

export interface PersonaAccount {
  baseUrl: string;
  apiKey: string;
  webhookSecret: string;
  templates: Levels;
  companyTemplates?: Levels | undefined;
  /** The outcome for the status `completed`. */
  completed: 'in_review' | 'verified';
  deadlineMs?: number;
  /** Wall-clock time, which signatures use even if the sandbox's clock differs. */
  realNow?: () => number;
}

interface Inquiry {
  id: string;
  status: string;
  template: string | undefined;
}

export function persona(account: PersonaAccount, context: Pick<VerifierContext, 'details'>): Verifier {
  const { realNow = Date.now } = account;
  const ask = async (method: 'GET' | 'POST', path: string, body?: Json, idempotencyKey?: string): Promise<Json> => {
    const answer = await askProvider(CODE, {
      ...{ url: `${account.baseUrl}/api/v1${path}`, method, expects: [200, 201], deadlineMs: account.deadlineMs },
      headers: {
        authorization: `Bearer ${account.apiKey}`,
        'persona-version': API_VERSION,
        'key-inflection': 'kebab',
        ...(method === 'POST' && { 'content-type': 'application/json' }),
        ...defined({ 'idempotency-key': idempotencyKey }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return answer.body;
  };
  const templatesFor = (kind: VerificationRequest['kind']): Levels =>
    (kind === 'BUSINESS' ? account.companyTemplates : account.templates) ?? new Map();

  /** The newest inquiry under our key: the list is newest first. */
  async function find(key: string): Promise<Inquiry | undefined> {
    const path = `/inquiries?filter[reference-id]=${encodeURIComponent(key)}&page[size]=1`;
    const { data } = await ask('GET', path.replaceAll('[', '%5B').replaceAll(']', '%5D'));
    if (!Array.isArray(data)) throw new Unavailable(CODE, 'its answer is no list');
    return data.length === 0 ? undefined : readInquiry(data[0], key);
  }

  async function create({ key, customerId, kind, level }: VerificationRequest): Promise<Inquiry> {
    const template = nameFor(templatesFor(kind), level);
    if (template === undefined) throw new Unavailable(CODE, `no template is set for level ${level}, ${kind}`);
    const { fields = {} } = (await context.details(customerId)) ?? {};
    const body = {
      data: {
        attributes: {
          'inquiry-template-id': template,
          'reference-id': key,
          ...(kind === 'INDIVIDUAL' && { fields: prefilled(fields) }),
        },
      },
    };
    const hour = Math.floor(realNow() / HOUR_MS);
    const once = createHash('sha256')
      .update(`${key} ${hour} ${JSON.stringify(body)}`)
      .digest('hex');
    return readInquiry((await ask('POST', '/inquiries', body, once)).data, key);
  }

  /** What the accepted documents show: names, numbers, country, and the day on which the first of them expires. */
  async function shownBy(id: string): Promise<Pick<Finding, 'expiresOn' | 'names' | 'documentNumbers' | 'country'>> {
    const { data, included } = await ask('GET', `/inquiries/${encodeURIComponent(id)}?include=verifications`);
    if (textAt(data, 'id') !== id) throw new Unavailable(CODE, 'it answered about another inquiry');
    const documents = Array.isArray(included) ? included : [];
    const passed = documents.filter(
      (one) => textAt(one, 'type') === 'verification/government-id' && textAt(one, 'attributes', 'status') === 'passed',
    );
    const expiresOn = earliestDay(passed.map((one) => textAt(one, 'attributes', 'expiration-date')));
    const documentNumbers = numbersOf(passed.map((one) => textAt(one, 'attributes', 'identification-number')));
    const country = oneCountry(passed.map((one) => textAt(one, 'attributes', 'country-code')));
    const names = passed.map(namesIn).find((found) => found !== undefined);
    return defined({ expiresOn, names, documentNumbers, country });
  }

  return {
    code: CODE,
    highestLevel: Math.max(...account.templates.keys(), ...(account.companyTemplates?.keys() ?? [])),
    highestLevelFor: (kind) => Math.max(0, ...templatesFor(kind).keys()),

    async begin(input) {
      const { id, status } = (await find(input.key)) ?? (await create(input));
      if (!UNDER_WAY.includes(status)) return { pageUrl: undefined };
      if (status === 'expired') await ask('POST', `/inquiries/${encodeURIComponent(id)}/resume`, {});
      const { meta } = await ask('POST', `/inquiries/${encodeURIComponent(id)}/generate-one-time-link`, {});
      const pageUrl = textAt(meta, 'one-time-link');
      if (pageUrl === undefined || !URL.canParse(pageUrl) || new URL(pageUrl).protocol !== 'https:')
        throw new Unavailable(CODE, 'its answer has no link');
      return { pageUrl };
    },

    async finding({ key, kind }) {
      const inquiry = await find(key);
      if (inquiry === undefined) return inReview();
      const finding = findingOf(inquiry, templatesFor(kind), account.completed);
      return finding.outcome === 'verified' ? { ...finding, ...(await shownBy(inquiry.id)) } : finding;
    },

    readCallback: (call) => readCallback(call, account.webhookSecret, realNow()),
  };
}

const inReview = (): Finding => ({ outcome: 'in_review', level: 0, pending: { callsBack: true } });

function readInquiry(data: unknown, key: string): Inquiry {
  const [id, status] = [textAt(data, 'id'), textAt(data, 'attributes', 'status')];
  if (id === undefined || status === undefined) throw new Unavailable(CODE, 'its answer is no inquiry');
  if (textAt(data, 'attributes', 'reference-id') !== key)
    throw new Unavailable(CODE, 'it answered about another inquiry');
  return { id, status, template: textAt(data, 'relationships', 'inquiry-template', 'data', 'id') };
}

/** What a document shows. The inquiry's own fields are not read: they have what we filled in. */
function namesIn(verification: unknown): DocumentNames | undefined {
  const shown = (name: string) => textAt(verification, 'attributes', name);
  const firstName = [shown('name-first'), shown('name-middle')].filter(Boolean).join(' ');
  return namesOf({ firstName, lastName: shown('name-last'), dob: shown('birthdate') });
}

/** Prefilled data on Persona's page, under the names of its standard fields. */
function prefilled(fields: Readonly<Record<string, string>>): Json {
  const lastName = [fields.lastName, fields.firstSurname, fields.secondSurname].filter(Boolean).join(' ');
  const { firstName, dob } = fields;
  return {
    ...(firstName && { 'name-first': firstName }),
    ...(lastName !== '' && { 'name-last': lastName }),
    ...(dob && { birthdate: dob }),
  };
}

/** The finding for a known status. @throws Unavailable for an unknown one */
function findingOf({ status, template }: Inquiry, known: Levels, completed: PersonaAccount['completed']): Finding {
  if (status === 'approved' || (status === 'completed' && completed === 'verified')) {
    const level = levelOf(known, template);
    if (level === undefined)
      throw new Unavailable(CODE, 'it verified by a template that PERSONA_TEMPLATES does not name');
    return { outcome: 'verified', level };
  }
  const reason = wordOf(status);
  if (status === 'declined' || status === 'failed')
    return { outcome: status === 'declined' ? 'refused' : 'failed', level: 0, ...defined({ reason }) };
  if (status === 'completed' || status === 'needs_review' || UNDER_WAY.includes(status)) return inReview();
  throw new Unavailable(CODE, 'its inquiry has a status that is not documented');
}

/** The header is `t=<seconds>,v1=<hex>`, twice while secrets are exchanged. */
function readCallback({ headers, body }: ProviderCall, webhookSecret: string, nowMs: number): string | undefined {
  const isRight = (headers['persona-signature'] ?? '').split(' ').some((one) => {
    const [, seconds = '', given = ''] = /^t=([0-9]{1,12}),v1=([0-9a-f]{64})$/.exec(one) ?? [];
    if (seconds === '' || Math.abs(nowMs / 1_000 - Number(seconds)) > CALL_TOLERANCE_S) return false;
    return isSame(given, createHmac('sha256', webhookSecret).update(`${seconds}.`).update(body).digest('hex'));
  });
  return isRight
    ? textAt(jsonOf(body), 'data', 'attributes', 'payload', 'data', 'attributes', 'reference-id')
    : undefined;
}

export const personaInquiries = adapter({
  code: CODE,
  about: 'Persona: inquiries on its own page',
  settings: {
    baseUrl: webAddress('PERSONA_URL', "Persona's API", 'https://api.withpersona.com'),
    apiKey: demanded(secret('PERSONA_API_KEY', 'API key of Persona'), 'the API key'),
    webhookSecret: demanded(
      sharedSecret('PERSONA_WEBHOOK_SECRET', "secret of Persona's webhook to /verifiers/persona/callback"),
      'the secret of its webhooks',
    ),
    templates: demanded(
      levels('PERSONA_TEMPLATES', 'our levels and the inquiry templates that verify to them'),
      'its templates',
    ),
    companyTemplates: levels(
      'PERSONA_COMPANY_TEMPLATES',
      'the same for businesses; none are verified there by default',
    ),
    completed: oneOf('PERSONA_COMPLETED', 'what a completed inquiry is', ['in_review', 'verified'], 'in_review'),
  },
  create(
    { baseUrl, apiKey = '', webhookSecret = '', templates = new Map(), companyTemplates, completed },
    context: VerifierContext,
  ) {
    return persona({ baseUrl, apiKey, webhookSecret, templates, companyTemplates, completed }, context);
  },
});

/** A partner, a customer, a bank and an operator who type a script into every field that takes one (scripts.lists.ts). */
import assert from 'node:assert/strict';
import { encryptTypedSame } from '../../src/base/typed.ts';
import { openCase } from '../../src/compliance/index.ts';
import { findCustomer, saveDetails } from '../../src/customers/index.ts';
import { bindIdentity, findOperator } from '../../src/operators/index.ts';
import { type Person, twoDo } from '../protocols/operator/people.ts';
import type { V1Environment } from '../protocols/v1/environment.ts';
import { type Came, newPhone } from '../support/client.ts';
import { fetchDeclared } from '../support/declared.fetch.ts';
import { ADDRESS, BUSINESS, PERSON } from '../support/identities.ts';
import { salePaidTwice } from '../support/orders.ts';
import type { Receiver } from '../support/receiver.ts';
import type { Story, StoryCustomer } from '../support/story.ts';
import { FILLED, type Filled } from './scripts.lists.ts';

/** Ids of what has a page, and addresses of hosted pages. */
export type Made = Awaited<ReturnType<typeof fillsAll>>;

const HOUR_MS = 3_600_000;

/** A script as it is typed: without a blank, so that more fields take it. */
export const scriptOf = (field: Filled): string => `<img/src="x"onerror="document.title='${titleOf(field)}'">`;
/** What the page's title is if the script runs. */
export const titleOf = (field: Filled): string => `f${FILLED.indexOf(field)}`;
/** An element for a field that takes neither a slash nor a blank. */
export const elementOf = (script: string): string => `<x-${/'(f\d+)'/.exec(script)?.[1]}>`;
const CHAIN = 'evm.matic20';

interface Filling {
  w: V1Environment;
  ada: Person;
  /** A second person, who confirms a rule. */
  bea: Person;
  receiver: Receiver;
  /** Sends a request of /v1 with the session of an owner of the partner's team. */
  owner: (method: string, path: string, body: Record<string, unknown>) => Promise<Came>;
  /** The script of a field: every request that has it must succeed. */
  text: (field: Filled) => string;
  /** Those that wait for a second person. */
  proposals: string[];
}

export async function fillsAll(given: Omit<Filling, 'proposals'>) {
  const f = { ...given, proposals: [] };
  const partner = await partnerTypes(f);
  const customers = await customersType(f);
  const others = await wireCustomersType(f);
  const orders = await ordersAreTyped(f);
  const bank = await bankWrites(f, orders.payout);
  const hits = await hitsAreFound(f);
  const asked = await operatorTypes(f, { partner: partner.partner, debit: bank.debit, payout: orders.payout });
  return { ...partner, ...customers, ...others, ...orders, ...bank, ...hits, ...asked, proposals: f.proposals };
}

/** Sends an operator's action. It is done, or waits for a second person. */
async function does({ ada, proposals }: Filling, path: string, body: Record<string, unknown> = {}) {
  const said = await ada.does(path, body);
  assert.ok(said.status < 300, `${path}: ${JSON.stringify(said.body)}`);
  const { proposal } = said.body;
  if (proposal !== undefined) proposals.push(String(proposal));
  return said.body;
}
/** Sends a request of the white-label wire. */
async function wire({ w }: Filling, path: string, body: Record<string, unknown>, method: 'post' | 'put' = 'post') {
  const came = await w.s.partner[method](path, body as Record<string, string>);
  assert.equal(came.status, 200, `${path}: ${came.text}`);
  return came.body.data;
}

async function partnerTypes(f: Filling) {
  const { w, text, owner, receiver } = f;
  const made = await does(f, '/partners', {
    name: text('operator partner.create name'),
    corsOrigins: [`https://${elementOf(text('operator partner.create corsOrigins'))}`],
  });
  // The partner with branding has a name for hosted pages; the other one has only this.
  const [mine] = await w.s.read((tx) =>
    tx.rows<{ id: bigint }>(
      `with named as (update partners p set name = $3 || p.id from api_keys k
          where k.partner_id = p.id and k.key in ($1, $2) returning p.id, k.key)
        select id from named order by key = $1 desc`,
      [w.keys.apiKey, w.otherKeys.apiKey, text('operator partner.create name')],
    ),
  );
  assert.ok(mine);
  await owner('PATCH', '/settings/branding', { displayName: text('v1 branding.update displayName') });
  await owner('PATCH', '/settings', { origins: [`https://${elementOf(text('v1 settings.update origins'))}`] });
  const { key } = await owner('POST', '/keys', { label: text('v1 keys.create label'), scopes: ['read'] });
  const another = await owner('POST', '/keys', { label: 'another', scopes: ['read'] });
  assert.ok(key !== undefined, 'no key');
  await owner('PATCH', `/keys/${another.key}`, { label: text('v1 keys.update label') });
  const keys = `/partners/${mine.id}/keys`;
  await does(f, keys, { label: text('operator key.create label'), scopes: ['read'], reason: text('operator reason') });
  const url = (field: Filled) => `${receiver.url}?${text(field)}`;
  const merchant = '/onramp/api/v1/merchant';
  for (const path of ['setWebhookUrl', 'sendDummyWebhook'] as const)
    await wire(f, `${merchant}/${path}`, { webhookUrl: url(`wire ${merchant}/${path} webhookUrl`) });
  const pushed = await wire(f, '/v1/webhooks', { url: url('wire /v1/webhooks url') });
  const moved = await wire(f, '/v1/webhooks', { url: receiver.url });
  await wire(f, `/v1/webhooks/${moved.id}`, { url: url('wire /v1/webhooks/:id url') }, 'put');
  receiver.behaves((_received, response) => response.writeHead(500).end(text('webhook answer')));
  const { id: endpoint } = await w.api.does('POST', '/webhook-endpoints', { url: url('v1 webhooks.create url') });
  const { id: other } = await w.api.does('POST', '/webhook-endpoints', { url: receiver.url });
  await w.api.does('PATCH', `/webhook-endpoints/${other}`, { url: url('v1 webhooks.update url') });
  await w.api.does('POST', `/webhook-endpoints/${endpoint}/test`);
  const log = await w.api.does('GET', '/request-log?limit=1');
  const endpoints = [endpoint, other, pushed.id, moved.id].map(String);
  assert.ok(made.after?.id, JSON.stringify(made));
  return {
    partner: String(mine.id),
    partners: [mine.id, made.after.id].map(String),
    endpoints,
    request: String(log.data[0]?.id),
  };
}

async function customersType(f: Filling) {
  const { w, text } = f;
  const email = (field: Filled) => `${text(field)}@a.test`;
  const { id: customer } = await w.api.does('POST', '/customers', {
    ...{ reference: text('v1 customers.create reference'), kind: 'individual', phone: newPhone() },
    email: email('v1 customers.create email'),
  });
  const { identityNumber, details, address } = PERSON;
  const begun = await w.api.does('POST', `/customers/${customer}/submissions`, {
    ...{ asset: 'inr', level: 4 },
    answers: { ...details, firstName: text('v1 submissions.create answers') },
  });
  await w.api.does('PATCH', `/customers/${customer}/submissions/${begun.id}`, {
    answers: { ...address, identityNumber, lastName: text('v1 submissions.update answers') },
  });
  const holder = await w.customer();
  await w.api.does('PATCH', `/customers/${holder}`, { email: email('v1 customers.update email') });
  const account = await w.api.does('POST', `/customers/${holder}/destinations`, {
    ...{ kind: 'account', asset: 'inr', ifsc: 'HDFC0000001', accountNumber: '000112345670000' },
    ...{ bankName: text('v1 destinations.create bankName') },
    accountHolder: text('v1 destinations.create accountHolder'),
  });

  const firm = await firmIsTyped(f, 'create');
  const changed = await firmIsTyped(f, 'update');
  const questions = `/customers/${customer}/questions`;
  const { request } = await does(f, questions, { question: text('operator customer.ask question'), days: 7 });
  await w.api.does('POST', `/customers/${customer}/information-requests/${request}/answer`, {
    answer: text('v1 informationRequests.answer answer'),
  });
  await does(f, questions, { question: text('operator customer.ask question'), days: 7 });
  const link = async (path: string, field: Filled, by = w.api, more: Record<string, string> = {}) => {
    const redirectUrl = `https://wallet.example/?${text(field)}`;
    return String((await by.does('POST', `/customers/${path}`, { redirectUrl, ...more })).url);
  };
  const { id: elsewhere } = await w.other.does('POST', '/customers', {
    ...{ reference: 'of another partner', kind: 'individual', phone: newPhone() },
  });
  const verifying = 'v1 customers.verificationLink redirectUrl';
  const adding = 'v1 customers.accountLink redirectUrl';
  const confirming = 'v1 destinations.confirmationLink redirectUrl';
  return {
    ...{ customer: String(customer), firm, changed, holder },
    kyc: [
      await link(`${customer}/verification-link`, verifying),
      await link(`${firm}/verification-link`, verifying),
      await link(`${changed}/verification-link`, verifying),
      await link(`${holder}/verification-link`, verifying),
      await link(`${elsewhere}/verification-link`, verifying, w.other),
    ],
    bank: [
      await link(`${holder}/account-link`, adding),
      await link(`${holder}/account-link`, adding, w.api, { asset: 'inr' }),
    ],
    confirm: [await link(`${holder}/destinations/${account.id}/confirmation-link`, confirming)],
  };
}

/** A business whose submission is begun with scripts, or gets them later. */
async function firmIsTyped({ w, text }: Filling, by: 'create' | 'update'): Promise<string> {
  const { id: firm } = await w.api.does('POST', '/customers', {
    ...{ reference: `a firm, ${by}`, kind: 'business', phone: newPhone(), country: 'DE' },
  });
  const of = `v1 submissions.${by}` as const;
  const typed = {
    entityName: text(`${of} entityName`),
    legalEntityNature: text(`${of} legalEntityNature`),
    owners: [{ firstName: text(`${of} owners`), lastName: 'Rao', share: '60' }],
    directors: [{ firstName: text(`${of} directors`), lastName: 'Rao' }],
  };
  const { id: submission } = await w.api.does('POST', `/customers/${firm}/submissions`, {
    ...{ level: 4, answers: { ...BUSINESS.details, ...ADDRESS } },
    ...(by === 'create' ? typed : {}),
  });
  if (by === 'update') await w.api.does('PATCH', `/customers/${firm}/submissions/${submission}`, typed);
  return String(firm);
}

async function wireCustomersType(f: Filling) {
  const { text } = f;
  const ids: string[] = [];
  const enrolled = async (type: string, more: Record<string, string> = {}): Promise<string> => {
    const said = { clientCustomerId: newPhone(), phoneNumber: newPhone(), type, ...more };
    const id = String((await wire(f, 'kyc/url', said)).customerId);
    ids.push(id);
    return id;
  };
  await enrolled('INDIVIDUAL', {
    clientCustomerId: text('wire kyc/url clientCustomerId'),
    email: `${text('wire kyc/url email')}@a.test`,
  });
  const { details, address } = PERSON;
  for (const path of ['kyc/submit', 'kyc/submitData'] as const)
    await wire(f, path, {
      ...{ customerId: await enrolled('INDIVIDUAL'), fiatType: 1 },
      identityNumber: PERSON.identityNumber,
      details: { ...details, firstName: text(`wire ${path} details`) },
      address: { ...address, addressLine1: text(`wire ${path} address`) },
    });
  await wire(f, 'kyb/submit', {
    customerId: await enrolled('BUSINESS'),
    identityNumber: BUSINESS.identityNumber,
    details: { ...BUSINESS.details, firstName: text('wire kyb/submit details') },
    address: { ...BUSINESS.address, addressLine1: text('wire kyb/submit address') },
    entityName: text('wire kyb/submit entityName'),
    legalEntityNature: text('wire kyb/submit legalEntityNature'),
    owners: [{ firstName: text('wire kyb/submit owners'), lastName: 'Rao', share: '60' }],
    directors: [{ firstName: text('wire kyb/submit directors'), lastName: 'Rao' }],
  });
  const { id: holder } = await f.w.s.verifiedCustomer();
  await wire(f, 'bank/addFiatAccount', {
    ...{ customerId: holder, fiatAccount: '000112345679999', ifsc: 'HDFC0000001' },
    bankName: text('wire bank/addFiatAccount bankName'),
    accountHolder: text('wire bank/addFiatAccount accountHolder'),
  });
  return { enrolled: ids, wireHolder: holder };
}

async function ordersAreTyped(f: Filling) {
  const { w, text } = f;
  const { s } = w;
  const { deposit: coins } = await salePaidTwice(s, '25', { customer: await withName(s, 'Asha', 'Rao') });
  const sale = await s.sells('20', 'usdc', {
    customer: await withName(s, 'Ravi', 'Menon'),
    reference: text('wire offramp/createTransaction merchantRecognitionId'),
  });
  await s.pays(sale, '20');
  await s.until('it is paid out', async () => (await s.stateOf(sale)) === 'settled');
  const payout = `pay_${sale.id}_1`;
  const order = await w.sells('30', { reference: text('v1 orders.create reference') });
  const reference = text('wire onramp/createTransaction merchantRecognitionId');
  const first = await s.buys('5000', 'usdc', { reference });
  const second = await s.buys('5000', 'usdc', { customer: await withName(s, 'Nina', 'Das') });
  const named = { customerId: first.customerId, transactionId: String(first.id) };
  await wire(f, 'onramp/referenceId', { ...named, referenceId: text('wire onramp/referenceId referenceId') }, 'put');
  await w.api.does('POST', `/orders/${second.id}/payer-reference`, {
    payerReference: text('v1 orders.namePayerReference payerReference'),
  });
  await w.api.does('POST', `/orders/${second.id}/wallets`, {
    ...{ address: second.address, kind: 'hosted', owner: 'other' },
    ownerName: text('v1 orders.nameWallet ownerName'),
    provider: text('v1 orders.nameWallet provider'),
  });
  const terms = { threshold: '4000', deadlineHours: 2, policy: 'hold' };
  await twoDo(f.ada, f.bea, '/travel-rules', { jurisdiction: '*', fiat: 'inr', ...terms });
  await s.credits(second, '5000', { name: 'Nina Das' });
  await s.payoutIsSubmitted(second);
  const { link } = await wire(f, '/onramp/api/v2/common/transaction/generateLink', {
    ...{ coinCode: 'usdc', network: 'matic20', fiatType: 1, fiatAmount: '5000', type: 1 },
    ...{ clientCustomerId: text('wire generateLink clientCustomerId'), phoneNumber: newPhone() },
    merchantRecognitionId: text('wire generateLink merchantRecognitionId'),
  });
  const { returnUrl } = await does(f, `/deposits/${coins}/return-link`);
  return {
    ...{ order: order.id as string, payout, sales: [String(sale.id), String(first.id), String(second.id)] },
    ...{ checkout: [String(link)], return: [String(returnUrl)], coins: String(coins) },
  };
}

async function bankWrites({ w, ada, text }: Filling, payout: string) {
  const { s } = w;
  const free = {
    text: text('bank line text'),
    payerName: text('bank line name'),
    payerAccount: text('bank line account'),
  };
  await s.bank.creditAccount({ currency: 'INR', units: 500_000n, ...free });
  const line = { id: text('bank line externalId'), reference: text('bank line reference') };
  await s.bankShows({ ...line, direction: 'debit', units: 1_234n });
  // In the bank's own words.
  await s.read((tx) => tx.run('update payouts set why = $1 where id = $2', [text('bank line why'), payout]));
  const deposit = await s.until('the credit waits in suspense', async () => {
    const { suspense } = (await ada.reads('/suspense')).body;
    return suspense.find((one: { asset: string }) => one.asset === 'inr')?.deposit;
  });
  const debit = await s.until('the debit has a case', async () => {
    const { cases } = (await ada.reads('/cases?kind=unexplained_debit')).body;
    return cases[0]?.id;
  });
  return { deposit: String(deposit), debit: String(debit) };
}

async function operatorTypes(f: Filling, of: { partner: string; debit: string; payout: string }) {
  const { w, ada, text } = f;
  const { s } = w;
  const now = s.clock.now();
  const reason = text('operator reason');
  await s.read(async (tx) => {
    for (const subject of ['scripts', 'closed'])
      await openCase(tx, { kind: 'treasury_low', subject, reason, facts: { note: reason }, now });
    await tx.run(
      `insert into reconcile_items (rail, wallet, asset, key, kind, outside_units, ledger_units, transit, why, names, found_at)
         values ('bank.old', 'hot', 'inr', 'pay_1_1', 'break_missing_outside', 0, 100, null, $1, '[]', $2)`,
      [reason, new Date(now.getTime() - HOUR_MS)],
    );
  });
  const { cases } = (await ada.reads('/cases?kind=treasury_low')).body;
  const caseOf = (subject: string) => cases.find((one: { subject: string }) => one.subject === subject)?.id;
  const about = String(caseOf('scripts'));
  await does(f, `/cases/${about}/note`, { reason });
  await does(f, `/cases/${caseOf('closed')}/close`, { outcome: text('operator case.close outcome') });
  await does(f, '/kill-switches', { kind: 'partner', subject: of.partner, reason });
  await does(f, `/operators/ada/token`, {
    ...{ label: text('operator operator.token label'), days: 1, tokenSha256: '0'.repeat(64) },
  });
  await does(f, '/self/token', { label: text('operator self.token label'), days: 1 });
  const view = { page: '/orders', name: text('operator /session/views name'), search: 'state=on_hold' };
  assert.equal((await ada.sends('/session/views', view)).status, 200);
  const { id: recycled } = await w.api.does('POST', '/customers', {
    ...{ reference: 'recycled', kind: 'individual', phone: newPhone() },
  });
  const evidence = text('operator customer.detach_phone evidence');
  await does(f, `/customers/${recycled}/detach-phone`, { evidence });
  await attaches(f, about);
  await does(f, '/operators/ada/role', { role: 'finance', reason });
  await does(f, '/travel-providers', { host: '127.0.0.1:19', name: text('operator travel.provider name') });
  await does(f, '/treasury/own-addresses', {
    ...{ rail: CHAIN, address: s.newAddress(), label: text('operator own-address.register label') },
  });
  const pattern = `^a(${text('operator requirements.set form')})?$`;
  await does(f, '/requirements', {
    ...{ kind: 'BUSINESS', country: 'BR', reason },
    form: { motto: { label: 'Motto', required: 0, regex: pattern, example: 'a' } },
  });
  const { vault } = s.server;
  await s.read(async (tx) => {
    const { id: operatorId } = await findOperator(tx, 'ada');
    const bound = { operatorId, issuer: 'https://sso.example', now };
    for (const [kind, field] of [
      ['subject', 'operator operator.bind account'],
      ['email', 'operator operator.bind email'],
    ] as const)
      await bindIdentity(tx, vault, { ...bound, kind, value: encryptTypedSame(vault, text(field)) });
  });
  await does(f, `/payouts/${of.payout}/settle-by`, { line: text('operator payout.settle-by line'), reason });
  const evidenced = { as: 'fee', amount: '12.34', evidence: text('bank line reference') };
  await does(f, `/cases/${of.debit}/correct`, evidenced);
  return { case: about, closed: String(caseOf('closed')), recycled: String(recycled) };
}

/** A file, as an operator attaches it to a case. */
async function attaches({ w, ada, text }: Filling, about: string): Promise<void> {
  const form = new FormData();
  form.set('reason', 'it came by mail');
  form.set('label', text('operator case.attach label'));
  form.set('file', new Blob([text('operator reason')], { type: 'text/plain' }), 'file');
  const { status } = await fetchDeclared(`${w.s.server.baseUrl}/operator/v1/cases/${about}/attachments`, {
    ...{ method: 'POST', body: form, headers: { authorization: `Bearer ${ada.token}` } },
  });
  assert.equal(status, 200, 'the file was not attached');
}

/** A verified customer with a name: an order of a customer without one is held, since there is a list. */
async function withName(s: Story, firstName: string, lastName: string): Promise<StoryCustomer> {
  const made = await s.verifiedCustomer();
  await s.read(async (tx) => {
    const customer = await findCustomer(tx, made.id);
    const details = { firstName, lastName, dob: '1990-01-31' };
    await saveDetails(tx, s.server.vault, { customer, details, now: s.clock.now() });
  });
  return made;
}

/** A hit of the list whose entry has a script for an alias, and one of an address. */
async function hitsAreFound(f: Filling) {
  const { w, ada, text } = f;
  const { s } = w;
  const customer = await withName(s, 'Taras', 'Orlenkov');
  const sale = await s.sells('32', 'usdc', { customer });
  await s.pays(sale, '32');
  await s.mines(2);
  const risky = await s.buys('5000', 'usdc', { address: `${s.newAddress().slice(0, -4)}bad4` });
  await s.credits(risky, '5000');
  const first = async (path: string) =>
    String((await s.until(`${path} has one`, async () => (await ada.reads(path)).body.hits[0])).id);
  await s.becomes(sale, 'on_hold');
  const legalAct = text('operator order.release-blocked legalAct');
  await does(f, `/orders/${sale.id}/release-blocked`, { legalAct, reason: text('operator reason') });
  return { hit: await first('/sanctions/hits'), addressHit: await first('/address-risk/hits') };
}

/** A list of sanctions whose only entry has this alias. */
export const listWith = (alias: string): string => {
  const inXml = alias.replaceAll('<', '&lt;').replaceAll('"', '&quot;');
  const name = (first: string, last: string, type: string) =>
    `<Name><Name1>${first}</Name1><Name6>${last}</Name6><NameType>${type}</NameType></Name>`;
  return `<Designations><Designation><UniqueID>XXX0001</UniqueID><IndividualEntityShip>Individual</IndividualEntityShip>
  <Names>${name('Taras Ilyich', 'ORLENKOV', 'Primary Name')}${name('The Eagle', inXml, 'Alias')}</Names>
  <IndividualDetails><Individual><DOBs><DOB>dd/mm/1990</DOB></DOBs></Individual></IndividualDetails></Designation></Designations>`;
};

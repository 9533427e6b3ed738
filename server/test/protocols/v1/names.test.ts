/**
 * Names in free fields of the partner API: by key and by a member's session, a name in any field of any endpoint is in no dump, and
 * the label of a key is read back as typed, whoever typed it.
 */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { ENDPOINTS } from '../../../src/protocols/v1/declared/index.ts';
import { exampleRequest } from '../../../src/protocols/v1/examples.ts';
import { newPhone } from '../../support/client.ts';
import { findInDump } from '../../support/dump.ts';
import { operatorNamed } from '../operator/people.ts';
import { type MemberClient, memberNamed } from '../team/people.ts';
import { besideStory, type V1Environment, v1Environment } from './environment.ts';

/** A name in every form that some field takes. */
const NAMES = ['Ebenezer Quagmire', 'quagmire', 'ebenezer@quagmire.example', 'https://quagmire.example/ebenezer'];
const WORDS = ['Ebenezer', 'Quagmire'];

/** Fields that are stored or logged as sent, and why they name no customer. */
const IN_CLEAR: Readonly<Record<string, string>> = {
  'webhooks.create url': 'the address of a receiver of the partner: a system of its own, called by us',
  'webhooks.update url': 'the same',
  'branding.update displayName': 'the public name of a company, which its customers are shown',
  'team.invite name': 'what the team calls a member: a short name in lower-case letters',
};
/** Fields of every endpoint that take a code or an address of a chain: no free text. */
const CODES = ['asset', 'payAsset', 'receiveAsset', 'chain', 'coin', 'fiat', 'currency', 'method', 'address'];

let w: V1Environment;
let beside: Awaited<ReturnType<typeof besideStory>>;
let owner: MemberClient;
let partnerId = 0n;

before(async () => {
  w = await v1Environment();
  const { db } = w.s.server;
  beside = await besideStory(w.s, { profile: 'sandbox', loginsPerMinute: 10_000 });
  const row = await db.asSystem((tx) =>
    tx.row<{ partnerId: bigint }>('select partner_id from api_keys where key = $1', [w.keys.apiKey]),
  );
  partnerId = row?.partnerId ?? 0n;
  owner = await memberNamed({ db, baseUrl: beside.baseUrl, clock: w.s.clock }, partnerId, 'olga', 'owner');
});
after(async () => {
  await beside?.close();
  await w?.s.close();
});

test('a name in any field of any endpoint is in no dump', async () => {
  const { api } = w;
  const [name = '', , mail = ''] = NAMES;
  // Requests that are accepted, for the fields that store a text.
  await api.does('POST', '/customers', { reference: name, kind: 'individual', phone: newPhone(), email: mail });
  const customerId = await w.customer();
  const { id: destinationId } = await api.does('POST', `/customers/${customerId}/destinations`, {
    ...{ kind: 'account', asset: 'inr', accountNumber: '000177788899', ifsc: 'HDFC0000001' },
    ...{ accountHolder: name, bankName: name },
  });
  const order = await w.sells('35', { customerId, destinationId, reference: name });
  await api.does('POST', `/orders/${order.id}/payer-reference`, { payerReference: name });
  const made = await owner.does('POST', '/keys', { label: name, scopes: ['read'] });
  const changed = await owner.does('PATCH', `/keys/${made.key}`, { label: `${name} again` });

  // And every field of every endpoint, most of which refuse it.
  const ids: Readonly<Record<string, string>> = {
    ...{ order: order.id, customer: customerId, destination: destinationId, customerId, destinationId, key: made.key },
  };
  for (const declared of ENDPOINTS.filter(({ method }) => method !== 'GET' && method !== 'DELETE'))
    for (const field of Object.keys(declared.fields)) {
      const isText = !declared.path.includes(`:${field}`) && !CODES.includes(field);
      if (!isText || `${declared.name} ${field}` in IN_CLEAR) continue;
      for (const text of NAMES) {
        const example = { ...exampleRequest(declared), ...ids, [field]: text };
        const path = declared.path.replaceAll(/:(\w+)/g, (_, id: string) => ids[id] ?? '1');
        const body = Object.fromEntries(
          Object.entries(example).filter(([one]) => one in declared.fields && !declared.path.includes(`:${one}`)),
        );
        const { status } =
          declared.person === true
            ? await owner.asks(declared.method, path, body)
            : await api.send(declared.method, path, body);
        assert.ok(status < 500, `${declared.name} ${field}: ${status}`);
      }
    }

  assert.deepEqual(await findInDump(w.s.adminUrl, WORDS), []);
  assert.deepEqual([made.label, changed.label], [name, `${name} again`]);
});

test('the label of a key is shown as typed to the team and to operators, whoever typed it', async () => {
  const { server, clock } = w.s;
  const operator = await operatorNamed({ db: server.db, baseUrl: server.baseUrl, clock }, 'op', 'admin');
  const byOperator = 'for the till of Ebenezer';
  const made = await operator.does(`/partners/${partnerId}/keys`, { label: byOperator, scopes: 'read' });
  assert.equal(made.status, 200, JSON.stringify(made.body));
  const byTeam = 'for the shop of Quagmire';
  await owner.does('POST', '/keys', { label: byTeam, scopes: ['read'] });
  const { data } = await owner.does('GET', '/keys');
  const labels = data.map(({ label }: { label: string }) => label);
  assert.ok(labels.includes(byOperator) && labels.includes(byTeam), JSON.stringify(labels));
  const shown = JSON.stringify((await operator.reads(`/partners/${partnerId}`)).body);
  assert.ok(shown.includes(byOperator) && shown.includes(byTeam), shown);
});

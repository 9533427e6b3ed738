/**
 * Invitations of operators to the team of a partner: whoever holds the link is that member, an owner perhaps, so one operator
 * alone gets no link.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { declareInstallation } from '../../../src/operators/index.ts';
import { memberOfCode } from '../../../src/team/index.ts';
import { findInDump } from '../../support/dump.ts';
import { operatorApi } from '../../support/operatorapi.ts';
import { type Environment, type TestPartner, wireEnvironment } from '../whitelabel/environment.ts';
import { confirmedBy, operatorNamed, type Person, type Said, takes } from './people.ts';

let world: Environment;
let ada: Person;
let bea: Person;
let cleo: Person;
let shop: TestPartner;
const DAY_MS = 24 * 3_600_000;

before(async () => {
  world = await wireEnvironment({ production: true, beside: (fixture) => operatorApi(fixture) });
  ada = await operatorNamed(world, 'ada', 'admin');
  bea = await operatorNamed(world, 'bea', 'admin');
  cleo = await operatorNamed(world, 'cleo', 'admin');
  shop = await world.partner('Shop');
});
after(async () => await world?.stop());

const team = () => `/partners/${shop.partner.id}/team`;
const invites = (person: Person, name: string, role = 'owner') => person.does(team(), { name, role });
const invitesAgain = (person: Person, member: string) => person.does(`${team()}/${member}/invitation`);
const collects = (person: Person, member: string) => person.does(`${team()}/${member}/link`);
const codeIn = (url: string): string => url.split('#')[1] ?? '';
const nameBy = (url: string): Promise<string> =>
  world.db.asSystem(async (tx) => (await memberOfCode(tx, codeIn(url), world.clock.now())).member.name);
const joins = (member: string) =>
  world.query('update partner_members set joined_at = $2 where id = $1', [member, world.clock.now()]);

/** A member whom two operators invited. @returns the number of the member */
async function invited(name: string): Promise<string> {
  const done = await confirmedBy(bea, await invites(ada, name));
  assert.equal(done.status, 200, JSON.stringify(done.body));
  return String(done.body.member);
}

const hasNoLink = ({ body }: Said) => assert.doesNotMatch(JSON.stringify(body), /partner\/join/);

describe('an invitation', () => {
  test('takes two operators, and its link is shown once, to the one who requested it', async () => {
    const said = await invites(ada, 'olga');
    assert.deepEqual([said.status, said.body.people], [202, 2], JSON.stringify(said.body));
    const listed = async () => (await ada.reads(team())).body.team;
    assert.deepEqual(await listed(), [], 'the member exists before the confirmation');
    const done = await confirmedBy(bea, said);
    assert.deepEqual([done.status, done.body.linkFor], [200, 'ada'], JSON.stringify(done.body));
    for (const reply of [said, done]) hasNoLink(reply);
    const member = String(done.body.member);
    const [olga] = await listed();
    assert.deepEqual([olga.invitedBy, olga.linkFor, olga.invitedUntil], ['operator ada', 'ada', null]);
    for (const other of [bea, cleo]) assert.equal((await collects(other, member)).body.reason, 'no_link_waits');
    const both = await Promise.all([collects(ada, member), collects(ada, member)]);
    assert.deepEqual(both.map(({ status }) => status).sort(), [200, 409], 'the link was not shown exactly once');
    const { url } = both.find(({ status }) => status === 200)?.body ?? {};
    assert.equal(await nameBy(url), 'olga');
    assert.deepEqual(await findInDump(world.adminUrl, [codeIn(url)]), []);
  });

  test('can be collected for a day, and a further one ends those before', async () => {
    const late = await invited('late');
    world.clock.advance(DAY_MS + 1);
    assert.equal((await collects(ada, late)).body.reason, 'no_link_waits', 'the link was shown after a day');
    const again = async (by: Person, other: Person) => {
      const done = await confirmedBy(other, await invitesAgain(by, late));
      assert.deepEqual([done.status, done.body.linkFor], [200, by.name], JSON.stringify(done.body));
      hasNoLink(done);
    };
    await again(ada, bea);
    const first = await collects(ada, late);
    await again(bea, ada);
    await assert.rejects(nameBy(first.body.url), { code: 'unauthenticated' });
    assert.equal((await collects(ada, late)).body.reason, 'no_link_waits');
    assert.equal(await nameBy((await collects(bea, late)).body.url), 'late');
  });

  test('of a member who is removed meanwhile is not shown', async () => {
    const gone = await invited('gone');
    assert.equal((await bea.does(`${team()}/${gone}/remove`)).status, 200);
    assert.equal((await collects(ada, gone)).body.reason, 'unknown_member');
  });
});

describe('a rule that one operator is enough', () => {
  before(async () => await world.db.asSystem((tx) => takes(tx, 1, { action: 'team.*' })));

  test('admits a new member at once, and no second holder of a member who has joined', async () => {
    const said = await invites(ada, 'ines', 'developer');
    assert.equal(said.status, 200, JSON.stringify(said.body));
    assert.equal(await nameBy(said.body.url), 'ines');
    const member = String(said.body.member);
    assert.equal((await invitesAgain(ada, member)).status, 200);
    await joins(member);
    const over = await invitesAgain(ada, member);
    assert.deepEqual([over.status, over.body.people], [202, 2], 'one operator took over a member who has joined');
  });

  test('does not cover a member who joins between the proposal and its confirmation', async () => {
    await world.db.asSystem((tx) => takes(tx, 2, { action: 'team.invite_again' }));
    const { member } = (await invites(ada, 'mona')).body;
    const said = await invitesAgain(ada, member);
    await joins(member);
    assert.equal((await confirmedBy(bea, said)).body.reason, 'proposal_overtaken');
  });
});

describe('an installation of one operator', () => {
  const declare = (operators: 'one' | 'two', delayS: number) =>
    world.db.asSystem((tx) => declareInstallation(tx, { operators, delayS, now: world.clock.now() }));
  after(async () => await declare('two', 86_400));

  test('waits out the delay with a notice, and its operator then gets the link', async () => {
    await world.db.asSystem((tx) => takes(tx, 2, { action: 'team.*' }));
    const owner = await invited('solo');
    await declare('one', 3_600);
    await joins(owner);
    const said = await invitesAgain(ada, owner);
    assert.deepEqual([said.status, typeof said.body.readyAt], [202, 'string'], JSON.stringify(said.body));
    const { cases } = (await ada.reads('/cases?kind=action_delayed')).body;
    const notice = cases.find(({ subject }: { subject: string }) => subject === `proposal:${said.body.proposal}`);
    const closed = await ada.does(`/cases/${notice.id}/close`, { outcome: 'nothing to see' });
    assert.equal(closed.body.reason, 'notice_needed', 'a thief of the token ends the notice before alerts report it');
    assert.match(closed.body.error, new RegExp(`Proposal ${said.body.proposal} is open`));
    assert.equal((await confirmedBy(ada, said)).body.reason, 'proposal_waits');
    world.clock.advance(3_600_000);
    // The database's clock cannot be moved, so the time that it stored is moved instead.
    await world.query(`update proposals set recorded_at = recorded_at - interval '1 hour' where id = $1`, [
      said.body.proposal,
    ]);
    const done = await confirmedBy(ada, said);
    assert.equal(done.status, 200, JSON.stringify(done.body));
    assert.equal(await nameBy(done.body.url), 'solo');
  });
});

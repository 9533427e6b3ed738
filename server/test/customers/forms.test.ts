/** Forms as data: which one applies, which may be saved, and which answers are valid. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Refusal, Unavailable } from '../../src/base/errors.ts';
import { matches, patternProblem } from '../../src/base/patterns.ts';
import {
  BUSINESS_FORM,
  countryFor,
  countryOfPhone,
  faultOf,
  fieldsOf,
  formFor,
  minimumTotalShareOf,
  ownersFault,
  PERSON_FORM,
  readPeople,
  saveForm,
} from '../../src/customers/index.ts';
import { setKybRequirements, upsertAsset } from '../../src/partners/index.ts';
import { type Fixture, freshFixture } from '../support/fixture.ts';
import { patience } from '../support/patience.ts';
import { fiat } from '../support/terms.ts';

const NOW = new Date('2026-05-08T12:00:00Z');

describe('a country', () => {
  test('is told from a calling code that one country alone has', () => {
    for (const [phone, country] of [
      ['+91-9876543210', 'IN'],
      ['+91 98765 43210', 'IN'],
      ['+971 50 123 4567', 'AE'],
      ['+4915112345678', 'DE'],
      ['+234-8012345678', 'NG'],
      ['+1-2025550123', undefined],
      ['+7 9161234567', undefined],
      ['+44-7700900123', undefined],
      ['9876543210', undefined],
      ['', undefined],
    ] as const)
      assert.equal(countryOfPhone(phone), country, phone);
  });

  test('set by a partner or in a form counts before one that a request names, and that before the phone’s', () => {
    const by = (countryBy: 'phone' | 'partner' | 'form' | null) => ({ country: 'DE', countryBy });
    for (const who of ['partner', 'form'] as const) assert.equal(countryFor(by(who), 'FR'), 'DE');
    assert.deepEqual([countryFor(by('phone'), 'FR'), countryFor(by('phone'))], ['FR', 'DE']);
    assert.deepEqual([countryFor(by(null), 'FR'), countryFor(by(null))], ['FR', undefined]);
  });
});

describe('patterns', () => {
  test('of the default forms are accepted', () => {
    for (const { regex } of [...fieldsOf(BUSINESS_FORM), ...fieldsOf(PERSON_FORM)])
      if (regex !== undefined) assert.equal(patternProblem(regex), undefined, regex);
    assert.equal(patternProblem('^[A-Z]{5}[0-9]{4}[A-Z]$'), undefined);
  });

  for (const slow of ['(a+)+$', '^(a|a)*$', '^([a-z]+ ?)+$', '.*.*.*.*=', '^(\\d*)*x$', '(a|b|ab)*c', '^(.*a){12}$'])
    test(`${slow} is refused when it is saved`, () => assert.match(patternProblem(slow) ?? '', /take too long/));

  test('no regular expression, and one that is too long, are refused', () => {
    assert.match(patternProblem('(') ?? '', /regular expression/);
    assert.match(patternProblem('a'.repeat(201)) ?? '', /at most 200/);
  });

  test('a bad pattern that was saved anyway ends in time, without a result', () => {
    const isLate = patience(5_000);
    assert.throws(() => matches('^(a|a)*$', `${'a'.repeat(60)}!`), Unavailable);
    assert.ok(!isLate(), 'a pattern took five seconds');
  });
});

describe('answers', () => {
  const dob = { ...BUSINESS_FORM.details.dob, name: 'dob' };
  test('a fault names the rule and an example, and never the answer', () => {
    assert.equal(faultOf(dob, '31.01.1990', NOW), 'must be a day, YYYY-MM-DD, for example 1990-01-31');
    assert.match(faultOf(dob, '1990-02-31', NOW) ?? '', /must be a day/);
    assert.match(faultOf(dob, '2026-05-09', NOW) ?? '', /in the past/);
    assert.equal(faultOf(dob, '1990-01-31', NOW), undefined);
    const city = { ...BUSINESS_FORM.address.city, name: 'city' };
    assert.equal(faultOf(city, '<script>', NOW), 'must match ^[a-zA-Z ]+$, for example Pune');
    assert.match(faultOf({ name: 'land', type: 'country' }, 'ZZ', NOW) ?? '', /two capital letters, for example IN/);
    assert.equal(faultOf({ name: 'land', type: 'country' }, 'DE', NOW), undefined);
    assert.match(
      faultOf({ name: 'form', options: ['GmbH', 'AG'] }, 'Ltd', NOW) ?? '',
      /one of GmbH, AG, for example GmbH/,
    );
    assert.match(faultOf({ name: 'note' }, 'a\u0000b', NOW) ?? '', /control characters/);
    assert.match(faultOf({ name: 'note' }, 'x'.repeat(257), NOW) ?? '', /at most 256/);
  });

  test('a text of characters that nobody sees, or with more marks than a script has, is no answer', () => {
    const hidden = [
      '\u200b',
      '\u2060\u2060',
      '\u3164',
      '\u00ad',
      '\u202eAsha',
      'Asha\u200f',
      'As\u200bha',
      '\u2800',
      'A\ufe0f',
    ];
    const zalgo = `A${'\u0301'.repeat(7)}sha`;
    for (const text of [...hidden, 'Asha\u200d', '\u200cAsha', 'A\u200d\u200dsha', zalgo, '\u{e0041}Asha']) {
      const why = faultOf({ name: 'firstName' }, text, NOW);
      assert.equal(why, 'must have only characters that can be seen, for example Asha', JSON.stringify(text));
      const read = readPeople('directors', [{ firstName: text, lastName: 'Rao' }], NOW);
      assert.ok('faults' in read, JSON.stringify(text));
      assert.match(read.faults['directors[0].firstName'] ?? '', /characters that can be seen, for example Asha/);
    }
    // Right to left, with a joiner within a word, with marks apart from their letters, in Han with a variant, in Tibetan.
    const names = [
      'عائشة',
      'نازنین\u200cزهرا',
      'क्\u200dष',
      'Ng\u0075\u0302\u0303n',
      '葛\u{e0100}城',
      'བསྒྲུབས',
      'Ōtaki',
      'יְרוּשָׁלִַם',
    ];
    for (const text of names) {
      assert.equal(faultOf({ name: 'firstName' }, text, NOW), undefined, JSON.stringify(text));
      assert.ok('people' in readPeople('directors', [{ firstName: text, lastName: text }], NOW), text);
    }
  });

  test('owners hold at most 100 percent together, to two places', () => {
    const owner = (share: string) => ({ firstName: 'Asha', lastName: 'Rao', share });
    assert.ok('people' in readPeople('owners', [owner('50.01'), owner('49.99')], NOW));
    const faults = (...shares: string[]) => {
      const read = readPeople('owners', shares.map(owner), NOW);
      return 'faults' in read ? Object.keys(read.faults) : [];
    };
    assert.deepEqual(faults('50.01', '50'), ['owners']);
    for (const share of ['0', '100.01', '1.234', '-1', '1e1', '٥', ''])
      assert.deepEqual(faults(share), ['owners[0].share']);
    assert.deepEqual(Object.keys(readPeople('directors', [{ firstName: 'Asha' }], NOW)), ['faults']);
  });
});

describe('forms', () => {
  let fixture: Fixture;
  before(async () => {
    fixture = await freshFixture();
    await fixture.db.asSystem((tx) => upsertAsset(tx, fiat('inr')));
  });
  after(async () => await fixture?.stop());
  const form = (label: string) => ({
    details: { pan: { label, required: 1 as const, regex: '^[A-Z]{5}[0-9]{4}[A-Z]$' } },
  });
  const save = (over: Partial<Parameters<typeof saveForm>[1]>) =>
    fixture.db.asSystem((tx) =>
      saveForm(tx, {
        ...{ kind: 'BUSINESS', form: form('PAN'), needsDocument: false },
        ...{ effectiveAt: NOW, by: 'ana', now: NOW },
        ...over,
      }),
    );
  const shown = async (scope: Parameters<typeof formFor>[1], at = NOW) => {
    const { form: chosen } = await fixture.db.asSystem((tx) => formFor(tx, scope, at));
    return fieldsOf(chosen).map(({ label }) => label)[0];
  };

  test('the default applies if none was set; the most specific form in effect replaces it, and a later version replaces that', async () => {
    const business = { kind: 'BUSINESS', country: 'IN', fiat: 'inr', level: 1 } as const;
    assert.equal(await shown(business), 'Identity Number');
    await save({ country: 'IN' });
    assert.equal(await shown(business), 'PAN');
    assert.equal(await shown({ ...business, country: 'DE' }), 'Identity Number');
    await save({ form: form('For any') });
    assert.equal(await shown(business), 'PAN');
    assert.equal(await shown({ ...business, country: 'DE' }), 'For any');
    assert.equal(await shown({ ...business, kind: 'INDIVIDUAL' }), 'Identity Number');
    const later = new Date(NOW.getTime() + 86_400_000);
    assert.equal((await save({ country: 'IN', form: form('Next'), effectiveAt: later }))?.version, 2);
    assert.equal(await shown(business), 'PAN');
    await save({ kind: 'INDIVIDUAL', form: form('Forgets what is remembered') });
    assert.equal(await shown(business, later), 'Next');
  });

  test('a bad form is refused by the path of each wrong part, and nothing is saved', async () => {
    const requirement = { label: 'A', required: 1 };
    const wrong: [Record<string, unknown>, string[]][] = [
      [{}, ['form']],
      [{ details: { a: { label: 'A', required: 1, regex: '(a+)+$' } } }, ['details.a.regex']],
      [{ details: { a: requirement }, address: { a: requirement } }, ['address.a']],
      [
        { details: { a: { label: '<b>', required: 2, type: 'html', more: 1 } } },
        ['more', 'label', 'required', 'type'].map((part) => `details.a.${part}`),
      ],
      [{ customerId: requirement }, ['customerId']],
      [{ a: requirement, documents: { 1: { idName: 'Pass', files: ['../../etc/passwd'] } } }, ['documents.1.files']],
      [{ a: requirement, documents: { x: { idName: 'Pass', files: ['a.jpg'] } } }, ['documents.x']],
      ...[0, -1, 100.01, 33.333, '75', null, Number.NaN].map(
        (minimumTotalShare): [Record<string, unknown>, string[]] => [
          { a: requirement, owners: { minimumTotalShare } },
          ['owners.minimumTotalShare'],
        ],
      ),
      [{ a: requirement, owners: { minimumTotalShare: 75, atLeast: 1 } }, ['owners.atLeast']],
      [{ a: requirement, owners: 75 }, ['owners']],
    ];
    for (const [bad, paths] of wrong) {
      const error = await save({ form: bad, level: 5 }).catch((thrown: unknown) => thrown);
      assert.ok(error instanceof Refusal, JSON.stringify(bad));
      assert.deepEqual(Object.keys(error.facts.fields as object), paths);
    }
    assert.equal(await shown({ kind: 'BUSINESS', level: 5 }), 'For any');
  });

  test('owners are asked for in forms of businesses only; a group of that name, as before, is a group', async () => {
    const owners = { minimumTotalShare: 75 };
    const person = save({ kind: 'INDIVIDUAL', form: { ...form('PAN'), owners } });
    await assert.rejects(person, ({ facts }: Refusal) => Object.keys(facts.fields as object)[0] === 'owners');
    const group = { owners: { largest: { label: 'Largest', required: 1 as const } } };
    await save({ country: 'AT', form: group });
    assert.equal(await shown({ kind: 'BUSINESS', country: 'AT' }), 'Largest');
    for (const [asked, percent] of [
      [{ owners }, 75],
      [group, undefined],
      [{ owners: { minimumTotalShare: '75' } }, undefined],
      [BUSINESS_FORM, undefined],
    ] as const)
      assert.equal(minimumTotalShareOf(asked), percent);
    // 57.01 + 18.02 is 75.03 in hundredths, and 75.03000000000001 in floating point.
    const named = ['57.01', '18.02'].map((share) => ({ share }));
    assert.equal(ownersFault({ owners: { minimumTotalShare: 75.03 } }, named), undefined);
    assert.match(ownersFault({ owners: { minimumTotalShare: 75.04 } }, named) ?? '', /at least 75\.04 percent/);
  });

  test('a pattern of a partner’s own form that backtracks is refused', async () => {
    const requirements = { name: { label: 'Name', required: 1, regex: '(a+)+$' } };
    await assert.rejects(
      fixture.db.asSystem((tx) => setKybRequirements(tx, { partnerId: 1n, requirements, now: NOW })),
      ({ facts }: Refusal) => Object.keys(facts.fields as object)[0] === 'name.regex',
    );
  });
});

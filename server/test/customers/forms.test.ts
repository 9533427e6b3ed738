/** Forms as data: which one applies, which may be saved, and which answers are valid. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { Refusal, Unavailable } from '../../src/base/errors.ts';
import { judge, patternProblem, watchPatterns } from '../../src/base/patterns.ts';
import { sampleOf } from '../../src/base/patterns.words.ts';
import {
  BUSINESS_FORM,
  countryFor,
  countryOfPhone,
  faultOf,
  fieldsOf,
  formFor,
  knownCountry,
  minimumTotalShareOf,
  ownersFault,
  PERSON_FORM,
  readPeople,
  type SourcedCountry,
  saveForm,
  statedCountry,
} from '../../src/customers/index.ts';
import { createPartner, upsertAsset } from '../../src/partners/index.ts';
import { type Fixture, freshFixture } from '../support/fixture.ts';
import { fiat } from '../support/terms.ts';

const NOW = new Date('2026-05-08T12:00:00Z');

describe('a country', () => {
  test('is told from the first digits of a phone that one country alone has', () => {
    for (const [phone, country] of [
      ['+91-9876543210', 'IN'],
      ['+91 98765 43210', 'IN'],
      ['+971 50 123 4567', 'AE'],
      ['+4915112345678', 'DE'],
      ['+234-8012345678', 'NG'],
      ['+1-2025550123', undefined],
      ['+7 9161234567', undefined],
      ['+44-7700900123', undefined],
      ['+44 20 7946 0018', 'GB'],
      ['+44-7400123456', 'GB'],
      ['+44 800 1111', undefined],
      ['+44 1534 440000', 'JE'],
      ['+44 7624 301234', 'IM'],
      ['+1 416 555 0123', 'CA'],
      ['+1-876-555-0123', 'JM'],
      ['+1 800 555 0123', undefined],
      ['+7 727 250 0000', 'KZ'],
      ['+', undefined],
      ['9876543210', undefined],
      ['', undefined],
    ] as const)
      assert.equal(countryOfPhone(phone), country, phone);
  });

  test('set by a partner or in a form counts before one that a request names, and that before the phone’s', () => {
    const by = (countryBy: SourcedCountry['countryBy']) => ({ country: 'DE', countryBy });
    for (const who of ['partner', 'form'] as const) assert.equal(countryFor(by(who), 'FR'), 'DE');
    for (const who of ['phone', 'document'] as const)
      assert.deepEqual([countryFor(by(who), 'FR'), countryFor(by(who))], ['FR', 'DE']);
    assert.deepEqual([countryFor(by(null), 'FR'), countryFor(by(null))], ['FR', undefined]);
    assert.deepEqual([knownCountry(by('document')), knownCountry(by(null))], ['DE', undefined]);
    assert.deepEqual([statedCountry(by('form')), statedCountry(by('document'))], ['DE', undefined]);
  });
});

/** The second is quadratic at most, so it cannot be made slow by the longest answer. */
const FINE = [
  ...['^[A-Z]{5}[0-9]{4}[A-Z]$', '^[a-z]+[a-z0-9]*$', '^[^@ ]+@[^@ ]+\\.[a-z]{2,}$', "^\\p{L}[\\p{L} '-]*$"],
  ...['^(?=.*\\d)(?=.*[a-z]).{8,}$', '^(?:AB|CD)?[0-9]{6,20}$', '^\\+?[0-9 ]{6,20}$', '^(\\w)\\1*$'],
];
/** Repetitions of repetitions: found by their structure. */
const NESTED = ['(a+)+$', '^([a-z]+ ?)+$', '^(\\d*)*x$', '^(?:a{1,20}){1,20}$'];
/** Found only by trying them on what their alternatives accept together. */
const OVERLAPPING = [
  ...['^(?:hello|hell[o])+$', '^(a|a)*$', '(a|b|ab)*c', '^x{3}(?:[ab][cd]|[bx][dy])+$', '^(?:a|ba|ab)*$'],
  ...['^(?:\\d\\d|\\d\\d\\d)+$', '^(?=(?:a|a)+$)'],
];

describe('patterns', () => {
  const SLOW_TEXT = `${'hello'.repeat(50)}!`;
  const SLOW = '^(?:hello|hell[o])+$';

  test('of the default forms are accepted, and take time in proportion to the text', async () => {
    for (const { regex } of [...fieldsOf(BUSINESS_FORM), ...fieldsOf(PERSON_FORM)]) {
      if (regex === undefined) continue;
      assert.equal(await patternProblem(regex), undefined, regex);
      // In quadratic time a text of a million characters would take hours.
      for (const one of ['a', '1', ' ', '19']) new RegExp(regex, 'u').test(`${one.repeat(1_000_000 / one.length)}\n!`);
    }
  });

  for (const fine of FINE)
    test(`${fine} may be saved`, async () => assert.equal(await patternProblem(fine), undefined));

  for (const slow of [...NESTED, ...OVERLAPPING, '.*.*.*.*=', '^(.*a){12}$'])
    test(`${slow} is refused when it is saved`, async () =>
      assert.match((await patternProblem(slow)) ?? '', /take too long/));

  test('no regular expression, and one that is too long, are refused', async () => {
    assert.match((await patternProblem('(')) ?? '', /regular expression/);
    assert.match((await patternProblem('a'.repeat(201))) ?? '', /at most 200/);
  });

  test('that do not end are ended, the pair is named, and the main thread goes on meanwhile', async () => {
    const late: string[] = [];
    const end = watchPatterns((source) => late.push(source));
    const fast = { source: '^[a-z]+$', text: 'abc' };
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 10);
    const found = await judge([fast, { source: SLOW, text: SLOW_TEXT }, fast]);
    clearInterval(timer);
    await end();
    assert.deepEqual(found, [true, 'late', 'unknown']);
    assert.deepEqual(late, [SLOW]);
    // On the main thread the timer would not fire once before the result.
    assert.ok(turns >= 5, `${turns} turns of the main thread`);
  });

  test('are judged behind many that do not end, and after the threads were ended', async () => {
    const slow = Array.from({ length: 4 }, () => judge([{ source: SLOW, text: SLOW_TEXT }]));
    const good = judge([
      { source: '^a$', text: 'a' },
      { source: '^a$', text: 'b' },
    ]);
    assert.deepEqual(await good, [true, false]);
    assert.deepEqual((await Promise.all(slow)).flat(), ['late', 'late', 'late', 'late']);
    await watchPatterns(() => {})();
    assert.deepEqual(await judge([{ source: '^a$', text: 'a' }]), [true]);
  });

  test('wait for a thread no longer than a transaction may, and few at once', async () => {
    const ended: unknown[] = [];
    const asked = Array.from({ length: 110 }, () =>
      judge([{ source: SLOW, text: SLOW_TEXT }], 300)
        .catch((error: unknown) => error)
        .then((found) => void ended.push(found)),
    );
    await Promise.resolve();
    await new Promise(setImmediate);
    assert.equal(ended.filter((one) => one instanceof Unavailable).length, 8, 'two run and a hundred wait');
    await Promise.all(asked);
    assert.equal(ended.filter((one) => one instanceof Unavailable).length, 108, 'the hundred waited in vain');
    assert.deepEqual(await judge([{ source: '^a$', text: 'a' }]), [true]);
  });

  test('that the engine gives up on, or that are none, have no judgement', async () => {
    assert.deepEqual(await judge([{ source: '(', text: 'a' }]), ['late']);
    assert.deepEqual(await judge([{ source: '^a$', text: 'a'.repeat(1_001) }]), [false]);
    assert.deepEqual(await judge([]), []);
  });

  test('have a sample that they accept, or none', () => {
    const sampled: readonly [string, string | undefined][] = [
      ['^[A-Z]{5}[0-9]{4}[A-Z]$', 'AAAAA0000A'],
      ['^(19|20)\\d{2}-(0[1-9]|1[0-2])$', '1911-01'],
      ['^[^@ ]+@[^@ ]+\\.[a-z]{2,}$', 'a@a.aa'],
      ['^\\s*[a-z]+\\s*$', 'a'],
      ['[0-9]{3}', '000'],
      ['^\\p{Lu}\\p{Ll}+$', 'Aa'],
      ['^(?!\\s).*$', undefined],
      ['^(\\w)\\1$', undefined],
      ['a^b', undefined],
      ['^ *$', undefined],
      ['(', undefined],
    ];
    for (const [source, sample] of sampled) assert.equal(sampleOf(source), sample, source);
    for (const source of [...FINE, ...NESTED, ...OVERLAPPING]) {
      const sample = sampleOf(source);
      if (sample !== undefined) assert.match(sample, new RegExp(source, 'u'));
    }
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
    const pan = { name: 'identityNumber', regex: '^[A-Z]{2}[0-9]{3}$' };
    const refused = faultOf(pan, 'x', NOW, () => false);
    assert.equal(refused, 'must match ^[A-Z]{2}[0-9]{3}$, for example AA000', 'not the example of our own field');
    const late = faultOf({ ...pan, example: 'IN471' }, 'x', NOW, () => 'late');
    assert.equal(late, 'took too long to compare with ^[A-Z]{2}[0-9]{3}$: give a shorter answer, for example IN471');
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

  test('an example that its own field refuses is refused, and so is a regex without one', async () => {
    const text = { label: 'A', required: 1 };
    const wrong: [Record<string, unknown>, RegExp][] = [
      [
        { regex: '^[A-Z]{2}$', example: 'AB1' },
        /is refused by its own field: it must match \^\[A-Z\]\{2\}\$, for example AA$/,
      ],
      [{ regex: '^(?!x)[a-z]+$' }, /must be given: none follows from the regex/],
      [{ type: 'date', example: '31.01.1990' }, /must be a day, YYYY-MM-DD, for example 1990-01-31/],
      [{ type: 'date', expires: ['a'], example: '2020-01-31' }, /must be today or later/],
      [{ type: 'date', regex: '^\\d{2}\\.\\d{2}\\.\\d{4}$' }, /must match/],
      [{ type: 'country', example: 'India' }, /two capital letters, for example IN/],
      [{ type: 'select', options: ['GmbH', 'AG'], example: 'Ltd' }, /must be one of GmbH, AG/],
      [{ type: 'select', options: ['GmbH', 'AG'], regex: '^[a-z]+$' }, /must match/],
      [{ example: 'A\u200bsha' }, /characters that can be seen/],
    ];
    for (const [more, why] of wrong) {
      const error = await save({ form: { details: { a: { ...text, ...more } } }, country: 'FI' }).catch(
        (one: unknown) => one,
      );
      assert.ok(error instanceof Refusal, JSON.stringify(more));
      const [[path, said] = []] = Object.entries(error.facts.fields as Record<string, string>);
      assert.equal(path, 'details.a.example');
      assert.match(said ?? '', why);
    }
    for (const more of [
      { regex: '^(?!x)[a-z]+$', example: 'abc' },
      { regex: '^[A-Z]{2}$' },
      { type: 'country' },
      { type: 'file', regex: '^(?!x)' },
    ] as const)
      assert.ok(await save({ form: { a: { ...text, ...more } }, country: 'FI' }), JSON.stringify(more));
  });

  test('the default forms would be accepted too', async () => {
    for (const [kind, ours] of [
      ['BUSINESS', BUSINESS_FORM],
      ['INDIVIDUAL', PERSON_FORM],
    ] as const)
      assert.ok(await save({ kind, form: ours, country: 'NO' }), kind);
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

  test('a partner’s own form is checked like every other, and comes first for that partner alone', async () => {
    const partner = (name: string) => fixture.db.asSystem((tx) => createPartner(tx, { name, now: NOW }));
    const [{ id: mine }, { id: theirs }] = [await partner('Mine'), await partner('Theirs')];
    const scope = { kind: 'BUSINESS', country: 'CH' } as const;
    const slow = { name: { label: 'Name', required: 1, regex: '(a+)+$' } };
    const shownBy = { company: { name: { label: 'Name', required: 1, regex: '^[a-z]+$', example: 'ABC' } } };
    for (const [bad, path] of [
      [slow, 'name.regex'],
      [shownBy, 'company.name.example'],
      [{ a: { label: '<b>', required: 1 } }, 'a.label'],
    ] as const)
      await assert.rejects(
        save({ partnerId: mine, form: bad as never }),
        ({ facts }: Refusal) => Object.keys(facts.fields as object)[0] === path,
        path,
      );
    await save({ country: 'CH', form: form('Everybody’s') });
    const [first, second] = [await save({ partnerId: mine, form: form('Mine') }), await save({ partnerId: theirs })];
    assert.deepEqual([first?.version, second?.version], [1, 1]);
    const own = { ...scope, partnerId: mine };
    assert.equal(await shown(own), 'Mine');
    assert.equal(await shown({ ...scope, partnerId: theirs }), 'PAN');
    assert.equal(await shown(scope), 'Everybody’s');
    assert.equal(await shown({ ...own, kind: 'INDIVIDUAL' }), await shown({ ...scope, kind: 'INDIVIDUAL' }));

    // The other partner's role sees neither row, even without the condition.
    const seen = await fixture.db.asPartner(theirs, (tx) =>
      tx.rows<{ partnerId: bigint | null }>('select distinct partner_id from requirement_forms order by 1'),
    );
    assert.deepEqual(
      seen.map(({ partnerId }) => partnerId),
      [theirs, null],
    );

    const later = new Date(NOW.getTime() + 86_400_000);
    assert.equal((await save({ partnerId: mine, form: form('Next'), effectiveAt: later }))?.version, 2);
    assert.equal(await shown(own), 'Mine');
    const end = new Date(later.getTime() + 86_400_000);
    assert.equal((await save({ partnerId: mine, form: {}, effectiveAt: end }))?.version, 3);
    assert.equal(await shown(own, later), 'Next');
    const { version } = await fixture.db.asSystem((tx) => formFor(tx, own, later));
    assert.equal(version, 2);
    await save({ country: 'CH', form: form('Everybody’s') });
    assert.equal(await shown(own, end), 'Everybody’s');
  });
});

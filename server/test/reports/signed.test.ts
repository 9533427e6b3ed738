/**
 * Signed reconciliation reports: a changed report, another key and an ambiguous file are refused, an open difference is said first, and
 * the report of a day is made once and stays as it was.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createPublicKey, generateKeyPairSync, randomBytes, verify } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { openVault } from '../../src/base/crypto.ts';
import {
  keepDailyReport,
  reconciliationDays,
  reconciliationOfDay,
  reconciliationReport,
  reportHandlers,
  reportKeys,
  SIGN_REPORT,
  verifySigned,
} from '../../src/reports/index.ts';
import { verdictOf } from '../../src/reports/reconciliation.ts';
import { pemOf, published, signingKey, signText } from '../../src/reports/signed.ts';
import { type Fixture, freshFixture } from '../support/fixture.ts';
import { freshFolder } from '../support/folder.ts';
import { isLong } from '../support/long.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const vault = openVault(randomBytes(32));
const pem = pemOf(signingKey(vault));
const LINE = {
  ...{ what: 'break', rail: 'bank.eur', wallet: 'main', asset: 'eur', key: 'L1', outsideUnits: '5', ledgerUnits: '7' },
  ...{
    differenceUnits: '-2',
    why: 'booked, and not shown "outside"; ünlisted',
    at: '2026-11-27T22:00:00.000Z',
    ageS: 7_200,
  },
};
const REPORT = {
  ...{
    kind: 'reconciliation report',
    version: 1,
    verdict: 'OPEN DIFFERENCES: 1 item',
    isOpen: true,
    day: '2026-11-27',
  },
  ...{ at: '2026-11-28T00:00:01.000Z', seal: { number: '7', hash: 'ab'.repeat(32), at: '2026-11-28T00:00:00.000Z' } },
  ...{ unsealed: '0', breaks: 1, transit: 0, isWhole: true, assets: [{ asset: 'eur', debits: '7', credits: '7' }] },
  lines: [LINE],
};
const signed = (report: object = REPORT, by = vault) => {
  const text = JSON.stringify(report);
  return published<Record<string, unknown>>(text, signText(by, text));
};
const whyNot = (file: string, key = pem): string => {
  const found = verifySigned(file, key);
  return found.isGenuine ? 'genuine' : found.why;
};
describe('a signed report', () => {
  test('is genuine as it was published, on one line or on many', () => {
    for (const file of [JSON.stringify(signed()), JSON.stringify(signed(), null, 2), `\n${JSON.stringify(signed())}\n`])
      assert.equal(whyNot(file), 'genuine');
    assert.deepEqual(verifySigned(JSON.stringify(signed()), pem), {
      ...{ isGenuine: true, report: REPORT, sha256: signed().sha256, key: signingKey(vault).toString('hex') },
    });
  });

  /** Every place of a value that can be changed: each field, and each field of its lines, sides and seal. */
  const places = (of: unknown, at: readonly (string | number)[] = []): (readonly (string | number)[])[] =>
    typeof of === 'object' && of !== null
      ? Object.entries(of).flatMap(([name, value]) => places(value, [...at, name]))
      : [at];
  const changed = (at: readonly (string | number)[]): object => {
    const copy = structuredClone(signed()) as Record<string | number, unknown>;
    const last = at.at(-1) ?? '';
    const inside = at.slice(0, -1).reduce((of, name) => of[name] as typeof of, copy);
    const value = inside[last];
    inside[last] = typeof value === 'number' ? value + 1 : typeof value === 'boolean' ? !value : `${String(value)}0`;
    return copy;
  };
  for (const at of places(signed()))
    test(`is refused if ${at.join('.')} was changed`, () => {
      assert.notEqual(whyNot(JSON.stringify(changed(at))), 'genuine');
    });

  test('is refused if a line was removed, added or moved, or the signature is of another report', () => {
    const one = signed({ ...REPORT, lines: [LINE, { ...LINE, key: 'L2' }] });
    const lines = one.lines as object[];
    for (const other of [
      { ...one, lines: lines.slice(1) },
      { ...one, lines: [...lines, LINE] },
      { ...one, lines: lines.toReversed() },
      { ...one, more: '1' },
      { ...one, signature: signed().signature },
      { ...one, signature: '' },
      // Decoders of Base64 pass over what does not belong to it, and the bits that are left over at the end.
      { ...one, signature: `${one.signature}!` },
      { ...one, signature: ` ${one.signature}` },
      { ...one, signature: one.signature.replace('=', '') },
    ])
      assert.notEqual(whyNot(JSON.stringify(other)), 'genuine', JSON.stringify(other).slice(0, 200));
    const { signature: _, ...without } = one;
    assert.match(whyNot(JSON.stringify(without)), /not signed/);
  });

  test('is refused with another key, which is named, also if the report brings a key of its own', () => {
    const other = openVault(randomBytes(32));
    const theirs = signingKey(other).toString('hex');
    assert.match(whyNot(JSON.stringify(signed()), pemOf(signingKey(other))), new RegExp(`another key.*${theirs}`));
    assert.match(whyNot(JSON.stringify(signed(REPORT, other))), /another key/);
    const relabelled = { ...signed(REPORT, other), publicKey: signingKey(vault).toString('hex') };
    assert.match(whyNot(JSON.stringify(relabelled)), /altered/);
  });

  test('is refused if it can be read in two ways', () => {
    const file = JSON.stringify(signed());
    for (const other of [
      // The last of two equal names counts for a program, and a person may read the first one.
      file.replace('"breaks":1', '"breaks":0,"breaks":1'),
      file.replace('{"kind"', '{"verdict":"Books and outside agree","kind"'),
      file.replace('OPEN', '\\u004fPEN'),
      file.replace('"breaks":1', '"breaks":1.0'),
      `${file} {}`,
      '[]',
      'null',
      '',
    ])
      assert.notEqual(whyNot(other), 'genuine', other.slice(0, 120));
  });

  test('is verified by the command, which says an open difference first', () => {
    const folder = freshFolder('verify-report');
    const write = (name: string, content: string | Buffer): string => {
      const path = join(folder, name);
      writeFileSync(path, content);
      return path;
    };
    const [key, report] = [write('key.pem', pem), write('report.json', JSON.stringify(signed(), null, 2))];
    const other = write('other.pem', pemOf(signingKey(openVault(randomBytes(32)))));
    const rsa = write(
      'rsa.pem',
      generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({ format: 'pem', type: 'spki' }),
    );
    const utf16 = write('utf16.json', Buffer.from(`\ufeff${JSON.stringify(signed())}`, 'utf16le'));
    const altered = write('altered.json', JSON.stringify({ ...signed(), isOpen: false }));
    const csv =
      'what,rail,wallet,asset,key,outsideUnits,ledgerUnits,differenceUnits,why,at,ageS\r\nbreak,bank.eur,main,eur,L1,5,7,-2,"booked, and not shown ""outside""; ünlisted",2026-11-27T22:00:00.000Z,7200\r\n';
    const [lines, fewer] = [write('lines.csv', csv), write('fewer.csv', csv.slice(0, 88))];
    const run = (...args: string[]) => {
      const { status, stdout, stderr } = spawnSync(process.execPath, ['server/src/apps/verify-report.ts', ...args], {
        ...{ cwd: ROOT, encoding: 'utf8', env: { PATH: process.env.PATH } },
      });
      return { status, said: `${stdout}${stderr}` };
    };
    const genuine = run(report, '--key', key, '--csv', lines);
    assert.equal(genuine.status, 0, genuine.said);
    assert.match(genuine.said, /^!! OPEN DIFFERENCES: 1 item\n\nGenuine: signed with the key [0-9a-f]{64}\n/);
    assert.match(genuine.said, /break +bank\.eur +main +eur +7 +5 +-2 +2026-11-27T22:00:00\.000Z \(2 h\) +booked/);
    assert.match(genuine.said, /7:abab/);
    assert.match(genuine.said, /The CSV has exactly these lines/);
    for (const [args, status, why] of [
      [[altered, '--key', key], 1, /^NOT GENUINE: it was altered/],
      [[report, '--key', other], 1, /^NOT GENUINE: it was signed with another key/],
      [[report, '--key', key, '--csv', fewer], 1, /NOT GENUINE: the CSV has other lines/],
      [[report], 2, /--key/],
      [[join(folder, 'none.json'), '--key', key], 2, /cannot be read/],
      [[report, '--key', report], 2, /key: must be an Ed25519 public key in PEM/],
      [[report, '--key', rsa], 2, /key: must be an Ed25519 public key in PEM/],
      [[utf16, '--key', key], 2, /utf16\.json: must be text in UTF-8/],
    ] as const) {
      const said = run(...args);
      assert.deepEqual([said.status, why.test(said.said)], [status, true], said.said);
    }
  });

  test('is verified without our code: Ed25519 over the report as compact JSON, without the three fields about it', () => {
    const verifies = (file: string): boolean => {
      const { sha256: _, publicKey: __, signature, ...report } = JSON.parse(file);
      return verify(null, Buffer.from(JSON.stringify(report)), createPublicKey(pem), Buffer.from(signature, 'base64'));
    };
    assert.equal(verifies(JSON.stringify(signed(), null, 2)), true);
    assert.equal(verifies(JSON.stringify({ ...signed(), isOpen: false })), false);
  });

  if (isLong)
    test('is verified by jq and openssl, with the commands of the page for auditors', () => {
      const page = readFileSync(join(ROOT, 'docs/operating/signed-report.md'), 'utf8');
      const script =
        /\*\*With jq and OpenSSL 3\*\* alone:\n\n```sh\n(.+?)```/s.exec(page)?.[1] ?? assert.fail('no commands');
      const folder = freshFolder('verify-openssl');
      writeFileSync(join(folder, 'seal-key.pem'), pem);
      const verifies = (report: object) => {
        writeFileSync(join(folder, 'report.json'), JSON.stringify(report, null, 2));
        const { status, stdout, stderr } = spawnSync('sh', ['-c', script], { cwd: folder, encoding: 'utf8' });
        return { status, said: `${stdout}${stderr}` };
      };
      const genuine = verifies(signed());
      assert.deepEqual(
        [genuine.status, /^Signature Verified Successfully$/m.test(genuine.said)],
        [0, true],
        genuine.said,
      );
      const altered = verifies({ ...signed(), isOpen: false });
      assert.deepEqual(
        [altered.status, /^Signature Verification Failure$/m.test(altered.said)],
        [1, true],
        altered.said,
      );
    });
});

describe('the verdict', () => {
  const now = new Date('2026-11-28T12:00:00Z');
  const wallet = (more: object = {}) => ({
    rail: 'evm.x',
    wallet: 'hot',
    asset: 'usdc',
    outside: 1n,
    at: now,
    ...more,
  });
  const EQUAL = [{ asset: 'eur', debits: '1', credits: '1' }];
  const none = { breaks: 0, transit: 0, isWhole: true };
  const late = new Date(now.getTime() - 600_001);
  const rail = (comparedAt: Date | null) => [{ rail: 'evm.x', comparedAt }];
  for (const [what, wallets, sides, counts, isOpen, verdict, rails = rail(now)] of [
    ['all agrees', [wallet()], EQUAL, none, false, /^Books and outside agree$/],
    [
      'something is in transit',
      [wallet()],
      EQUAL,
      { ...none, transit: 2 },
      false,
      /^Books and outside agree; 2 items in transit$/,
    ],
    [
      'an item differs',
      [wallet()],
      EQUAL,
      { ...none, breaks: 1, transit: 1 },
      true,
      /^OPEN DIFFERENCES: 1 item; 1 item in transit$/,
    ],
    [
      'the books do not balance',
      [wallet()],
      [{ asset: 'eur', debits: '1', credits: '2' }],
      none,
      true,
      /^BOOKS NOT BALANCED: eur$/,
    ],
    ['a wallet was not read', [wallet({ outside: null })], EQUAL, none, true, /^NOT READ OUTSIDE: evm\.x hot usdc$/],
    [
      'a wallet was not compared for long',
      [wallet({ at: late })],
      EQUAL,
      none,
      true,
      /^NOT COMPARED IN TEN MINUTES: evm\.x hot usdc$/,
    ],
    [
      'a rail has not answered for long',
      [wallet({ at: late })],
      EQUAL,
      none,
      true,
      /^NOT COMPARED IN TEN MINUTES: evm\.x$/,
      rail(late),
    ],
    [
      'a rail was never compared, beside one that was',
      [wallet({ rail: 'bank.eur' })],
      EQUAL,
      none,
      true,
      /^NOT COMPARED IN TEN MINUTES: evm\.x$/,
      rail(null),
    ],
    ['there is more than it shows', [wallet()], EQUAL, { ...none, isWhole: false }, true, /^NOT WHOLE/],
    ['nothing was compared', [], [], none, true, /^NOTHING WAS COMPARED$/],
  ] as const)
    test(`says it if ${what}`, () => {
      const said = verdictOf({ wallets: [...wallets], rails }, [...sides], counts, now);
      assert.match(said.verdict, verdict);
      assert.equal(said.isOpen, isOpen);
    });
});

describe('the report of a day', () => {
  let fixture: Fixture;
  before(async () => {
    fixture = await freshFixture();
    await query(`insert into assets (code, kind, coin, decimals) values ('eur', 'fiat', 'eur', 2)`);
  });
  after(async () => await fixture?.stop());
  const at = (time: string) => new Date(time);
  const query = (text: string) => fixture.db.asSystem((tx) => tx.run(text));

  test('is made once when the day has ended, and stays as it was', async () => {
    const key = openVault(randomBytes(32));
    await query(
      `insert into reconcile_balances (rail, wallet, asset, outside_units, ledger_units, transit_units, position, compared_at)
       values ('bank.eur', 'main', 'eur', 5, 7, 0, '', '2026-11-27T23:59:00Z')`,
    );
    await query(
      `insert into reconcile_items (rail, wallet, asset, key, kind, outside_units, ledger_units, why, names, found_at)
       values ('bank.eur', 'main', 'eur', 'L1', 'break_amount', 5, 7, 'another amount', '{}', '2026-11-27T22:00:00Z')`,
    );
    const first = '2026-11-28T00:00:05Z';
    const both = await Promise.all([1, 2].map(() => fixture.db.asSystem((tx) => keepDailyReport(tx, key, at(first)))));
    assert.deepEqual(both.toSorted(), ['2026-11-27', undefined], 'two processes made it');
    assert.equal(await fixture.db.asSystem((tx) => keepDailyReport(tx, key, at('2026-11-28T23:59:59Z'))), undefined);
    await query(`update reconcile_items set closed_at = now()`);
    const kept = await fixture.db.asSystem((tx) => reconciliationOfDay(tx, '2026-11-27'));
    assert.ok(kept);
    assert.deepEqual(
      [kept.day, kept.at, kept.breaks, kept.isOpen],
      ['2026-11-27', '2026-11-28T00:00:05.000Z', 1, true],
    );
    assert.match(kept.verdict, /^OPEN DIFFERENCES: 1 item/);
    const [, item] = kept.lines;
    assert.deepEqual([item?.what, item?.why, item?.ageS], ['break', 'another amount', 7_205]);
    assert.equal(whyNot(JSON.stringify(kept), pemOf(signingKey(key))), 'genuine');
    const now = await fixture.db.asSystem((tx) => reconciliationReport(tx, key, at('2026-11-28T00:00:06Z')));
    assert.deepEqual([now.day, now.breaks, now.isOpen], [null, 0, false], now.verdict);
    assert.equal(whyNot(JSON.stringify(now), pemOf(signingKey(key))), 'genuine');
  });

  test('has wallets and items of one moment, also while a comparison ends', async () => {
    const key = openVault(randomBytes(32));
    const sets = async (outside: number, closedAt: string) => {
      await query(`update reconcile_balances set outside_units = ${outside}`);
      await query(`update reconcile_items set closed_at = ${closedAt}`);
    };
    await sets(5, 'null');
    const report = await fixture.db.asSystem(async (tx) => {
      // Another process ends the break when the wallets have been read.
      const rows = async <R>(text: string, values?: readonly unknown[]): Promise<R[]> => {
        const found = await tx.rows<R>(text, values);
        if (text.includes('from reconcile_balances')) await sets(7, 'now()');
        return found;
      };
      return await reconciliationReport({ ...tx, rows }, key, at('2026-11-28T00:00:06Z'));
    });
    assert.deepEqual([report.lines[0]?.differenceUnits, report.verdict], ['-0.02', 'OPEN DIFFERENCES: 1 item']);
  });

  test('names a rail that was never compared', async () => {
    await query(`insert into reconcile_rails (rail, failed_why) values ('evm.silent', 'it does not answer')`);
    const key = openVault(randomBytes(32));
    const report = await fixture.db.asSystem((tx) => reconciliationReport(tx, key, at('2026-11-28T00:00:06Z')));
    await query(`update reconcile_rails set compared_at = '2026-11-28T00:00:00Z'`);
    assert.deepEqual([report.verdict, report.isOpen], ['NOT COMPARED IN TEN MINUTES: evm.silent', true]);
  });

  test('is made within seconds of midnight, and looked for in between', async () => {
    const next = async (time: string) => {
      const { db } = fixture;
      const run = reportHandlers({ db, vault, clock: { now: () => at(time) } })[SIGN_REPORT];
      return (await run?.('all', {} as never))?.againInMs;
    };
    assert.equal(await next('2025-01-01T12:00:00Z'), 300_000);
    assert.equal(await next('2025-01-01T23:58:00Z'), 120_000);
  });

  test('is verified by the key of then, after an exchange of the master key too', async () => {
    const [old, next] = [openVault(randomBytes(32)), openVault(randomBytes(32))];
    await fixture.db.asSystem((tx) => keepDailyReport(tx, old, at('2026-12-03T00:00:05Z')));
    await fixture.db.asSystem((tx) => keepDailyReport(tx, next, at('2026-12-04T00:00:05Z')));
    const keys = await fixture.db.asSystem((tx) => reportKeys(tx, next));
    const [present, before] = keys;
    assert.deepEqual(
      [present?.isPresent, present?.fromDay, before?.isPresent, before?.untilDay],
      [true, '2026-12-03', false, '2026-12-02'],
    );
    const kept = JSON.stringify(await fixture.db.asSystem((tx) => reconciliationOfDay(tx, '2026-12-02')));
    assert.equal(whyNot(kept, before?.pem), 'genuine');
    assert.match(whyNot(kept, present?.pem), /another key/);
    const days = await fixture.db.asSystem((tx) => reconciliationDays(tx, { below: '2026-12-03', limit: 1 }));
    assert.deepEqual(
      days.map(({ day }) => day),
      ['2026-12-02'],
    );
  });

  test('is not changed in the database', async () => {
    for (const text of [`update reconciliation_reports set verdict = 'fine'`, 'delete from reconciliation_reports'])
      await assert.rejects(query(text));
  });
});

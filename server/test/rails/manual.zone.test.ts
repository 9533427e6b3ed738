/** Days of a manual bank are days at the bank: when a credit came, how far a statement reaches, and how old it is. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { type ManualEnvironment, manualEnvironment } from '../support/manual.environment.ts';
import { camt, germanCsv, SETTINGS } from '../support/statements.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

/** An environment with one account, whose clock shows 20:00 UTC on a 16 January: no zone of these tests changes its clocks then. */
async function environmentIn(
  timeZone: string | undefined,
  body: (w: ManualEnvironment, year: number) => Promise<void>,
) {
  const w = await manualEnvironment({ accounts: [{ ...SETTINGS.accounts[0], timeZone }] });
  try {
    const year = new Date(w.clock.now()).getUTCFullYear() + 1;
    w.clock.advance(Date.UTC(year, 0, 16, 20) - w.clock.now().getTime());
    await body(w, year);
  } finally {
    await w.stop();
  }
}
const credits = (w: ManualEnvironment) =>
  w.of('deposit_confirmed').map(({ units, at, withinMs }) => [units, at?.toISOString(), withinMs]);
const readTo = async (w: ManualEnvironment) =>
  (await w.db.asSystem(async (tx) => await w.rail.readTo?.(tx, 'eur')))?.toISOString();

describe('a statement of 16 January at 20:00 UTC', () => {
  it('of a bank in India is of a day that is over there', async () =>
    await environmentIn('Asia/Kolkata', async (w, year) => {
      await w.takes(camt({ from: `${year}-01-16`, entries: [{ units: 700n, ref: 'R1' }] }));
      assert.deepEqual(credits(w), [[700n, `${year}-01-15T18:30:00.000Z`, DAY_MS]]);
      assert.equal(await readTo(w), `${year}-01-16T18:30:00.000Z`);
      const { healthy, ageMs = null } = await w.rail.health();
      assert.ok(healthy && ageMs !== null && ageMs >= 1.5 * HOUR_MS && ageMs < 1.6 * HOUR_MS, `${ageMs} ms old`);
    }));

  it('of a bank in New York is of a day that is over only at 05:00 UTC', async () =>
    await environmentIn('America/New_York', async (w, year) => {
      const from = `${year}-01-16`;
      await w.takes(camt({ id: 'A', from, entries: [{ units: 700n, ref: 'R1' }] }));
      assert.deepEqual(credits(w), [[700n, `${from}T05:00:00.000Z`, DAY_MS]]);
      assert.equal(await readTo(w), `${from}T05:00:00.000Z`);
      // In UTC it is the 17th, and at the bank 22:00 on the 16th.
      w.clock.advance(7 * HOUR_MS);
      await w.takes(camt({ id: 'B', from, opening: 700n, entries: [{ units: 1n, ref: 'R2' }] }));
      assert.equal(await readTo(w), `${from}T05:00:00.000Z`, 'the last hours of the day counted as read');
      assert.equal((await w.rail.health()).ageMs, 0);
      w.clock.advance(2.5 * HOUR_MS);
      await w.takes(camt({ id: 'C', from, opening: 701n, entries: [{ units: 1n, ref: 'R3' }] }));
      assert.equal(await readTo(w), `${year}-01-17T05:00:00.000Z`);
    }));

  it('of a bank without a time zone in its settings is of a day in UTC', async () =>
    await environmentIn(undefined, async (w, year) => {
      await w.takes(camt({ from: `${year}-01-15`, entries: [{ units: 700n, ref: 'R1' }] }));
      assert.deepEqual(credits(w), [[700n, `${year}-01-15T00:00:00.000Z`, DAY_MS]]);
      assert.equal(await readTo(w), `${year}-01-16T00:00:00.000Z`);
    }));

  it('in CSV has days at the bank, too', async () =>
    await environmentIn('Asia/Kolkata', async (w, year) => {
      await w.takes(germanCsv([{ units: 700n, on: `${year}-01-16` }]));
      assert.deepEqual(credits(w), [[700n, `${year}-01-15T18:30:00.000Z`, DAY_MS]]);
      assert.equal(await readTo(w), `${year}-01-16T18:30:00.000Z`);
    }));
});

describe('a credit', () => {
  it('of a day on which clocks change came within 23 or 25 hours', async () => {
    for (const [day, start, hours] of [
      ['2026-03-08', '2026-03-08T05:00:00.000Z', 23],
      ['2026-11-01', '2026-11-01T04:00:00.000Z', 25],
    ] as const)
      await environmentIn('America/New_York', async (w) => {
        await w.takes(camt({ from: day, entries: [{ units: 700n, ref: 'R1' }] }));
        assert.deepEqual(credits(w), [[700n, start, hours * HOUR_MS]]);
      });
  });

  it('with a booking time came at that instant', async () =>
    await environmentIn('America/New_York', async (w, year) => {
      const entries = [
        { units: 1n, ref: 'R1', at: `${year}-01-15T23:30:00-05:00` },
        { units: 2n, ref: 'R2', at: `${year}-01-15T23:30:00` },
        { units: 3n, ref: 'R3', at: `${year}-01-15T10:00:00Z` },
        // Midnight is how banks write a day that has no time, whatever the offset.
        { units: 4n, ref: 'R4', at: `${year}-01-15T00:00:00` },
        { units: 5n, ref: 'R5', at: `${year}-01-15T00:00:00.000+00:00` },
        { units: 6n, ref: 'R6', at: `${year}-01-15T25:00:00` },
      ];
      await w.takes(camt({ from: `${year}-01-15`, entries }));
      assert.deepEqual(credits(w), [
        [1n, `${year}-01-16T04:30:00.000Z`, undefined],
        [2n, `${year}-01-16T04:30:00.000Z`, undefined],
        [3n, `${year}-01-15T10:00:00.000Z`, undefined],
        ...[4n, 5n, 6n].map((units) => [units, `${year}-01-15T05:00:00.000Z`, DAY_MS]),
      ]);
    }));

  it('with a booking time that clocks showed twice came within an hour', async () =>
    await environmentIn('America/New_York', async (w) => {
      const entries = [{ units: 1n, ref: 'R1', at: '2026-11-01T01:30:00' }];
      await w.takes(camt({ from: '2026-11-01', entries }));
      assert.deepEqual(credits(w), [[1n, '2026-11-01T05:30:00.000Z', HOUR_MS]]);
    }));

  it('is the same line with a time and without, and whatever the time zone', async () => {
    for (const timeZone of ['UTC', 'America/New_York'])
      await environmentIn(timeZone, async (w, year) => {
        const entry = { units: 1n, ref: 'R1', on: `${year}-01-15` };
        await w.takes(camt({ id: 'A', from: `${year}-01-15`, entries: [entry] }));
        const withTime = { ...entry, at: `${year}-01-15T23:30:00-05:00` };
        await w.takes(camt({ id: 'B', from: `${year}-01-15`, entries: [withTime] }));
        assert.equal(credits(w).length, 1);
      });
  });
});

describe('a statement that names the time of its end', () => {
  /** How far a statement reaches that is taken in on 16 January and says when it ends. */
  const reaches = async (timeZone: string, period: (year: number) => readonly [string, string]) => {
    let to = '';
    await environmentIn(timeZone, async (w, year) => {
      await w.takes(camt({ from: `${year}-01-14`, period: period(year), entries: [{ units: 1n, ref: 'R1' }] }));
      to = (await readTo(w))?.replace(`${year}-`, '') ?? 'nowhere';
    });
    return to;
  };

  it('before the end of its last day is not complete for that day, although the day is over', async () => {
    const morning = (end: string) => (year: number) => [`${year}-01-14T00:00:00`, `${year}-01-14T${end}`] as const;
    for (const end of ['12:00:00', '12:00:00Z', '23:00:00'])
      assert.equal(await reaches('America/New_York', morning(end)), '01-14T05:00:00.000Z', end);
    assert.equal(await reaches('UTC', morning('12:00:00+05:30')), '01-14T00:00:00.000Z');
  });

  it('in UTC is complete for the day of the bank that ends then', async () =>
    assert.equal(
      await reaches('America/New_York', (year) => [`${year}-01-14T05:00:00Z`, `${year}-01-15T04:59:59Z`]),
      '01-15T05:00:00.000Z',
    ));

  it('is complete for the whole day if it ends with the day, or names no time of it', async () => {
    const ends = (end: string) => (year: number) => [`${year}-01-14T00:00:00`, `${year}-01-14T${end}`] as const;
    for (const end of ['23:59:59', '23:59:00', '24:00:00', '00:00:00'])
      assert.equal(await reaches('America/New_York', ends(end)), '01-15T05:00:00.000Z', end);
    assert.equal(
      await reaches('America/New_York', (year) => [`${year}-01-14T00:00:00`, `${year}-01-15T00:00:00`]),
      '01-15T05:00:00.000Z',
    );
  });

  it('by its closing balance is complete up to the time of the balance', async () =>
    await environmentIn('America/New_York', async (w, year) => {
      const day = `${year}-01-14`;
      const file = camt({ from: day, entries: [{ units: 1n, ref: 'R1' }] });
      await w.takes(file.replaceAll(`<Dt><Dt>${day}</Dt></Dt>`, `<Dt><DtTm>${day}T18:00:00</DtTm></Dt>`));
      assert.equal(await readTo(w), `${day}T05:00:00.000Z`);
    }));

  it('and comes again at the end of the day is complete for the day', async () =>
    await environmentIn('America/New_York', async (w, year) => {
      const day = `${year}-01-14`;
      const first = { units: 1n, ref: 'R1' };
      await w.takes(camt({ id: 'A', from: day, period: [`${day}T00:00:00`, `${day}T12:00:00`], entries: [first] }));
      const second = { units: 2n, ref: 'R2' };
      await w.takes(
        camt({ id: 'B', from: day, period: [`${day}T00:00:00`, `${day}T23:59:59`], entries: [first, second] }),
      );
      assert.equal(await readTo(w), `${year}-01-15T05:00:00.000Z`);
    }));
});

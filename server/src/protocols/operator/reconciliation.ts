/**
 * The reconciliation report: books and outside by wallet, every item that differs, both sides of the books, and the newest seal
 * of the journal. A hash over all of it ties the sums to that seal: with a copy of the report anyone can show later that
 * neither was changed.
 *
 * Amounts and times are formatted here as in the reply, because the hash covers exactly that text.
 */
import { createHash } from 'node:crypto';
import { formatUnits } from '../../base/money.ts';
import { newestSeal, sealLag, trialBalance } from '../../ledger/index.ts';
import { assets } from '../../partners/index.ts';
import { REPORTS_OF } from './declared/reports.ts';
import { type Read, read } from './read.ts';

interface Item {
  rail: string;
  wallet: string;
  asset: string;
  key: string;
  outsideUnits: bigint;
  ledgerUnits: bigint;
  transit: string | null;
  why: string;
  foundAt: Date;
}

/** Maximum items of the list; if there are more, the report says that it is incomplete. */
const MOST_ITEMS = 200;

export const RECONCILIATION_READ: Read = read({
  ...REPORTS_OF.reconciliation,
  async answer({ clock, treasury, corrections }, tx) {
    const known = await assets(tx);
    const amount = (units: bigint, asset: string) => formatUnits(units, known.get(asset)?.decimals ?? 0);
    const items = (await corrections.list(tx, undefined)) as Item[];
    const wallets = (await treasury.balances(tx)).map((one) => ({
      ...{ what: 'wallet', rail: one.rail, wallet: one.wallet, asset: one.asset, key: null },
      ...{ outside: one.outsideUnits, ledger: one.ledgerUnits, why: null, at: one.comparedAt },
    }));
    const differing = items.map((one) => ({
      ...{ what: one.transit === null ? 'break' : 'transit', rail: one.rail, wallet: one.wallet, asset: one.asset },
      ...{ key: one.key, outside: one.outsideUnits, ledger: one.ledgerUnits },
      ...{ why: one.transit ?? one.why, at: one.foundAt },
    }));
    const seal = await newestSeal(tx);
    const report = {
      at: clock.now().toISOString(),
      seal: seal ? { number: String(seal.number), hash: seal.hash, at: seal.sealedAt.toISOString() } : null,
      unsealed: String(await sealLag(tx)),
      breaks: items.filter(({ transit }) => transit === null).length,
      transit: items.filter(({ transit }) => transit !== null).length,
      isWhole: items.length < MOST_ITEMS,
      assets: (await trialBalance(tx)).map(({ asset, debits, credits }) => ({
        ...{ asset, debits: amount(debits, asset), credits: amount(credits, asset) },
      })),
      lines: [...wallets, ...differing].map(({ outside, ledger, at, ...one }) => ({
        ...{ what: one.what, rail: one.rail, wallet: one.wallet, asset: one.asset, key: one.key },
        outsideUnits: outside === null ? null : amount(outside, one.asset),
        ledgerUnits: amount(ledger, one.asset),
        differenceUnits: outside === null ? null : amount(outside - ledger, one.asset),
        ...{ why: one.why, at: at.toISOString() },
      })),
    };
    return { ...report, sha256: createHash('sha256').update(JSON.stringify(report)).digest('hex') };
  },
});

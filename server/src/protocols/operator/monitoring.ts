/** Transaction monitoring: setting rules, testing them on history, and reading their findings. */
import type { Tx } from '../../base/db.ts';
import { Refusal } from '../../base/errors.ts';
import { formatUnits, parseUnits } from '../../base/money.ts';
import {
  type Kind,
  monitoringFindings,
  monitoringRule,
  monitoringRules,
  type RuleRow,
  type RuleText,
  requireRule,
  ruleVersions,
  setRule,
  tryRule,
} from '../../monitoring/index.ts';
import { assets } from '../../partners/index.ts';
import { type Action, action } from './action.ts';
import { MONITORING } from './declared/monitoring.ts';
import { type Read, read, requireSpan } from './read.ts';

interface Given {
  kind: Kind;
  fiat?: string | undefined;
  worth?: string | undefined;
  count?: number | undefined;
  days?: number | undefined;
  withinBps?: number | undefined;
}

/** @throws Refusal 'malformed_field' | 'malformed_amount' */
async function ruleOf(tx: Tx, { kind, fiat, worth, count, days, withinBps }: Given): Promise<RuleText> {
  const wrong = (name: string, rule: string) => new Refusal('malformed_field', { fields: { [name]: rule } });
  const asset = fiat === undefined ? undefined : (await assets(tx)).get(fiat);
  if (fiat !== undefined && asset?.kind !== 'fiat') throw wrong('fiat', 'must be the code of a fiat');
  if (worth !== undefined && asset === undefined) throw wrong('worth', 'needs a fiat');
  const worthUnits = worth === undefined ? null : parseUnits(worth, asset?.decimals ?? 0);
  if (worthUnits === 0n) throw wrong('worth', 'must be above zero');
  const rule = {
    ...{ kind, fiat: fiat ?? null, worthUnits },
    ...{ count: count ?? null, days: days ?? null, withinBps: withinBps ?? null },
  };
  requireRule(rule);
  return rule;
}

async function shownIn(tx: Tx): Promise<(row: RuleRow) => Readonly<Record<string, unknown>>> {
  const known = await assets(tx);
  return ({ fiatAsset: fiat, worthUnits, setBy: by, setAt: at, ...row }) => ({
    ...{ ...row, fiat, by, at },
    worth: worthUnits === null ? null : formatUnits(worthUnits, known.get(fiat ?? '')?.decimals ?? 0),
  });
}

export const MONITORING_ACTIONS: readonly Action[] = [
  action({
    ...MONITORING.set,
    subject: ({ name }) => `monitoring:${name}`,
    async look(_deps, tx, input) {
      // An invalid rule is refused before a proposal is made.
      await ruleOf(tx, input);
      const row = await monitoringRule(tx, input.name);
      return row === undefined ? null : (await shownIn(tx))(row);
    },
    needs: async () => 'rule' as const,
    async perform(_deps, tx, input, { people, reason, now }) {
      const { name, isOn = true } = input;
      await setRule(tx, { name, isOn, rule: await ruleOf(tx, input), by: people.join(', '), why: reason, now });
    },
  }),
];

export const MONITORING_READS: readonly Read[] = [
  read({
    ...MONITORING.rules,
    answer: async (_deps, tx) => ({ rules: (await monitoringRules(tx)).map(await shownIn(tx)) }),
  }),
  read({
    ...MONITORING.versions,
    async answer(_deps, tx, { name, below, limit: most = 50 }) {
      const found = await ruleVersions(tx, { name, below, limit: most + 1 });
      const versions = found.slice(0, most).map(await shownIn(tx));
      return { versions, next: found.length > most ? versions.at(-1)?.id : null };
    },
  }),
  read({
    ...MONITORING.attempt,
    async answer({ vault }, tx, { from, until, after, ...given }) {
      requireSpan({ from, until });
      const { looked, found, next } = await tryRule(tx, vault, { rule: await ruleOf(tx, given), from, until, after });
      return {
        found: found.map(({ customerId: customer, createdAt: at, ...one }) => ({ ...one, customer, at })),
        ...{ looked, next: next?.from ?? null, after: next?.after ?? null },
      };
    },
  }),
  read({
    ...MONITORING.findings,
    async answer(_deps, tx, { customer: customerId, rule, below, limit: most = 50 }) {
      const found = await monitoringFindings(tx, { customerId, rule, below, limit: most + 1 });
      const findings = found
        .slice(0, most)
        .map(({ customerId: customer, foundAt: at, ...one }) => ({ ...one, customer, at }));
      return { findings, next: found.length > most ? findings.at(-1)?.id : null };
    },
  }),
];

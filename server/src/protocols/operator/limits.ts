/** Limits of customers: setting them, and reading them with their usage. */
import type { Tx } from '../../base/db.ts';
import { Refusal } from '../../base/errors.ts';
import { formatUnits, parseUnits } from '../../base/money.ts';
import { findCustomer } from '../../customers/index.ts';
import { limitsOfCustomer } from '../../orders/index.ts';
import {
  allCustomerLimits,
  assets,
  customerLimitRow,
  customerLimitVersions,
  type LimitScope,
  setCustomerLimit,
} from '../../partners/index.ts';
import type { Values } from '../declaration/fields.ts';
import { type Action, plannable } from './action.ts';
import { marketOf } from './actions/terms.ts';
import { CUSTOMER_LIMITS } from './declared/limits.ts';
import { type Read, read } from './read.ts';

type Row = NonNullable<Awaited<ReturnType<typeof customerLimitRow>>>;

const scopeShown = ({ fiatAsset: fiat, period: per, direction, marketId: market, level }: LimitScope) => ({
  ...{ fiat, per, direction, market, level },
});

async function shownIn(tx: Tx): Promise<(row: Row) => Readonly<Record<string, unknown>>> {
  const known = await assets(tx);
  return ({ id, maxUnits, version, setBy: by, why, setAt: at, ...scope }) => ({
    ...{ id, ...scopeShown(scope) },
    max: maxUnits === null ? null : formatUnits(maxUnits, known.get(scope.fiatAsset)?.decimals ?? 0),
    ...{ version, by, why, at },
  });
}

type Setting = Values<(typeof CUSTOMER_LIMITS.set)['fields']>;

/** @throws Refusal 'malformed_field' | 'unknown_market' */
async function scopeOf(tx: Tx, input: Setting): Promise<{ scope: LimitScope; decimals: number }> {
  const fiat = (await assets(tx)).get(input.fiat);
  const wrong = (name: string, rule: string) => new Refusal('malformed_field', { fields: { [name]: rule } });
  if (fiat?.kind !== 'fiat') throw wrong('fiat', 'must be the code of a fiat');
  if (input.market !== undefined) {
    if (input.direction !== undefined)
      throw wrong('direction', 'must be left out with a market, because a market has one direction');
    if ((await marketOf(tx, input.market)).fiat.code !== fiat.code)
      throw wrong('market', 'must be a market of the fiat');
  }
  const scope = {
    fiatAsset: fiat.code,
    direction: input.direction ?? null,
    marketId: input.market ?? null,
    level: input.level,
    period: input.per,
  };
  return { scope, decimals: fiat.decimals };
}

/** @throws Refusal as `scopeOf`, or 'malformed_amount' */
async function mostOf(tx: Tx, input: Setting): Promise<{ scope: LimitScope; maxUnits: bigint | null }> {
  const { scope, decimals } = await scopeOf(tx, input);
  return { scope, maxUnits: input.max === 'none' ? null : parseUnits(input.max, decimals) };
}

export const LIMIT_ACTIONS: readonly Action[] = [
  plannable({
    ...CUSTOMER_LIMITS.set,
    subject: ({ fiat }) => `asset:${fiat}`,
    async look(tx, input) {
      const row = await customerLimitRow(tx, (await scopeOf(tx, input)).scope);
      return row === undefined ? null : (await shownIn(tx))(row);
    },
    async check(tx, input) {
      await mostOf(tx, input);
    },
    async perform(tx, input, { operator, reason, now }) {
      const { scope, maxUnits } = await mostOf(tx, input);
      await setCustomerLimit(tx, { ...scope, maxUnits, now }, { by: operator.name, why: reason });
    },
  }),
];

export const LIMIT_READS: readonly Read[] = [
  read({
    ...CUSTOMER_LIMITS.list,
    answer: async (_deps, tx) => ({ limits: (await allCustomerLimits(tx)).map(await shownIn(tx)) }),
  }),
  read({
    ...CUSTOMER_LIMITS.versions,
    async answer(_deps, tx, { fiat, below, limit: most = 50 }) {
      const found = await customerLimitVersions(tx, { fiat, below, limit: most + 1 });
      const versions = found.slice(0, most).map(await shownIn(tx));
      return { versions, next: found.length > most ? versions.at(-1)?.id : null };
    },
  }),
  read({
    ...CUSTOMER_LIMITS.used,
    async answer({ clock }, tx, input) {
      const customer = await findCustomer(tx, input.customer);
      const known = await assets(tx);
      const uses = await limitsOfCustomer(tx, { customer, now: clock.now() });
      const limits = uses.map(({ limit, usedUnits, leftUnits, freesAt, resetsAt }) => {
        const amount = (units: bigint) => formatUnits(units, known.get(limit.fiatAsset)?.decimals ?? 0);
        return {
          ...scopeShown(limit),
          ...{ max: amount(limit.maxUnits), used: amount(usedUnits), left: amount(leftUnits), freesAt, resetsAt },
        };
      });
      return { customer: customer.id, ofLevel: customer.level, limits };
    },
  }),
];

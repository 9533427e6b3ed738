/**
 * The actions that have no form of their own, by the place where they are offered. Their forms are generated from the server's
 * declarations (declared.json: `UPDATE_DOCS=1 npm test -- server/test/console/reachable.test.ts`); a test shows that every declared action has a place.
 */
import type { FormAction } from './actions.ts';

/** Names and labels. A place is a subject with a page or a row, or a page. */
export const OTHER = {
  deposit: {
    'deposit.return': 'Send back to the payer',
    'deposit.return-link': 'Make a link to return it',
    'deposit.payer': 'Look at the payer',
    'deposit.wake': 'No longer dormant',
  },
  order: { 'order.wake': 'No longer dormant' },
  case: { 'case.payer': 'Look at the payer' },
  debit: { 'debit.foreign': 'Not ours' },
  rail: { 'rail.clear': 'Resume a halted chain' },
  market: {
    'orders.cancel-unpaid': 'Cancel unpaid orders',
    'orders.requote-unpaid': 'Reprice unpaid orders',
    'orders.compensate': 'Compensate settled orders',
  },
  prices: { 'price.confirm-pair': 'Confirm a level of a pair' },
  key: { 'key.writes': 'Signed writes' },
  payout: { 'bank.take_off': 'Take off' },
  desk: { 'bank.confirm-restore': 'Confirm the bank after a restore' },
  funds: {
    'shortage.pass': 'Let smaller orders pass',
    'shortage.queue': 'Pay in turn again',
  },
  unclaimed: {
    'dust.write-off': 'Write off dust',
    'dust.set': 'Set what is dust',
    'dormancy.set': 'Set when money is dormant',
  },
  screening: {
    'screening.extend': 'Let older results count',
    'screening.replay': 'Repeat a decision',
  },
  list: { 'sanctions.accept': 'Accept' },
  monitoring: { 'monitoring.set': 'Set a rule' },
  self: { 'self.token': 'Make a token', 'self.revoke-token': 'Revoke a token' },
} as const satisfies Readonly<Record<string, Readonly<Record<string, string>>>>;
export type OtherPlace = keyof typeof OTHER;

/** A form of declared.json: its label is that of the place. */
export type DeclaredForm = Omit<FormAction, 'label'>;

/**
 * @param known fields that the page fills in: the form does not ask for them
 * @param forms those of declared.json
 */
export const othersOf = (
  place: OtherPlace,
  known: Readonly<Record<string, string>>,
  forms: readonly DeclaredForm[],
): readonly FormAction[] =>
  Object.entries(OTHER[place]).flatMap(([name, label]) => {
    const form = forms.find((one) => one.name === name);
    return form === undefined
      ? []
      : [{ ...form, label, fields: form.fields?.filter((one) => !(one.name in known)) ?? [] }];
  });

/** The place of a case's subject, and what it says of the fields: by its form, or by the kind of case. */
export function placeOfCase(
  kind: string,
  subject: string,
): { place: OtherPlace; known: Record<string, string> } | undefined {
  const [, of, id = ''] = /^(deposit|order|market):([0-9]+)$/.exec(subject) ?? [];
  if (of !== undefined) return { place: of as 'deposit' | 'order' | 'market', known: { [of]: id } };
  if (kind === 'rail_halted') return { place: 'rail', known: { rail: subject } };
  if (kind === 'unexplained_debit') return { place: 'debit', known: { debit: subject } };
  if (kind === 'screening_unavailable') return { place: 'screening', known: {} };
  const [, rail, asset] = /^([a-z]+\.[a-z0-9]+):([a-z0-9.]+)$/.exec(subject) ?? [];
  if (kind === 'treasury_short' && rail !== undefined && asset !== undefined)
    return { place: 'funds', known: { rail, asset } };
  return undefined;
}

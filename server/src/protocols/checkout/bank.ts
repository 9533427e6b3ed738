/**
 * The page for adding a bank account: first the currency, unless the partner has chosen it, then the fields its banks use.
 *
 * Adding an existing account again changes nothing, so a form sent twice adds one account.
 */
import { defined } from '../../base/defined.ts';
import {
  accountDetails,
  accountShapeOf,
  addFiatAccount,
  compareAccount,
  type FiatAccount,
  fiatAccounts,
  noteApiAccount,
  noteConfirmedAccount,
  phoneCountsFrom,
} from '../../customers/index.ts';
import { type Asset, markets, recordActivity } from '../../partners/index.ts';
import { type Field, type Problems, readForm } from './form.ts';
import { html } from './html.ts';
import type { Messages } from './messages.ts';
import { button, fields, paragraph } from './pages.ts';
import { addressBack, formOf, type Outcome, show, type Visit, wayBack } from './visit.ts';

/** The page for a customer who is logged in. */
export async function bank(visit: Visit): Promise<Outcome> {
  const { look, query } = visit;
  const { m } = look;
  if (visit.customer.blocked) return show(visit, { title: m.refused.title, body: paragraph(m.refused.text) });
  const sent = visit.form;
  if (sent?.get('intent') === 'account') return await addAccount(visit, sent);
  // A login form sent again by a customer who is already logged in.
  if (sent !== undefined) return { goTo: visit.action };

  const added = await addedAccount(visit, query.get('added'));
  if (added !== undefined) return addedPage(visit, added);
  const offered = await currencies(visit);
  const named = query.get('currency');
  const chosen = offered.length === 1 ? offered[0] : offered.find(({ code }) => code === named);
  if (chosen !== undefined) return accountPage(visit, { fiat: chosen, isOnly: offered.length === 1 }, {});
  return currencyPage(visit, offered, new URLSearchParams(named === null ? '' : { currency: named }));
}

/** The currencies of our payouts, on any market; only the one the partner has chosen, if any. */
async function currencies({ inTx, link }: Visit): Promise<Asset[]> {
  const all = [...new Map((await inTx(markets)).map(({ fiat }) => [fiat.code, fiat])).values()];
  const named = all.filter(({ code }) => code === link.fiat);
  return named.length > 0 ? named : all;
}

const shown = (fiat: string): string => fiat.toUpperCase();

function currencyPage(visit: Visit, offered: readonly Asset[], given: URLSearchParams): Outcome {
  const { look } = visit;
  const { m } = look;
  const { title } = m.bank;
  if (offered.length === 0) return show(visit, { title, body: paragraph(m.bank.none), status: 503 });
  const field: Field = {
    name: 'currency',
    label: m.bank.currency,
    required: true,
    kind: new Map(offered.map(({ code }) => [code, shown(code)])),
    read: () => undefined,
  };
  const problems = given.has('currency')
    ? new Map([['currency', m.problems.missingChoice(m.bank.currency)]])
    : new Map<string, string>();
  const body = html`${paragraph(m.bank.currencyIntro)}
<form method="get" action="${visit.action}" novalidate>
${fields(look, [field], given, problems)}
${button(m.bank.goOn)}
</form>`;
  return show(visit, { title, body, problems });
}

/** The fields of an account in this currency. */
export function accountFields(m: Messages, fiat: Asset): Field[] {
  return accountShapeOf(fiat.code).map(([name, form]) => ({
    name,
    label: m.bank.fields[name],
    required: true,
    hint: m.bank.hints[name],
    autocomplete: 'off',
    mostChars: 64,
    read(given) {
      const read = form(given);
      return 'value' in read ? read.value : undefined;
    },
  }));
}

function accountPage(
  visit: Visit,
  { fiat, isOnly }: { fiat: Asset; isOnly: boolean },
  { given = new URLSearchParams(), problems = new Map() }: { given?: URLSearchParams; problems?: Problems },
): Outcome {
  const { look, action } = visit;
  const { m } = look;
  const body = html`${paragraph(m.bank.intro(shown(fiat.code)))}
${formOf(visit, {
  intent: 'account',
  body: html`<input type="hidden" name="currency" value="${fiat.code}">${fields(look, accountFields(m, fiat), given, problems)}`,
  button: button(m.bank.add),
})}
${!isOnly && html`<p><a href="${action}">${m.bank.other}</a></p>`}`;
  return show(visit, { title: m.bank.title, body, problems });
}

async function addAccount(visit: Visit, sent: URLSearchParams): Promise<Outcome> {
  const offered = await currencies(visit);
  const fiat = offered.find(({ code }) => code === sent.get('currency'));
  const [only, ...others] = offered;
  // With only one currency there is no choice, so its form is shown again.
  if (fiat === undefined && only !== undefined && others.length === 0)
    return accountPage(visit, { fiat: only, isOnly: true }, {});
  if (fiat === undefined) return currencyPage(visit, offered, new URLSearchParams({ currency: '' }));
  const kept = await keepAccount(visit, fiat, sent);
  if ('problems' in kept)
    return accountPage(visit, { fiat, isOnly: offered.length === 1 }, { given: sent, problems: kept.problems });
  return { goTo: `${visit.action}?added=${kept.account.id}` };
}

/** Adds the account in a form, or returns the faults of its fields. */
export async function keepAccount(
  { deps, look, customer, now, through, inTx }: Pick<Visit, 'deps' | 'look' | 'customer' | 'now' | 'through' | 'inTx'>,
  fiat: Asset,
  sent: URLSearchParams,
): Promise<{ account: FiatAccount } | { problems: Problems }> {
  const { values, problems } = readForm(accountFields(look.m, fiat), sent, look.m);
  if (problems.size > 0) return { problems };
  const details = accountDetails(values);
  const account = await inTx(async (tx) => {
    const added = await addFiatAccount(tx, deps.vault, { customer, fiat: fiat.code, details, now });
    // The logged-in customer names the account, so it needs no further confirmation.
    const trust = { customerId: customer.id, coolingOffMs: deps.coolingOffMs ?? 0, now };
    if ((await phoneCountsFrom(tx, trust)) === undefined)
      await noteConfirmedAccount(tx, { customer, accountId: added.id, now });
    else {
      // The person who changed the phone may be the one adding the account, so it is treated like one added by a program.
      const isNew = added.createdAt.getTime() === now.getTime();
      await noteApiAccount(tx, { customer, accountId: added.id, isNew, coolingOffMs: trust.coolingOffMs, now });
    }
    const compared = await compareAccount(tx, deps.vault, { customerId: customer.id, accountId: added.id });
    const holder = compared?.match ?? null;
    const facts = { customer: customer.id, fiat: fiat.code, ending: added.hint, holder };
    recordActivity(tx, through, { action: 'account.added', subject: `account:${added.id}`, facts, now });
    return added;
  });
  return { account };
}

async function addedAccount({ inTx, customer }: Visit, id: string | null): Promise<FiatAccount | undefined> {
  if (id === null) return undefined;
  const own = await inTx((tx) => fiatAccounts(tx, customer.id));
  return own.find((account) => String(account.id) === id);
}

function addedPage(visit: Visit, account: FiatAccount): Outcome {
  const { m } = visit.look;
  const { referenceId } = visit.link;
  const address = addressBack(visit.link, {
    fiatAccountId: String(account.id),
    ...defined({ referenceId }),
  });
  const text = paragraph(m.bank.added(shown(account.fiat), account.hint));
  return show(visit, { title: m.bank.addedTitle, body: html`${text}${wayBack(visit, address)}` });
}

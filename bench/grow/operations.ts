/**
 * Operations: what is measured on a grown database. Every read that the operator API declares is one, with the values of its
 * fields from the database (`Known`), or is left out with a reason. Some are measured with further filters, too.
 */
import { ENDPOINTS } from '../../server/src/protocols/operator/declared/index.ts';

/** Values of fields, by name; a name without a value has no row in the database. */
export type Known = Readonly<Record<string, string | undefined>>;

/** Reads that are not measured, and why. */
export const LEFT_OUT: Readonly<Record<string, string>> = {
  '/handbook': 'a page of a file',
  '/monitoring/try': 'its caller chooses the rule and the span, and continues page by page',
  '/deposits/:deposit/return-text': 'a text about one row',
  '/bank/accounts': 'needs a manual bank, which the sandbox has not',
  '/bank/payouts': 'needs a manual bank',
  '/bank/files/preview': 'needs a manual bank',
  '/bank/files': 'needs a manual bank',
  '/bank/files/:id': 'needs a manual bank',
  '/bank/imports': 'needs a manual bank',
  '/bank/statements': 'needs a manual bank',
  '/session': 'needs a session; the bench has a token',
  '/sessions': 'needs a session',
  '/session/passkeys': 'needs a session',
  '/session/network': 'needs a session',
  '/session/views': 'needs a session',
  '/session/sso': 'needs a session',
};

/** Values beyond those of `Known`, for a read that needs them. */
const GIVEN: Readonly<Record<string, string>> = {
  '/reports/affected': 'fee=operator&bps=30',
};
/** Reads of which further filters are measured. `{name}` is a value of `Known`. */
const FURTHER: Readonly<Record<string, readonly string[]>> = {
  '/lookup': ['text={address}', 'text={reference}', 'text={word}', 'text=nothing+at+all'],
  '/orders': [
    'customer={customer}',
    'partner=2&state=refunded',
    'state=on_hold',
    'state=settled&from={from}&until={until}',
    'asset=usdc.matic20&min=40',
  ],
  '/trial-balance': ['at={at}', 'at={past}'],
  '/treasury/history': ['', 'steps=90', 'step=hour&steps=48', 'until={at}'],
  '/reports/revenue': ['from={monthAgo}&until={until}', 'from={monthAgo}&until={until}&partner={partner}'],
  '/reports/statement': [
    'customer={customer}&from={monthAgo}&until={until}',
    'customer={small}&from={monthAgo}&until={until}',
  ],
  '/reports/affected': ['market={market}&from={monthAgo}&until={until}&fee=operator&bps=30'],
  '/reports/partner': ['partner={partner}&from={monthAgo}&until={until}'],
  '/reports/countries': ['from={monthAgo}&until={until}'],
  '/cases': ['open=false'],
  '/audit': ['operator={operatorName}'],
};

const PAGE = '50';

/** Path of each operation, below the operator API; undefined where the database has nothing to ask about. */
export function operatorOperations(known: Known): Map<string, string | undefined> {
  const all = new Map<string, string | undefined>();
  for (const { method, path, fields } of ENDPOINTS) {
    if (method !== 'GET' || path in LEFT_OUT) continue;
    const inPath = [...path.matchAll(/:(\w+)/g)].map(([, name]) => name as string);
    const page = 'limit' in fields ? `limit=${PAGE}` : '';
    const needed = Object.entries(fields)
      .filter(([name, field]) => field.optional !== true && !inPath.includes(name))
      .map(([name]) => `${name}={${name}}`)
      .join('&');
    const queries = [joined(needed, GIVEN[path] ?? ''), ...(FURTHER[path] ?? [])];
    for (const query of new Set(queries)) {
      const name = query === '' ? path : `${path}?${query}`;
      const asked = joined(query, page);
      const template = `${path.replaceAll(/:(\w+)/g, '{$1}')}${asked === '' ? '' : `?${asked}`}`;
      all.set(name, filled(template, known));
    }
  }
  return all;
}

const joined = (...parts: readonly string[]): string => parts.filter((part) => part !== '').join('&');

function filled(template: string, known: Known): string | undefined {
  let isWhole = true;
  const text = template.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = known[name];
    isWhole &&= value !== undefined;
    return encodeURIComponent(value ?? '');
  });
  return isWhole ? text : undefined;
}

/**
 * Reads a statement in camt.053 (ISO 20022), versions 001.02 to 001.08, as a stream.
 *
 * Bytes, lines, depth and the length of each text are limited. The whole file is rejected for: a document type declaration (and
 * with it entities, their expansion and external references), XML that is not well-formed to its last byte, another message,
 * another account or currency, amounts that are not exact in the asset, lines that do not lead from the opening to the closing
 * balance. Unknown elements are skipped, because banks add their own.
 *
 * An entry is one line, unless its details add up to its amount exactly: then each detail is a line. Entries that are not booked
 * yet, and entries of zero, are skipped, because they move nothing.
 */
import { type SaxesAttributeNS, SaxesParser } from 'saxes';
import { parseUnits } from '../../base/money.ts';
import {
  type Amount,
  type Balance,
  type Details,
  type Entry,
  NOWHERE,
  noDetails,
  type Place,
  ROOT,
  type Statement,
} from './camt.elements.ts';
import { bookedOf, spanOf } from './camt.times.ts';
import { type Chunks, decode, refuseFile } from './decode.ts';
import { addsUp, LONGEST_TEXT, MOST_LINES, meant, type ReadLine, type ReadStatement } from './read.ts';
import { type ManualAccount, plainAccount } from './settings.ts';

const NAMESPACE = /^urn:iso:std:iso:20022:tech:xsd:camt\.053\.001\.0[2-8]$/;
const DEEPEST = 40;
const MOST_STATEMENTS = 400;
/** The longest text in the schema has 500 characters. */
const LONGEST_ELEMENT = 2_000;
/** Longer than any real name, attribute or comment. */
const LONGEST_ATTRIBUTES = 20;

/**
 * @param decimals of the account's asset
 * @throws Refusal 'file_refused' with a sentence that names the statement or entry, and the rule
 */
export async function readCamt(chunks: Chunks, account: ManualAccount, decimals: number): Promise<ReadStatement[]> {
  const reader = openReader(account, decimals);
  const parser = new SaxesParser({ xmlns: true, position: false });
  parser.on('error', () => {
    throw refuseFile('The file is not well-formed XML, or is incomplete.');
  });
  parser.on('doctype', () => {
    throw refuseFile('The file has a document type declaration, which camt.053 does not allow.');
  });
  parser.on('opentag', (tag) => reader.open(tag.local, tag.uri, tag.attributes));
  parser.on('text', (text) => reader.text(text));
  parser.on('cdata', (text) => reader.text(text));
  parser.on('closetag', () => reader.close());
  for await (const piece of decode(chunks, 'auto', true)) parser.write(piece);
  parser.close();
  return reader.statements();
}

function openReader(account: ManualAccount, decimals: number) {
  const places: Place[] = [];
  let namespace: string | undefined;
  let text = '';
  let currency = '';
  const header = { page: '' };
  let statement: Statement | undefined;
  let balance: Balance | undefined;
  let entry: Entry | undefined;
  let details: Details | undefined;
  let entries = 0;
  let lines = 0;
  const read: ReadStatement[] = [];

  function open(local: string, uri: string, attributes: Record<string, SaxesAttributeNS>): void {
    if (places.length === 0) {
      if (local !== 'Document' || !NAMESPACE.test(uri))
        throw refuseFile('The file is not a camt.053 statement of version 001.02 to 001.08.');
      namespace = uri;
    }
    if (places.length >= DEEPEST) throw refuseFile('The file is nested too deeply.');
    currency = '';
    let count = 0;
    for (const name in attributes) {
      count += 1;
      if (count > LONGEST_ATTRIBUTES) throw refuseFile('An element has too many attributes.');
      if (name === 'Ccy') currency = attributes.Ccy?.value ?? '';
    }
    // Elements of another namespace, and everything below them, are skipped.
    const place = (uri === namespace ? (places.at(-1) ?? ROOT).below.get(local) : undefined) ?? NOWHERE;
    places.push(place);
    text = '';
    switch (place.is) {
      case 'statement':
        if (read.length >= MOST_STATEMENTS) throw refuseFile(`The file has more than ${MOST_STATEMENTS} statements.`);
        statement = {
          ...{ id: '', sequence: '', from: '', to: '', page: header.page, isLast: '', currency: '' },
          ...{ accounts: [], balances: [], lines: [] },
        };
        entries = 0;
        break;
      case 'balance':
        balance = {};
        break;
      case 'entry':
        entry = { ...noDetails(), details: [] };
        entries += 1;
        break;
      case 'details':
        details = noDetails();
        break;
    }
  }

  function addText(piece: string): void {
    if (text.length + piece.length > LONGEST_ELEMENT)
      throw refuseFile(`The file has a text of more than ${LONGEST_ELEMENT} characters.`);
    text += piece;
  }

  function close(): void {
    const place = places.pop();
    if (place?.is !== undefined) end(place.is);
    else if (place?.leaf !== undefined)
      place.leaf({ header, statement, balance, entry, details }, text.trim(), currency);
    text = '';
  }

  function end(what: NonNullable<Place['is']>): void {
    if (statement === undefined) return;
    if (what === 'statement') {
      read.push(finish(statement, read.length + 1, { account, decimals }));
      statement = undefined;
    } else if (what === 'balance') {
      if (balance !== undefined) statement.balances.push(balance);
      balance = undefined;
    } else if (what === 'entry') {
      if (entry !== undefined) {
        const found = linesOf(entry, { account, decimals, where: `Entry ${entries} of statement ${read.length + 1}` });
        lines += found.length;
        if (lines > MOST_LINES) throw refuseFile(`The file has more than ${MOST_LINES} lines.`);
        statement.lines.push(...found);
      }
      entry = undefined;
    } else {
      if (entry !== undefined && details !== undefined) entry.details.push(details);
      if ((entry?.details.length ?? 0) > MOST_LINES) throw refuseFile(`The file has more than ${MOST_LINES} lines.`);
      details = undefined;
    }
  }

  return {
    open,
    text: addText,
    close,
    statements(): ReadStatement[] {
      if (read.length === 0) throw refuseFile('The file has no statement.');
      return read;
    },
  };
}

interface Context {
  account: ManualAccount;
  decimals: number;
  where: string;
}

/** Completes a statement that was read to its end. @param number of the statement in its file, from 1 */
function finish(
  done: Statement,
  number: number,
  { account, decimals }: Pick<Context, 'account' | 'decimals'>,
): ReadStatement {
  const which = `statement ${number}`;
  const context = { account, decimals, where: `A balance of ${which}` };
  const ours = [account.iban, account.accountNumber].filter(Boolean).map(plainAccount);
  if (!done.accounts.some((one) => ours.includes(plainAccount(one))))
    throw refuseFile(`The account of ${which} is not the account of this import.`);
  if (done.currency !== '' && done.currency !== account.currency)
    throw refuseFile(`The account of ${which} is not in ${account.currency}.`);
  const opening = balanceOf(done.balances, ['OPBD', 'PRCD'], (all) => all[0], which);
  const closing = balanceOf(done.balances, ['CLBD'], (all) => all.at(-1), which);
  const span = spanOf(done, closing, account.timeZone);
  if (span === undefined) throw refuseFile(`No day is given in ${which}.`);
  const result: ReadStatement = {
    id: done.id.slice(0, LONGEST_TEXT),
    sequence: /^\d{1,18}$/.test(done.sequence) ? BigInt(done.sequence) : null,
    ...(/^\d{1,5}$/.test(done.page) ? { page: Number(done.page) } : {}),
    ...span,
    opening: signed(opening, context),
    closing: signed(closing, context),
    lines: done.lines,
  };
  addsUp(result, which);
  return result;
}

/** A page in the middle of a statement begins or ends with an interim balance (ITBD). */
function balanceOf(
  all: readonly Balance[],
  kinds: readonly string[],
  interim: (all: readonly Balance[]) => Balance | undefined,
  which: string,
): Balance {
  const found =
    all.find(({ kind }) => kinds.includes(kind ?? '')) ?? interim(all.filter(({ kind }) => kind === 'ITBD'));
  if (found === undefined) throw refuseFile(`An opening or closing balance is missing in ${which}.`);
  return found;
}

/** @throws Refusal if the amount is not exact in the asset, or is in another currency */
function exact(amount: Amount | undefined, { account, decimals, where }: Context): bigint {
  if (amount === undefined) throw refuseFile(`${where} has no amount.`);
  if (amount.currency !== account.currency) throw refuseFile(`${where} is not in ${account.currency}.`);
  try {
    return parseUnits(amount.text.replace(/^\+/, ''), decimals);
  } catch {
    throw refuseFile(`${where} has no readable amount.`);
  }
}

function direction(sign: string | undefined, { where }: Context): 'credit' | 'debit' {
  if (sign === 'CRDT') return 'credit';
  if (sign === 'DBIT') return 'debit';
  throw refuseFile(`${where} is not marked as a credit or a debit.`);
}

function signed({ amount, sign }: { amount?: Amount; sign?: string }, context: Context): bigint {
  const units = exact(amount, context);
  return direction(sign, context) === 'credit' ? units : -units;
}

function linesOf(entry: Entry, context: Context): ReadLine[] {
  const units = exact(entry.amount, context);
  const side = direction(entry.sign, context);
  if (entry.status !== undefined && entry.status !== 'BOOK') return [];
  if (units === 0n) return [];
  const booked = bookedOf(entry);
  if (booked === undefined) throw refuseFile(`${context.where} has no day.`);
  const base = { ...booked, reversal: entry.reversal === 'true' || entry.reversal === '1' };

  const parts = entry.details.length > 1 ? partsOf(entry, side, units, context) : undefined;
  if (parts !== undefined) {
    return parts.map(({ details, units: part, side: partSide }) => ({
      ...base,
      ...described(details, entry, partSide),
      direction: partSide,
      units: part,
      chargeUnits: 0n,
      bankRef: batchRef(entry, details),
    }));
  }
  // If several details do not add up to the entry's amount, none is trusted. What they name was paid or tried all the same.
  const mentions = entry.details.length > 1 ? entry.details.flatMap(namesIn) : [];
  const only: Details = entry.details.length === 1 ? (entry.details[0] ?? noDetails()) : noDetails();
  const chargeUnits = side === 'debit' ? chargeOf(entry, only, units, context) : 0n;
  return [
    {
      ...base,
      ...described(only, entry, side),
      direction: side,
      units: units - chargeUnits,
      chargeUnits,
      bankRef: meant(entry.serviceRef ?? '') || meant(only.serviceRef ?? ''),
      ...(mentions.length === 0 ? {} : { mentions }),
    },
  ];
}

/** Where a detail may name a payout or a file of ours. */
const namesIn = ({ endToEnd, batch, texts }: Details): string[] =>
  [endToEnd, batch, texts.join(' ')].flatMap((text) => (text ? [text.slice(0, LONGEST_TEXT)] : []));

/** The parts of an entry, if its details add up to its amount exactly. */
function partsOf(entry: Entry, side: 'credit' | 'debit', units: bigint, context: Context) {
  let sum = 0n;
  const parts: { details: Details; units: bigint; side: 'credit' | 'debit' }[] = [];
  for (const details of entry.details) {
    const amount = details.amount ?? details.transactionAmount;
    if (amount === undefined || amount.currency !== context.account.currency) return undefined;
    const part = exact(amount, context);
    if (part === 0n) return undefined;
    const partSide = details.sign === undefined ? side : direction(details.sign, context);
    sum += partSide === side ? part : -part;
    parts.push({ details, units: part, side: partSide });
  }
  return sum === units ? parts : undefined;
}

/**
 * Units that the bank charged in addition: only if the payment's own amount and the charges add up to the entry's amount exactly.
 */
function chargeOf(entry: Entry, only: Details, units: bigint, context: Context): bigint {
  const paid = only.transactionAmount ?? (only.amount?.text === entry.amount?.text ? undefined : only.amount);
  const charges = [...entry.charges, ...only.charges];
  if (paid?.currency !== context.account.currency || charges.length === 0) return 0n;
  if (charges.some(({ currency }) => currency !== context.account.currency)) return 0n;
  const inAll = exact(paid, context);
  const sum = charges.reduce((all, charge) => all + exact(charge, context), 0n);
  return inAll > 0n && inAll + sum === units ? sum : 0n;
}

/** The details of one entry share its reference. Their own references distinguish them. */
function batchRef(entry: Entry, details: Details): string {
  const shared = meant(entry.serviceRef ?? '');
  const own = [details.serviceRef, details.transactionId, details.endToEnd]
    .map((one) => meant(one ?? ''))
    .find(Boolean);
  if (shared === '') return meant(details.serviceRef ?? '');
  return own === undefined ? '' : `${shared} ${own}`;
}

const RETURN_FAMILIES = new Set(['RRTN', 'RPCR', 'ARET']);

function described(
  details: Details,
  entry: Entry,
  side: 'credit' | 'debit',
): Pick<ReadLine, 'endToEnd' | 'paymentId' | 'batch' | 'text' | 'name' | 'account'> & { returned?: string } {
  const other = side === 'credit' ? 'debtor' : 'creditor';
  const comesBack =
    details.isReturn === true || [details.family, entry.family].some((family) => RETURN_FAMILIES.has(family ?? ''));
  // In a return the parties are those of the original payment: the other party is the one that is not us.
  const name = details.names[other] ?? '';
  return {
    endToEnd: meant(details.endToEnd ?? ''),
    paymentId: meant(details.transactionId ?? ''),
    batch: (details.batch ?? entry.batch ?? '').slice(0, LONGEST_TEXT),
    text: [...details.texts, ...entry.texts].filter(Boolean).join(' ').slice(0, LONGEST_TEXT),
    name: name.slice(0, LONGEST_TEXT),
    account: (details.accounts[other] ?? '').slice(0, LONGEST_TEXT),
    ...(comesBack
      ? { returned: /^[A-Z0-9]{1,4}$/.test(details.returnReason ?? '') ? (details.returnReason ?? '') : '' }
      : {}),
  };
}

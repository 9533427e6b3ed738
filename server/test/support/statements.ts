/**
 * Statements as a bank would write them, for tests: camt.053 in its oldest and in a recent version, and a CSV.
 * Amounts are given in the smallest units of a currency with two decimals; a debit is below zero.
 */

export interface BankEntry {
  units: bigint;
  on?: string;
  /** The booking date with a time, where the bank gives one: an ISODateTime. */
  at?: string;
  ref?: string;
  endToEnd?: string;
  text?: string;
  name?: string;
  account?: string;
  /** The reason code of a return; '' where the bank gives none. */
  returned?: string;
  reversal?: boolean;
  status?: string;
  /** The value date, where the bank names that and no booking date. */
  valuedOn?: string;
  currency?: string;
  chargeUnits?: bigint;
  /** The details of a batch; their sum is `units`. */
  parts?: readonly Omit<BankEntry, 'parts' | 'on' | 'at'>[];
}

export interface BankStatement {
  version?: '001.02' | '001.08';
  id?: string;
  sequence?: number;
  iban?: string;
  number?: string;
  currency?: string;
  from?: string;
  to?: string;
  opening?: bigint;
  closing?: bigint;
  /** First and last time of the statement, where the bank gives them: ISODateTimes. */
  period?: readonly [string, string];
  /** Where the bank splits the statement: the number of the page, and whether it is the last. Its other ends are interim balances. */
  page?: { number: number; isLast: boolean };
  entries: readonly BankEntry[];
}

export const IBAN = 'DE02120300000000202051';
export const NUMBER = '000100020003';
export const DAY = '2026-11-20';

export const sumOf = (entries: readonly BankEntry[]): bigint =>
  entries.reduce((sum, { units, status }) => sum + ((status ?? 'BOOK') === 'BOOK' ? units : 0n), 0n);

export const decimal = (units: bigint): string => {
  const digits = String(units < 0n ? -units : units).padStart(3, '0');
  return `${digits.slice(0, -2)}.${digits.slice(-2)}`;
};
const sign = (units: bigint): string => (units < 0n ? 'DBIT' : 'CRDT');
const tag = (name: string, content: string | undefined): string =>
  content === undefined ? '' : `<${name}>${content}</${name}>`;
const text = (said: string | undefined): string | undefined => said?.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

export function camt(...statements: BankStatement[]): string {
  const version = statements[0]?.version ?? '001.08';
  return `<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:camt.053.${version}">
<BkToCstmrStmt>
<GrpHdr><MsgId>M1</MsgId><CreDtTm>2026-11-20T18:00:00Z</CreDtTm>${version === '001.02' ? pageOf(statements[0]) : ''}</GrpHdr>
${statements.map(statementOf).join('\n')}
</BkToCstmrStmt>
</Document>
`;
}

/** The oldest version numbers the pages of the message. */
const pageOf = (one: BankStatement | undefined): string =>
  one?.page === undefined
    ? ''
    : tag('MsgPgntn', tag('PgNb', String(one.page.number)) + tag('LastPgInd', String(one.page.isLast)));

function statementOf(one: BankStatement): string {
  const { version = '001.08', currency = 'EUR', entries, from = DAY, to = from } = one;
  const opening = one.opening ?? 0n;
  const closing = one.closing ?? opening + sumOf(entries);
  const account = one.number === undefined ? tag('IBAN', one.iban ?? IBAN) : tag('Othr', tag('Id', one.number));
  const balance = (kind: string, units: bigint, day: string) =>
    `<Bal><Tp><CdOrPrtry><Cd>${kind}</Cd></CdOrPrtry></Tp><Amt Ccy="${currency}">${decimal(units)}</Amt><CdtDbtInd>${sign(units)}</CdtDbtInd><Dt><Dt>${day}</Dt></Dt></Bal>`;
  return [
    '<Stmt>',
    tag('Id', one.id ?? `S-${from}`),
    tag('ElctrncSeqNb', one.sequence === undefined ? undefined : String(one.sequence)),
    one.page === undefined || version === '001.02'
      ? ''
      : tag('StmtPgntn', tag('PgNb', String(one.page.number)) + tag('LastPgInd', String(one.page.isLast))),
    '<CreDtTm>2026-11-20T18:00:00Z</CreDtTm>',
    one.period === undefined ? '' : tag('FrToDt', tag('FrDtTm', one.period[0]) + tag('ToDtTm', one.period[1])),
    `<Acct><Id>${account}</Id><Ccy>${currency}</Ccy></Acct>`,
    balance((one.page?.number ?? 1) > 1 ? 'ITBD' : 'OPBD', opening, from),
    balance(one.page?.isLast === false ? 'ITBD' : 'CLBD', closing, to),
    ...entries.map((entry) => entryOf({ on: to, currency, ...entry }, version)),
    '</Stmt>',
  ].join('\n');
}

function entryOf(entry: BankEntry, version: string): string {
  const status = entry.status ?? 'BOOK';
  const parts = entry.parts ?? [entry];
  return [
    '<Ntry>',
    `<Amt Ccy="${entry.currency}">${decimal(entry.units)}</Amt><CdtDbtInd>${sign(entry.units)}</CdtDbtInd>`,
    entry.reversal ? '<RvslInd>true</RvslInd>' : '',
    version === '001.02' ? tag('Sts', status) : tag('Sts', tag('Cd', status)),
    entry.valuedOn === undefined
      ? tag('BookgDt', entry.at === undefined ? tag('Dt', entry.on) : tag('DtTm', entry.at))
      : '',
    `<ValDt><Dt>${entry.valuedOn ?? entry.on}</Dt></ValDt>`,
    tag('AcctSvcrRef', text(entry.ref)) ?? '',
    '<BkTxCd><Domn><Cd>PMNT</Cd><Fmly><Cd>RCDT</Cd><SubFmlyCd>ESCT</SubFmlyCd></Fmly></Domn></BkTxCd>',
    `<NtryDtls>${parts.map((part) => detailsOf({ currency: entry.currency ?? 'EUR', ...part }, version, entry.parts !== undefined)).join('')}</NtryDtls>`,
    '</Ntry>',
  ].join('');
}

function detailsOf(part: BankEntry, version: string, ofBatch: boolean): string {
  const side = part.units < 0n ? 'Cdtr' : 'Dbtr';
  const named = version === '001.02' ? tag('Nm', text(part.name)) : tag('Pty', tag('Nm', text(part.name)));
  const paid = (part.units < 0n ? -part.units : part.units) - (part.chargeUnits ?? 0n);
  const amount = `<Amt Ccy="${part.currency}">${decimal(paid)}</Amt>`;
  const charges =
    part.chargeUnits === undefined ? '' : `<Amt Ccy="${part.currency}">${decimal(part.chargeUnits)}</Amt>`;
  return [
    '<TxDtls>',
    `<Refs>${ofBatch ? (tag('AcctSvcrRef', text(part.ref)) ?? '') : ''}${tag('EndToEndId', part.endToEnd ?? 'NOTPROVIDED')}</Refs>`,
    version === '001.02'
      ? `<AmtDtls><TxAmt>${amount}</TxAmt></AmtDtls>`
      : `${amount}<CdtDbtInd>${sign(part.units)}</CdtDbtInd><AmtDtls><TxAmt>${amount}</TxAmt></AmtDtls>`,
    charges === '' ? '' : tag('Chrgs', version === '001.02' ? charges : tag('Rcrd', charges)),
    part.name === undefined
      ? ''
      : `<RltdPties><${side}>${named}</${side}>${tag(`${side}Acct`, tag('Id', tag('IBAN', part.account ?? 'DE89370400440532013000')))}</RltdPties>`,
    part.text === undefined ? '' : tag('RmtInf', tag('Ustrd', text(part.text))),
    part.returned === undefined
      ? ''
      : tag('RtrInf', part.returned === '' ? '<AddtlInf>returned</AddtlInf>' : tag('Rsn', tag('Cd', part.returned))),
    '</TxDtls>',
  ].join('');
}

export interface CsvLine {
  units: bigint;
  on?: string;
  text?: string;
  name?: string;
  account?: string;
  kind?: string;
}

/** A CSV as a German bank writes it: semicolons, decimal commas, days before months, and a preamble. */
export function germanCsv(lines: readonly CsvLine[], options: { opening?: bigint; iban?: string } = {}): string {
  let balance = options.opening ?? 0n;
  const quote = (said: string): string => `"${said.replaceAll('"', '""')}"`;
  const rows = lines.map((line) => {
    balance += line.units;
    const on = (line.on ?? DAY).split('-').toReversed().join('.');
    const fields = [
      options.iban ?? IBAN,
      on,
      line.kind ?? 'Buchung',
      line.text ?? '',
      line.name ?? '',
      line.account ?? '',
    ];
    return `${fields.map(quote).join(';')};${comma(line.units)};EUR;${comma(balance)}\r\n`;
  });
  return `Kontoauszug\r\n\r\nKonto;Buchungstag;Art;Verwendungszweck;Beguenstigter;IBAN;Betrag;Waehrung;Saldo\r\n${rows.join('')}`;
}

const comma = (units: bigint): string => {
  const [whole = '', fraction = ''] = decimal(units).split('.');
  return `${units < 0n ? '-' : ''}${whole.replaceAll(/\B(?=(\d{3})+(?!\d))/g, '.')},${fraction}`;
};

export const GERMAN_CSV = {
  delimiter: ';',
  decimal: ',',
  thousands: '.',
  date: 'DD.MM.YYYY',
  columns: {
    bookedOn: 'Buchungstag',
    amount: 'Betrag',
    text: ['Verwendungszweck'],
    name: 'Beguenstigter',
    account: 'IBAN',
    currency: 'Waehrung',
    ownAccount: 'Konto',
    balance: 'Saldo',
    kind: 'Art',
  },
  returnKinds: ['Rueckueberweisung'],
};

/** The settings of a bank with a euro account and a rupee account, as an operator would write them. */
export const SETTINGS = {
  accounts: [
    {
      asset: 'eur',
      currency: 'EUR',
      holder: 'Ramp & Söhne GmbH',
      bank: 'Testbank',
      iban: IBAN,
      bic: 'BYLADEM1001',
      payoutFile: 'pain.001.001.09',
      fundingAccounts: ['DE75512108001245126199'],
      csv: GERMAN_CSV,
    },
    {
      asset: 'inr',
      currency: 'INR',
      holder: 'Ramp India',
      bank: 'Bank of Tests',
      accountNumber: NUMBER,
      ifsc: 'TEST0000001',
      payoutFile: 'csv',
    },
  ],
};

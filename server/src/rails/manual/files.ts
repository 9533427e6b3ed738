/**
 * Payout files: writes a batch of payouts as the bytes that an operator uploads at the bank. Pure: the same batch and payees
 * always give the same bytes.
 *
 * pain.001.001.09 has one block of payments, because all payouts of a batch leave one account on one day. Each is booked
 * separately (`BtchBookg` false), so that the statement shows each. The payout's key is in `EndToEndId`, which a bank carries
 * unchanged to the statement, and also in the remittance text, for banks that show only that.
 *
 * The CSV is for banks without ISO 20022; its columns are fixed and named in its first row.
 */
import { dayIn } from '../../base/zones.ts';
import { writeRow } from './csv.ts';
import { type PayeeDetails, plainName, sepaText } from './payee.ts';
import type { FileFormat, ManualAccount } from './settings.ts';

export interface Batch {
  id: bigint;
  /** When it was closed. The day of this time at the bank is the requested payment date. */
  closedAt: Date;
  account: ManualAccount;
  decimals: number;
  payouts: readonly { endToEnd: string; units: bigint; payee: PayeeDetails }[];
}

export const writeFile = (format: FileFormat, batch: Batch): string =>
  format === 'csv' ? writeCsv(batch) : writePain(batch);

/** Name of a batch, in the file and on the bank's screens. */
export const batchName = (id: bigint): string => `CLOVERLEAF-${id}`;

/** The one file of ours that a line names, if it does, in the bank's copy of the name. */
export function batchIn({
  batch,
  endToEnd,
  text,
}: {
  batch: string;
  endToEnd: string;
  text: string;
}): bigint | undefined {
  const found = new Set(
    [...`${batch} ${endToEnd} ${text}`.matchAll(/\bCLOVERLEAF-(\d{1,15})(?!\d)/gi)].map(([, id]) => id),
  );
  const [id] = found;
  return found.size === 1 && id !== undefined ? BigInt(id) : undefined;
}

export const FILE_TYPES: Readonly<Record<FileFormat, { type: string; ending: string }>> = {
  csv: { type: 'text/csv; charset=utf-8', ending: 'csv' },
  'pain.001.001.09': { type: 'application/xml', ending: 'xml' },
};

function writeCsv({ account, decimals, payouts }: Batch): string {
  const header = ['reference', 'amount', 'currency', 'name', 'account', 'iban', 'bic', 'ifsc', 'bank_code'];
  const rows = payouts.map(({ endToEnd, units, payee }) => [
    endToEnd,
    exactAmount(units, decimals),
    account.currency,
    payee.name,
    payee.account,
    payee.iban,
    payee.bic,
    payee.ifsc,
    payee.bankCode,
  ]);
  return [header, ...rows].map(writeRow).join('');
}

function writePain({ id, closedAt, account, decimals, payouts }: Batch): string {
  const sum = exactAmount(
    payouts.reduce((all, { units }) => all + units, 0n),
    decimals,
  );
  const sepa = account.currency === 'EUR';
  const holder = plainName(account.holder, account.currency);
  const counts = tag('NbOfTxs', String(payouts.length)) + tag('CtrlSum', sum);
  const header = inside(
    'GrpHdr',
    tag('MsgId', batchName(id)) +
      tag('CreDtTm', closedAt.toISOString().replace(/\.\d+Z$/, 'Z')) +
      counts +
      inside('InitgPty', tag('Nm', holder)),
  );
  const block = inside(
    'PmtInf',
    tag('PmtInfId', batchName(id)) +
      tag('PmtMtd', 'TRF') +
      tag('BtchBookg', 'false') +
      counts +
      (sepa ? inside('PmtTpInf', inside('SvcLvl', tag('Cd', 'SEPA'))) : '') +
      inside('ReqdExctnDt', tag('Dt', dayIn(account.timeZone, closedAt))) +
      inside('Dbtr', tag('Nm', holder)) +
      inside('DbtrAcct', accountId(account.iban, account.accountNumber) + tag('Ccy', account.currency)) +
      inside('DbtrAgt', agent(account) ?? inside('FinInstnId', inside('Othr', tag('Id', 'NOTPROVIDED')))) +
      tag('ChrgBr', sepa ? 'SLEV' : 'SHAR') +
      payouts
        .map(({ endToEnd, units, payee }) => {
          const bank = agent(payee);
          return inside(
            'CdtTrfTxInf',
            inside('PmtId', tag('EndToEndId', endToEnd)) +
              inside('Amt', `<InstdAmt Ccy="${account.currency}">${exactAmount(units, decimals)}</InstdAmt>`) +
              (bank === undefined ? '' : inside('CdtrAgt', bank)) +
              inside('Cdtr', tag('Nm', plainName(payee.name, account.currency))) +
              inside('CdtrAcct', accountId(payee.iban, payee.account)) +
              inside('RmtInf', tag('Ustrd', sepaText(endToEnd, 140))),
          );
        })
        .join('\n'),
  );
  return `<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.001.001.09">
<CstmrCdtTrfInitn>
${header}
${block}
</CstmrCdtTrfInitn>
</Document>
`;
}

const accountId = (iban: string, number: string): string =>
  inside('Id', iban === '' ? inside('Othr', tag('Id', number)) : tag('IBAN', iban));

/** A party's bank, by its BIC or by its code in a national clearing system; undefined if an IBAN is enough. */
function agent(party: { bic: string; ifsc: string; bankCode?: string }): string | undefined {
  if (party.bic !== '') return inside('FinInstnId', tag('BICFI', party.bic));
  const code = party.ifsc || party.bankCode || '';
  if (code === '') return undefined;
  // INFSC is India's clearing system in the external code list. For any other, only the code is known.
  const system = party.ifsc === '' ? '' : inside('ClrSysId', tag('Cd', 'INFSC'));
  return inside('FinInstnId', inside('ClrSysMmbId', system + tag('MmbId', code)));
}

/** The amount with all decimals of the currency: `100.00`. */
function exactAmount(units: bigint, decimals: number): string {
  const digits = units.toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  return decimals === 0 ? whole : `${whole}.${digits.slice(-decimals)}`;
}

const inside = (name: string, content: string): string => `<${name}>${content}</${name}>`;
const tag = (name: string, text: string): string => inside(name, escape(text));

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&apos;',
};
const escape = (text: string): string => text.replaceAll(/[&<>"']/g, (letter) => ESCAPES[letter] ?? '');

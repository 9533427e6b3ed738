/**
 * The elements of a camt.053 that count, by their paths, and the objects that they fill. Elements that are named here in no table
 * are skipped.
 *
 * Not here: what the objects mean (camt.ts), days and times (camt.times.ts).
 */
import type { ReadLine } from './read.ts';

const STATEMENT = 'Document/BkToCstmrStmt/Stmt';

export interface Amount {
  text: string;
  currency: string;
}

export interface Details {
  amount?: Amount;
  transactionAmount?: Amount;
  sign?: string;
  serviceRef?: string;
  endToEnd?: string;
  transactionId?: string;
  charges: Amount[];
  family?: string;
  batch?: string;
  returnReason?: string;
  isReturn?: boolean;
  names: { debtor?: string; creditor?: string };
  accounts: { debtor?: string; creditor?: string };
  texts: string[];
}

export interface Entry extends Details {
  reversal?: string;
  status?: string;
  /** A day, or a time. */
  booked?: string;
  valued?: string;
  details: Details[];
}

export interface Balance {
  kind?: string;
  amount?: Amount;
  sign?: string;
  /** A day, or a time. */
  at?: string;
}

export interface Statement {
  id: string;
  sequence: string;
  /** Times of its period, or ''. */
  from: string;
  to: string;
  /** Number of its page if the bank splits it, or ''. */
  page: string;
  isLast: string;
  accounts: string[];
  currency: string;
  balances: Balance[];
  lines: ReadLine[];
}

export const noDetails = (): Details => ({ charges: [], names: {}, accounts: {}, texts: [] });

// Leaf elements, by their path below the object to which they belong.

type Leaf<T> = (into: T, said: string, currency: string) => void;

const STATEMENT_LEAVES: Readonly<Record<string, Leaf<Statement> | undefined>> = {
  '/Id': (into, said) => void (into.id = said),
  '/ElctrncSeqNb': (into, said) => void (into.sequence = said),
  '/LglSeqNb': (into, said) => void (into.sequence ||= said),
  '/StmtPgntn/PgNb': (into, said) => void (into.page = said),
  '/StmtPgntn/LastPgInd': (into, said) => void (into.isLast = said),
  '/FrToDt/FrDtTm': (into, said) => void (into.from = said),
  '/FrToDt/ToDtTm': (into, said) => void (into.to = said),
  '/Acct/Id/IBAN': (into, said) => void into.accounts.push(said),
  '/Acct/Id/Othr/Id': (into, said) => void into.accounts.push(said),
  '/Acct/Ccy': (into, said) => void (into.currency = said),
};

const BALANCE: Readonly<Record<string, Leaf<Balance> | undefined>> = {
  '/Tp/CdOrPrtry/Cd': (into, said) => void (into.kind = said),
  '/Amt': (into, text, currency) => void (into.amount = { text, currency }),
  '/CdtDbtInd': (into, said) => void (into.sign = said),
  '/Dt/Dt': (into, said) => void (into.at = said),
  '/Dt/DtTm': (into, said) => void (into.at = said),
};

const SHARED: Readonly<Record<string, Leaf<Details> | undefined>> = {
  '/Amt': (into, text, currency) => void (into.amount = { text, currency }),
  '/CdtDbtInd': (into, said) => void (into.sign = said),
  // Version 001.02 lists charges; later versions have a record for each.
  '/Chrgs/Amt': (into, text, currency) => void into.charges.push({ text, currency }),
  '/Chrgs/Rcrd/Amt': (into, text, currency) => void into.charges.push({ text, currency }),
  '/BkTxCd/Domn/Fmly/SubFmlyCd': (into, said) => void (into.family = said),
};

const ENTRY: Readonly<Record<string, Leaf<Entry> | undefined>> = {
  ...SHARED,
  '/RvslInd': (into, said) => void (into.reversal = said),
  '/Sts': (into, said) => void (into.status ??= said),
  '/Sts/Cd': (into, said) => void (into.status = said),
  '/Sts/Prtry': (into, said) => void (into.status = said),
  '/BookgDt/Dt': (into, said) => void (into.booked = said),
  '/BookgDt/DtTm': (into, said) => void (into.booked = said),
  '/ValDt/Dt': (into, said) => void (into.valued = said),
  '/ValDt/DtTm': (into, said) => void (into.valued = said),
  '/AcctSvcrRef': (into, said) => void (into.serviceRef = said),
  '/NtryDtls/Btch/PmtInfId': (into, said) => void (into.batch = said),
  '/NtryDtls/Btch/MsgId': (into, said) => void (into.batch ??= said),
  '/AddtlNtryInf': (into, said) => void into.texts.push(said),
};

const DETAILS: Readonly<Record<string, Leaf<Details> | undefined>> = {
  ...SHARED,
  '/AmtDtls/TxAmt/Amt': (into, text, currency) => void (into.transactionAmount = { text, currency }),
  '/Refs/AcctSvcrRef': (into, said) => void (into.serviceRef = said),
  '/Refs/EndToEndId': (into, said) => void (into.endToEnd = said),
  '/Refs/PmtInfId': (into, said) => void (into.batch = said),
  '/Refs/TxId': (into, said) => void (into.transactionId = said),
  '/RtrInf': (into) => void (into.isReturn = true),
  '/RtrInf/Rsn/Cd': (into, said) => void (into.returnReason = said),
  '/RmtInf/Ustrd': (into, said) => void into.texts.push(said),
  '/RmtInf/Strd/CdtrRefInf/Ref': (into, said) => void into.texts.push(said),
  '/AddtlTxInf': (into, said) => void into.texts.push(said),
  ...party('Dbtr', 'debtor'),
  ...party('Cdtr', 'creditor'),
};

/** Later versions have a party element in between; version 001.02 does not. */
function party(element: string, ours: 'debtor' | 'creditor'): Record<string, Leaf<Details>> {
  const name: Leaf<Details> = (into, said) => void (into.names[ours] = said);
  const account: Leaf<Details> = (into, said) => void (into.accounts[ours] = said);
  return {
    [`/RltdPties/${element}/Nm`]: name,
    [`/RltdPties/${element}/Pty/Nm`]: name,
    [`/RltdPties/${element}Acct/Id/IBAN`]: account,
    [`/RltdPties/${element}Acct/Id/Othr/Id`]: account,
  };
}

// Places: the tables above as a tree, built once. Building and comparing the path of each element took as long as the XML parser.

/** The objects that are being read at a leaf. */
interface UnderWay {
  header: { page: string };
  statement: Statement | undefined;
  balance: Balance | undefined;
  entry: Entry | undefined;
  details: Details | undefined;
}

export interface Place {
  readonly below: Map<string, Place>;
  /** The object that begins and ends with this element. */
  is?: keyof UnderWay;
  leaf?: (at: UnderWay, said: string, currency: string) => void;
}

export const NOWHERE: Place = { below: new Map() };
export const ROOT: Place = { below: new Map() };

function placeAt(path: string): Place {
  let place = ROOT;
  for (const name of path.split('/')) {
    const next = place.below.get(name) ?? { below: new Map() };
    place.below.set(name, next);
    place = next;
  }
  return place;
}

function places<K extends keyof UnderWay>(
  path: string,
  is: K,
  leaves: Readonly<Record<string, Leaf<NonNullable<UnderWay[K]>> | undefined>>,
): void {
  placeAt(path).is = is;
  for (const [below, leaf] of Object.entries(leaves))
    placeAt(`${path}${below}`).leaf = (at, said, currency) => {
      const into = at[is];
      if (into !== undefined) leaf?.(into, said, currency);
    };
}

// Version 001.02 numbers the pages of the message alone.
places('Document/BkToCstmrStmt/GrpHdr', 'header', { '/MsgPgntn/PgNb': (into, said) => void (into.page = said) });
places(STATEMENT, 'statement', STATEMENT_LEAVES);
places(`${STATEMENT}/Bal`, 'balance', BALANCE);
places(`${STATEMENT}/Ntry`, 'entry', ENTRY);
places(`${STATEMENT}/Ntry/NtryDtls/TxDtls`, 'details', DETAILS);

/** The desk of a bank without an API: files of payouts out, statements in. Served if there is such a bank. */
import { Type } from 'typebox';
import { MAX_LISTED } from '../../../orders/index.ts';
import { about, day, id, listOf, optional, text, time } from '../../declaration/fields.ts';
import { declareAction, declareRead, limit, PROPOSES } from '../declare.ts';
import { done, many, maybe, pages, rows, thing } from '../replies.ts';

const asset = about(text(60), 'Code of the asset of the account', 'eur');
const payoutKey = text(60, /^[\x21-\x7e]+$/, 'the id of a payout');
/** The maximum of a file. */
const MOST_PAYOUTS = 1_000;
const file = about(id, 'Number of the file', '4');

const payouts = Type.Integer({ description: 'Number of payouts in it' });
const withdrawn = {
  withdrawnAt: maybe(Type.String({ description: 'When it was withdrawn: ISO 8601 in UTC' })),
  withdrawnBy: maybe(Type.String({ description: 'Who withdrew it' })),
  withdrawnWhy: maybe(Type.String({ description: 'Why' })),
};
const FILE = [
  ...['id', 'asset', 'format', { payouts }, 'units', 'sha256'],
  { closedAt: Type.String({ description: 'When it was closed: ISO 8601 in UTC' }) },
  { closedBy: Type.String({ description: 'Who closed it' }), ...withdrawn },
];
const IMPORT = [
  ...['id', 'asset', 'format', 'sha256'],
  {
    bytes: Type.Integer({ description: 'Length of the file' }),
    lines: Type.Integer({ description: 'Number of its lines' }),
    newLines: Type.Integer({ description: 'Number of lines that no earlier import had' }),
    importedAt: Type.String({ description: 'When it was imported: ISO 8601 in UTC' }),
    importedBy: Type.String({ description: 'Who imported it' }),
  },
];
const preview = Type.Literal(true, { description: 'Always true: nothing was changed' });
const gaps = Type.Array(Type.Unknown(), { description: 'Days between statements that no import covers' });
const endToEnd = Type.String({ description: 'Reference of the payout at the bank' });
const leftOut = many(
  [{ key: Type.String({ description: 'Id of the payout' }), why: Type.String({ description: 'Why it is left out' }) }],
  'Payouts that are left out, and why',
);
const SEEN = [
  { file: Type.String({ description: 'Number of the file' }) },
  ...['asset', { payouts }, 'units', 'sha256'],
  { withdrawn: Type.Boolean({ description: 'Whether it was withdrawn' }) },
];

const FILE_DEBIT = [
  { file: Type.String({ description: 'Number of the file' }) },
  { line: Type.String({ description: 'Statement line of the debit' }) },
  'asset',
  { explained: Type.Boolean({ description: 'Whether a payout or file of ours explains the debit' }) },
  { named: Type.Boolean({ description: 'Whether the debit names the file or a payout of it' }) },
  { debitUnits: Type.String({ description: 'Amount of the debit' }) },
  { chargeUnits: Type.String({ description: 'Charge of the bank' }) },
  { units: Type.String({ description: 'Sum of the payouts' }) },
  { differenceUnits: Type.String({ description: 'Amount of the debit less the sum of the payouts' }) },
  {
    payouts: many(
      ['key', 'asset', 'units', { state: Type.String({ description: 'Its state; `open` if it has not ended' }) }],
      'The payouts that are settled by the debit',
    ),
  },
];

const closePreview = declareRead({
  path: '/bank/files/preview',
  says: 'Shows which payouts a file would contain if it was closed now. Nothing is closed.',
  fields: { asset },
  refuses: ['batch_refused'],
  gives: thing([{ preview }, 'asset', { payouts }, 'units', 'format', { leftOut }]),
});

/** A read that cannot be a GET, because the statement is its body. It imports nothing, so it needs no reason. */
const takePreview = {
  ...declareRead({
    path: '/bank/statements/preview',
    says: 'Shows what each new line of a statement would be matched with. Nothing is imported.',
    fields: { asset },
    refuses: ['file_refused'],
    gives: thing([
      { preview, spans: Type.Array(Type.Unknown(), { description: 'Days that the statement covers' }), gaps },
      ...['asset', 'outcome', 'creditUnits', 'debitUnits'],
      { newLines: Type.Integer({ description: 'Number of lines that no earlier import had' }) },
      { needsReason: maybe(Type.String({ description: 'Why the import needs a reason; null if it needs none' })) },
      {
        lines: many(
          [
            ...['day', 'asset', 'units', 'reference'],
            {
              direction: Type.String({ description: 'Credit or debit' }),
              chargeUnits: Type.String({ description: 'Charge of the bank' }),
              means: Type.String({ description: 'Kind of the line' }),
              'payout?': Type.String({ description: 'The payout that the line shows' }),
              'goesTo?': Type.String({ description: 'Account to which the money is booked' }),
              'order?': Type.String({ description: 'Number of the order' }),
              'orderState?': Type.String({ description: 'State of the order' }),
              'orderAsks?': Type.String({ description: 'Amount that the order waits for' }),
              'why?': maybe(Type.String({ description: 'Why the line is not matched' })),
            },
          ],
          'New lines',
        ),
      },
    ]),
  }),
  method: 'POST',
  right: 'treasury',
  takesFile: true,
} as const;

export const BANK = {
  accounts: declareRead({
    path: '/bank/accounts',
    says: 'Lists our accounts at the manual bank.',
    fields: {},
    gives: rows(
      'accounts',
      [
        'asset',
        {
          currency: Type.String({ description: 'Currency of the account' }),
          bank: Type.String({ description: 'Name of the bank' }),
          payoutFile: Type.String({ description: 'Format of payout files' }),
          csvStatements: Type.Boolean({ description: 'Whether statements may be CSV' }),
        },
      ],
      ['rail'],
    ),
    command: {
      words: 'bank accounts',
      list: 'accounts',
      columns: ['asset', 'currency', 'bank', 'payoutFile', 'csvStatements'],
    },
  }),
  payouts: declareRead({
    path: '/bank/payouts',
    says: 'Lists payouts that wait for the next payout file.',
    fields: { asset: optional(asset) },
    gives: rows('payouts', [
      ...['key', { endToEnd }, 'asset', 'units'],
      {
        listedAt: Type.String({ description: 'Since when the payout waits: ISO 8601 in UTC' }),
        batchId: Type.Null({ description: 'It is in no file' }),
        rejectedAt: Type.Null({ description: 'It is not rejected' }),
        rejectedWhy: Type.Null({ description: 'It is not rejected' }),
      },
    ]),
    command: {
      words: 'bank payouts',
      list: 'payouts',
      columns: ['key', 'asset', 'units', 'listedAt', 'endToEnd'],
    },
  }),
  takeOff: declareAction({
    name: 'bank.take_off',
    path: '/bank/payouts/:key/take-off',
    says: 'Removes a payout from the next payout file, and rejects it.',
    right: 'treasury',
    people: 'one',
    fields: { key: about(text(60), 'Id of the payout', 'pay_17_1') },
    refuses: ['batch_refused'],
    gives: done(null, ['key']),
    command: { words: 'bank take-off' },
  }),
  close: declareAction({
    name: 'bank.close_file',
    path: '/bank/files',
    says: 'Closes the waiting payouts into a payout file.',
    right: 'treasury',
    people: 'named',
    weighs: true,
    fields: {
      asset,
      until: optional(
        about(
          time,
          'Only payouts that were waiting at this time; later ones are left for the next file',
          '2027-01-31T00:00:00Z',
        ),
      ),
      payouts: optional(about(listOf(payoutKey, MOST_PAYOUTS), 'Only these payouts', ['pay_17_1'])),
    },
    refuses: ['batch_refused', ...PROPOSES],
    gives: done(
      [
        ...['asset', 'units'],
        {
          payouts: Type.Array(Type.String(), { description: 'Ids of the payouts that still wait' }),
          lastFile: maybe(Type.String({ description: 'Number of the last file of the asset' })),
        },
      ],
      [...FILE, { leftOut }],
    ),
    command: {
      words: 'bank close',
      args: ['asset'],
      options: [],
      dryRun: { of: closePreview, list: 'leftOut', columns: ['key', 'why'] },
    },
  }),
  closePreview,
  files: declareRead({
    path: '/bank/files',
    says: 'Lists payout files, newest first.',
    fields: {},
    gives: rows('files', FILE),
    command: {
      words: 'bank files',
      list: 'files',
      columns: ['id', 'asset', 'payouts', 'units', 'closedAt', 'closedBy', 'withdrawnAt'],
    },
  }),
  file: declareRead({
    path: '/bank/files/:id',
    says: 'Shows a payout file, and the outcome of each payout.',
    fields: { id: file },
    gives: thing([...FILE, { list: many(['key', { endToEnd }, 'units', 'state'], 'Its payouts') }]),
    command: { words: 'bank file', list: 'list', columns: ['key', 'units', 'state', 'endToEnd'] },
  }),
  download: declareAction({
    name: 'bank.download_file',
    path: '/bank/files/:id/download',
    says: 'Downloads a payout file, to be uploaded to the bank once.',
    right: 'treasury',
    people: 'named',
    weighs: true,
    fields: { id: file },
    refuses: ['batch_refused', ...PROPOSES],
    gives: Type.String({
      format: 'binary',
      description:
        'The file itself; its SHA-256 is in the header `x-content-sha256`, its name in `content-disposition`',
    }),
    command: { words: 'bank download', getsFile: true },
  }),
  withdraw: declareAction({
    name: 'bank.withdraw_file',
    path: '/bank/files/:id/withdraw',
    says: 'Withdraws a payout file that was not uploaded, and rejects its payouts.',
    right: 'treasury',
    people: 'named',
    weighs: true,
    fields: { id: file },
    refuses: ['batch_refused', ...PROPOSES],
    gives: done(SEEN, FILE),
    command: { words: 'bank withdraw' },
  }),
  settle: declareAction({
    name: 'bank.settle_file',
    path: '/bank/files/:id/settle-by',
    says: 'Settles payouts of a file by one debit that the bank booked for them with another amount. The difference is booked separately.',
    right: 'money',
    people: 'two',
    fields: {
      id: file,
      line: about(
        text(200, /\S/, "a statement line's id, as its case names it"),
        'The statement line of the debit',
        '2027-01-31:4',
      ),
      payouts: optional(
        about(listOf(payoutKey, MOST_PAYOUTS), 'The payouts that it paid; without it, all that are open', ['pay_17_1']),
      ),
    },
    refuses: ['batch_refused', 'does_not_fit', ...PROPOSES],
    gives: done(FILE_DEBIT),
    command: { words: 'bank settle-by', args: ['id', 'line'] },
  }),
  take: declareAction({
    name: 'bank.take_statement',
    path: '/bank/statements',
    says: 'Imports a bank statement, completely or not at all.',
    right: 'treasury',
    people: 'rules',
    morePeople:
      'One operator is enough if the file has no new credit. Otherwise another operator confirms the import by sending the same file, with the right of the action or a role that a rule names for it.',
    weighs: true,
    reasonIsOptional: true,
    takesFile: true,
    fields: { asset },
    refuses: [
      'file_refused',
      'batch_refused',
      'own_proposal',
      'agreed_already',
      'approver_role',
      'proposal_waits',
      ...PROPOSES,
    ],
    gives: done(
      [
        ...['asset', 'sha256', 'creditUnits', 'debitUnits'],
        {
          lines: Type.Integer({ description: 'Number of new lines that are still to be imported' }),
          importId: maybe(Type.String({ description: 'Number of the import' })),
        },
      ],
      [{ import: thing(IMPORT, 'The import'), gaps, taken: Type.String({ description: 'The imports' }) }],
    ),
    command: {
      words: 'bank take',
      args: ['asset', 'file'],
      options: [],
      sendsFile: true,
      dryRun: {
        of: takePreview,
        list: 'lines',
        columns: [
          ...['day', 'direction', 'units', 'means', 'payout', 'goesTo', 'orderState', 'orderAsks', 'why', 'reference'],
        ],
      },
    },
  }),
  takePreview,
  imports: declareRead({
    path: '/bank/imports',
    says: 'Lists imported statements, by file, newest first.',
    fields: {
      asset: optional(asset),
      by: optional(about(text(60), 'Only imports of this operator', 'ada')),
      from: optional(about(time, 'Imported at this time or later', '2027-01-31T00:00:00Z')),
      until: optional(about(time, 'Imported before this time', '2027-02-01T00:00:00Z')),
      below: optional(about(id, '`next` of the previous page; without it, the first page', '12')),
      limit: limit(MAX_LISTED),
    },
    table: {
      list: 'imports',
      columns: ['id', 'importedAt', 'importedBy', 'asset', 'format', 'lines', 'newLines', 'bytes', 'sha256'],
    },
    gives: pages('imports', IMPORT),
    command: {
      words: 'bank imports',
      columns: ['id', 'asset', 'format', 'lines', 'newLines', 'importedAt', 'importedBy'],
    },
  }),
  statements: declareRead({
    path: '/bank/statements',
    says: 'Lists the statements of a period, with their balances.',
    fields: {
      asset,
      from: about(day, 'First day', '2027-01-01'),
      to: about(day, 'Last day', '2027-01-31'),
    },
    gives: rows('statements', [
      ...['id', 'asset'],
      {
        sequence: maybe(Type.String({ description: 'Number of the statement at the bank' })),
        from: Type.String({ description: 'First day' }),
        to: Type.String({ description: 'Last day' }),
        standsTo: Type.String({ description: 'Day up to which the account is known' }),
        opening: maybe(Type.String({ description: 'Opening balance' })),
        closing: maybe(Type.String({ description: 'Closing balance' })),
      },
    ]),
    command: {
      words: 'bank statements',
      args: ['asset', 'from', 'to'],
      list: 'statements',
      columns: ['id', 'from', 'to', 'opening', 'closing', 'sequence'],
    },
  }),
  confirmRestore: declareAction({
    name: 'bank.confirm-restore',
    path: '/bank-restore/confirm',
    says: 'States that the imported statements show every payout file that was uploaded before a restore. Payout files can then be closed again.',
    right: 'treasury',
    people: 'two',
    fields: {},
    refuses: ['batch_refused', 'unknown_path', ...PROPOSES],
    gives: done([
      {
        confirmed: Type.Boolean({ description: 'Whether this is stated' }),
        'restoredAt?': Type.String({ description: 'When the database was restored: ISO 8601 in UTC' }),
        'doubtful?': Type.Array(Type.Unknown(), { description: 'Debits that may belong to a lost payout file' }),
      },
    ]),
    command: { words: 'bank confirm-restore' },
  }),
};

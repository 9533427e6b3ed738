/**
 * Kinds of case: what a person must look at, what it means, what to do, and who acts next.
 *
 * Written for somebody tired who sees the kind for the first time. A kind that is no row here does not compile. Ids and
 * amounts stand in the case itself; here are only words.
 *
 * To add a kind: a line here and one in docs/operating/cases.md.
 */

export type NextActor = 'operator' | 'partner' | 'customer' | 'nobody';

export interface CaseMeaning {
  /** What has happened. */
  means: string;
  /** What ends it. */
  remedy: string;
  who: NextActor;
  /** In docs/operating. */
  page: string;
}

const PAGE = 'cases.md';

export const CASE_KINDS = {
  // An order that stands still.
  on_hold: {
    means: 'Screening, a name or an amount stopped this order before its payout.',
    remedy:
      'Look at the reason. Release it when it is in order, refuse it to give the deposit back, block it if the law says so.',
    who: 'operator',
    page: PAGE,
  },
  payout_held: {
    means: 'The payout was refused, and nothing has left. We still hold the money.',
    remedy: 'Retry when the cause is gone, or refuse the order to give the deposit back.',
    who: 'operator',
    page: PAGE,
  },
  refund_held: {
    means: 'The refund was refused, and nothing has left. We still hold the deposit.',
    remedy: 'Find out why the destination refused it, then retry, to another destination where needed.',
    who: 'operator',
    page: PAGE,
  },
  frozen: {
    means: 'The order was blocked by law. Its money stands apart.',
    remedy: 'Nothing moves until a legal release is on record. Keep the papers with the case.',
    who: 'nobody',
    page: PAGE,
  },
  treasury_short: {
    means: 'The deposit is here, and the treasury has not enough to pay the order out.',
    remedy: 'Fund the wallet or account that pays. The order goes on by itself.',
    who: 'operator',
    page: PAGE,
  },
  overdue: {
    means: 'The order has been in one state for longer than its policy allows.',
    remedy: 'Look at its trace for what it waits for, and end that. The case closes when the order goes on.',
    who: 'operator',
    page: PAGE,
  },

  // A customer who waits.
  verification_review: {
    means: 'A customer gave details, and no program verifies here: a person decides.',
    remedy: 'Look at the details. Verify to a level, let them be given again, or refuse for good; each with a reason.',
    who: 'operator',
    page: PAGE,
  },

  // Money that came in no expected way. It is booked to suspense.
  overpaid: {
    means: 'More came than the order asked for. The order goes on, the rest is in suspense.',
    remedy: 'Give the rest back to where it came from.',
    who: 'operator',
    page: PAGE,
  },
  deposit_unknown_target: {
    means: 'Money came that names no order of ours.',
    remedy:
      'Find the payer by amount, day and reference. Give it to its order (deposit assign), or back if nobody can be found.',
    who: 'operator',
    page: PAGE,
  },
  deposit_wrong_asset: {
    means: 'Another asset came than the order asked for.',
    remedy: 'Give it back, in the same asset, to an address or account the customer confirms.',
    who: 'operator',
    page: PAGE,
  },
  deposit_wrong_chain: {
    means: 'The money came on another of our chains, to the address that its order has there.',
    remedy: "Give it back on the chain it came on, to an address that is surely the customer's there.",
    who: 'operator',
    page: PAGE,
  },
  deposit_late: {
    means: 'Money came after its order had ended.',
    remedy: 'Give it back, or ask the partner to have the customer order anew.',
    who: 'operator',
    page: PAGE,
  },
  deposit_second: {
    means: 'A second deposit came for an order that had its own already.',
    remedy: 'Give it back to where it came from.',
    who: 'operator',
    page: PAGE,
  },
  deposit_lost: {
    means: 'A deposit that we had booked was taken back by its chain or bank. The loss is booked.',
    remedy: 'Ask the partner to claim it from the customer. What is paid again is given to the order (deposit assign).',
    who: 'operator',
    page: PAGE,
  },
  unexpected_credit: {
    means: 'Money came to the wallet that pays, from nobody we know.',
    remedy:
      'Find out whose it is. If it is ours, name the source as a funding source; else give it back, or to its order.',
    who: 'operator',
    page: PAGE,
  },

  // Money that goes back.
  refund_destination: {
    means: 'Money is to go back, and nobody has said where to.',
    remedy: 'The customer names an address or account, through the partner; or you do. It goes there once screened.',
    who: 'customer',
    page: PAGE,
  },
  refund_destination_held: {
    means: 'Money is to go back, and screening would not let it go to the destination named.',
    remedy: 'Name another destination. If the law says so, block the order.',
    who: 'operator',
    page: PAGE,
  },
  refund_short: {
    means: 'Money is to go back, and the wallet it leaves from has too little.',
    remedy: 'Fund that wallet, or wait for its sweeps. The refund goes on by itself.',
    who: 'operator',
    page: PAGE,
  },
  refund_failed: {
    means: 'The rail would not pay a refund. Nothing has left; the money is in suspense.',
    remedy: 'Name another destination, or the same one again when the cause is gone.',
    who: 'operator',
    page: PAGE,
  },
  refund_returned: {
    means: 'A refund that had left came back. The money is in suspense and still owed.',
    remedy: 'Ask the customer for another destination and name it.',
    who: 'customer',
    page: PAGE,
  },
  customer_owes: {
    means: 'A bank took a deposit back after we had paid for it. The customer owes it, and makes no new orders.',
    remedy:
      'Claim it through the partner. When it is paid, give the payment to the order (deposit assign) and lift the block.',
    who: 'operator',
    page: PAGE,
  },

  // Money that went out.
  payout_returned: {
    means: 'A payout that had left came back. The money is in suspense.',
    remedy: 'Ask the customer for another account, then pay again, or give the deposit back.',
    who: 'customer',
    page: PAGE,
  },
  payout_unknown: {
    means: 'A payout was handed over and nobody can say what became of it.',
    remedy: 'Ask the bank or look at the chain. Do not pay again by hand: it settles or is refused when they answer.',
    who: 'operator',
    page: PAGE,
  },
  payout_contradiction: {
    means: 'Two reports about one payout cannot both be true, for instance refused and then paid.',
    remedy:
      'Believe the statement or the chain, not the answer. What still held the money is paid with it; else it was paid twice: claim one back.',
    who: 'operator',
    page: PAGE,
  },
  unexplained_debit: {
    means: 'Money left a wallet or account of ours, and no payout of ours explains it.',
    remedy: 'Stop the rail at once if it may be theft. Then find out who moved it.',
    who: 'operator',
    page: PAGE,
  },
  uncovered: {
    means: 'More has left a wallet than the books had free there.',
    remedy: 'Find the money that came in unseen, or the payout booked twice, before paying out more.',
    who: 'operator',
    page: PAGE,
  },

  // What reconciliation found.
  break_missing_in_ledger: {
    means: 'Chain or bank show a movement in a wallet of ours that the books do not know.',
    remedy: 'Find out what it was by its name outside, and book it. The case closes when a run finds both equal.',
    who: 'operator',
    page: 'reconciliation.md',
  },
  break_missing_outside: {
    means: 'The books have a movement that chain or bank do not show, or show no longer.',
    remedy:
      'Pay nothing more out of that wallet on its strength. Ask node or bank, then correct the books by an entry.',
    who: 'operator',
    page: 'reconciliation.md',
  },
  break_amount: {
    means: 'The books and the outside know the same movement with different amounts, or one of them knows it twice.',
    remedy: 'Compare the amounts in the case with the chain or the statement, and correct the books by an entry.',
    who: 'operator',
    page: 'reconciliation.md',
  },
  break_balance: {
    means: 'What a node or bank says is in a wallet is not what all movements it has shown come to.',
    remedy: 'Ask a second node, or the bank. Either it says a wrong balance or there is a movement it does not show.',
    who: 'operator',
    page: 'reconciliation.md',
  },

  // Rails and wallets.
  rail_stopped: {
    means: 'A chain stopped by itself, because going on could book what is not true.',
    remedy:
      'Read the reason, mend the node or the wallet, then let it go on (rail clear, or start rail) as the page says.',
    who: 'operator',
    page: PAGE,
  },
  rail_failing: {
    means: 'What a rail reported cannot be taken into our books: a bug of ours. The rail waits at that point.',
    remedy: 'Read the reason and the log, and have it mended. It goes on by itself, with nothing lost in between.',
    who: 'operator',
    page: PAGE,
  },
  statement_line_refused: {
    means: 'A line of a bank statement could not be taken as it is.',
    remedy: 'Compare the line with the statement of the bank and book it by hand if it is money.',
    who: 'operator',
    page: PAGE,
  },
  statement_gap: {
    means: 'The balances or numbers of two bank statements do not meet: one between them was not taken in.',
    remedy: 'Download the missing statement at the bank and take it in. Nothing of it is booked until then.',
    who: 'operator',
    page: PAGE,
  },
  treasury_low: {
    means: 'A wallet or account that pays is below its alarm.',
    remedy: 'Fund it. The case closes by itself.',
    who: 'operator',
    page: PAGE,
  },
  gas_short: {
    means: 'No wallet has the native coin that a sweep needs.',
    remedy: 'Send native coin to the hot wallet of that chain. The case closes by itself.',
    who: 'operator',
    page: PAGE,
  },
  sweep_refused: {
    means: 'The node refuses to take a sweep.',
    remedy: 'Read the reason. Most often it is gas or the node. It is tried again by itself.',
    who: 'operator',
    page: PAGE,
  },
  sweep_failed: {
    means: 'A sweep was mined and failed on the chain. The tokens lie where they were paid.',
    remedy: 'Look at the chain transaction. It is tried again by itself after a pause.',
    who: 'operator',
    page: PAGE,
  },

  // Telling partners.
  webhook_undelivered: {
    means:
      'An endpoint of a partner refused an event for three days. The event was given up; later ones are still tried.',
    remedy: 'The partner mends its receiver or its address, then replays what it missed.',
    who: 'partner',
    page: PAGE,
  },
  webhook_off: {
    means: 'An endpoint of a partner has taken nothing for five days and was switched off. Nothing more is sent there.',
    remedy: 'The partner mends its receiver, switches the endpoint on again, then replays what it missed.',
    who: 'partner',
    page: PAGE,
  },
} as const satisfies Record<string, CaseMeaning>;

export type CaseKind = keyof typeof CASE_KINDS;

export const isCaseKind = (text: string): text is CaseKind => Object.hasOwn(CASE_KINDS, text);

/** A row of another version of the server may have a kind that this one does not know. */
export const meaningOf = (kind: string): CaseMeaning =>
  isCaseKind(kind)
    ? CASE_KINDS[kind]
    : {
        means: 'A newer version of the server opened this.',
        remedy: 'Look it up in the documentation of that version.',
        who: 'operator',
        page: PAGE,
      };

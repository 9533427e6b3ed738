/**
 * Kinds of cases: what happened, what it means, what to do, and who acts next.
 *
 * Written for a tired reader who sees the kind for the first time. A kind without a row here does not compile. Ids and
 * amounts are in the case itself; here are only words.
 *
 * To add a kind: a line here and one in docs/operating/cases.md.
 */

export type NextActor = 'operator' | 'partner' | 'customer' | 'nobody';

export interface CaseMeaning {
  /** What has happened. */
  means: string;
  /** How to resolve it. */
  remedy: string;
  who: NextActor;
  /** The page in docs/operating. */
  page: string;
}

const PAGE = 'cases.md';

export const CASE_KINDS = {
  // An order on hold.
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
    means:
      'Orders are paid for, and what pays them out has too little: the reason says how much, how many wait, and which is first.',
    remedy:
      'Fund the wallet or account that pays. The orders go on by themselves, the oldest first, and the case closes. Where a large one keeps small ones waiting: shortage pass.',
    who: 'operator',
    page: PAGE,
  },
  rail_unread: {
    means:
      'Orders ended although their chain or bank had not been read up to their deadlines. Money that came in time may be late.',
    remedy:
      'Bring the rail back (readiness says why it is behind). Then look at the late deposits of these orders and assign or refund them.',
    who: 'operator',
    page: PAGE,
  },
  overdue: {
    means: 'The order has been in one state for longer than its policy allows.',
    remedy: 'Look at its trace for what it waits for, and end that. The case closes when the order goes on.',
    who: 'operator',
    page: PAGE,
  },

  screening_unavailable: {
    means: 'The screener does not answer, and money that has to be screened before it leaves waits.',
    remedy:
      'Get the screener to answer; everything goes on by itself. For a bounded time two people may let older results count.',
    who: 'operator',
    page: PAGE,
  },
  sanctions_hit: {
    means:
      'A name is like one on a sanctions list. Nothing of theirs is paid out or refunded until people have decided.',
    remedy:
      'List the hits (sanctions hits), read alert and entry side by side (sanctions hit), and decide: sanctions confirm blocks the customer, sanctions dismiss takes two. Then release what is on hold. Tell neither partner nor customer.',
    who: 'operator',
    page: 'sanctions.md',
  },
  sanctions_list: {
    means: 'A sanctions list cannot be read, or is older than allowed. While it is older, no money leaves.',
    remedy: 'Read the reason, and mend the source of the list or name another one. The case closes by itself.',
    who: 'operator',
    page: 'sanctions.md',
  },
  hold_too_late: {
    means:
      'An order was held while one of its refunds had been submitted already. The others are stopped; this one may arrive.',
    remedy:
      'Ask the bank to recall it where it must not be paid. The order is held when this refund has ended, and so is the case.',
    who: 'operator',
    page: PAGE,
  },
  block_too_late: {
    means: 'A customer was blocked while payouts of theirs had been submitted already. Those may still arrive.',
    remedy:
      'Ask the bank to recall what it has not paid yet. Watch the payouts; what comes back is not paid again while the block lasts.',
    who: 'operator',
    page: PAGE,
  },

  // A customer waiting for a decision.
  verification_review: {
    means: 'A customer gave details, and no program verifies here: a person decides.',
    remedy: 'Look at the details. Verify to a level, let them be given again, or refuse for good; each with a reason.',
    who: 'operator',
    page: PAGE,
  },
  verification_overdue: {
    means: 'The verifier has had no result about these details for longer than it should take. The customer waits.',
    remedy:
      'Ask the provider what it waits for, and why it is not answered if readiness says so. The case closes when the result is there; it is asked again all the time.',
    who: 'operator',
    page: PAGE,
  },
  identity_duplicate: {
    means: 'A customer gave the document number that another customer of the same partner gave before.',
    remedy:
      'Compare the two (customer review). One person with two accounts: block one, or ask the partner. A mistyped number: have it given again. Close the case then; until the number differs, a review of either takes two people.',
    who: 'operator',
    page: PAGE,
  },
  information_overdue: {
    means: 'The partner has not answered a question about its customer by the day it was asked for.',
    remedy:
      'Ask the partner again, withdraw the question (customer withdraw-question), or decide the review without it. The case closes with the answer.',
    who: 'partner',
    page: PAGE,
  },
  information_answered: {
    means: 'The partner has answered a question about its customer.',
    remedy: 'Read the answer (customer answers), which closes the case, and decide the review where it waits for that.',
    who: 'operator',
    page: PAGE,
  },

  monitoring: {
    means: 'A rule of transaction monitoring found something in the orders of this customer. No money is held for it.',
    remedy:
      'Look at what it saw (monitoring findings), at the customer and its orders. Block the customer, report it as the law says, or close the case with what explains it. Tell neither customer nor partner.',
    who: 'operator',
    page: 'monitoring.md',
  },

  // Unexpected money. It is booked to suspense.
  overpaid: {
    means: 'More came than the order asked for. The order goes on, the rest is in suspense.',
    remedy:
      'Give the rest back: bank money to its account (deposit return), coins to an address that the customer names.',
    who: 'operator',
    page: PAGE,
  },
  deposit_unknown_target: {
    means: 'Money came that names no order of ours.',
    remedy:
      'See who paid (case payer), and look for the order by amount, day and reference. Give it to its order (deposit assign), or back to where it came from (deposit return).',
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
    remedy: 'Give it back: bank money to its account (deposit return), coins to an address that the customer names.',
    who: 'operator',
    page: PAGE,
  },
  deposit_held: {
    means: 'An operator holds what lies in suspense of this deposit. No refund and no order is made of it.',
    remedy: 'Find out whose it is and whether it may leave. Release it (deposit release), and it goes on where it was.',
    who: 'operator',
    page: PAGE,
  },
  dormant_soon: {
    means: 'Money of a customer is unclaimed for so long that it becomes dormant, on the day that the reason names.',
    remedy:
      'Have the partner ask its customer once more where it goes. Any step about the money ends this, or take it out (dormant wake-deposit, dormant wake-order).',
    who: 'partner',
    page: PAGE,
  },
  dormant: {
    means: 'Money of a customer is unclaimed for longer than the policy allows. It stands apart, and is still owed.',
    remedy:
      'Do with it what the law of its country asks for. Where its owner comes, act as always: naming where it goes wakes it, and so does an operator (dormant wake-deposit, dormant wake-order).',
    who: 'customer',
    page: PAGE,
  },
  deposit_lost: {
    means: 'A deposit that we had booked was reversed by its chain or bank. The loss is booked.',
    remedy:
      'Ask the partner to claim it from the customer. What is paid again is given to the order (deposit assign), in parts too.',
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

  // Refunds.
  refund_destination: {
    means: 'Money is to go back, and nobody has said where to; or only an operator has, for other money of the order.',
    remedy: 'The customer names an address or account, through the partner; or you do. It goes there once screened.',
    who: 'customer',
    page: PAGE,
  },
  refund_destination_held: {
    means: 'Money is to go back, and screening would not let it go to the destination named.',
    remedy:
      'Name another destination, or let it go past what was hit (pastHits) with another operator. If the law says so, block the order.',
    who: 'operator',
    page: PAGE,
  },
  refund_short: {
    means: 'Money is to go back, and the wallet it leaves from has too little.',
    remedy: 'Fund that wallet, or wait for its sweeps. The refund goes on by itself.',
    who: 'operator',
    page: PAGE,
  },
  refund_rejected: {
    means: 'The rail would not pay a refund. Nothing has left; the money is in suspense.',
    remedy: 'Name another destination, or the same one again when the cause is gone.',
    who: 'operator',
    page: PAGE,
  },
  return_confirmed: {
    means: 'A customer has confirmed, on a page of ours, the address that coins in suspense go back to.',
    remedy: 'Look at the deposit, then return it (deposit return): without an address it goes to the confirmed one.',
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
    means:
      'A bank or chain took a deposit back after we had paid for it. The customer owes it, and makes no new orders.',
    remedy:
      'Claim it through the partner. Give each payment, or a part of it (--amount), to the order (deposit assign); when all is paid, lift the block. What nobody will pay is written off (case correct as debt). Where the payout came back as well, undo the exchange (case correct as undone). A transfer that is final again ends both by itself.',
    who: 'operator',
    page: PAGE,
  },

  // Payouts.
  payout_returned: {
    means: 'A payout that had left came back. The money is in suspense.',
    remedy: 'Ask the customer for another account, then pay again, or give the deposit back.',
    who: 'customer',
    page: PAGE,
  },
  payout_unknown: {
    means: 'A payout was submitted and nobody can say what became of it.',
    remedy:
      'Ask the bank or look at the chain. Do not pay again by hand: it settles or is refused when they answer. Where it was signed and is not broadcast, lift what stands against it, or cancel the movement that the case names (movement cancel, by two people): the payouts behind it wait for that. Where the bank may have forgotten its key, have it look into its archive; if it never paid and cannot any more, two people say so (payout never-paid).',
    who: 'operator',
    page: PAGE,
  },
  payout_contradiction: {
    means: 'Two reports about one payout cannot both be true, for instance refused and then paid.',
    remedy:
      'Believe the statement or the chain, not the answer. What still held the money is paid with it; where it was priced anew since, two people settle it (order settle-by). Else it was paid twice: claim one back.',
    who: 'operator',
    page: PAGE,
  },
  unexplained_debit: {
    means: 'Money left a wallet or account of ours, and no payout of ours explains it.',
    remedy:
      'Stop the rail at once if it may be theft. Then find out who moved it. A charge of the bank is booked as one (case correct as fee). Where the bank recalled a part of a credit, name its deposit: the customer owes that part (case correct as recall). After a restore it may have paid a payout that waits: settle that by it (payout settle-by), or say that it paid none of ours (debit foreign). Where it paid an order that is lost, it is booked with what was given for it (case correct as lost_order).',
    who: 'operator',
    page: PAGE,
  },
  movement_unmatched: {
    means:
      'Our wallet sent a transaction that stands in no row of ours: after a restore a payout made since, or theft. Or the signer has signed one, and no block holds it.',
    remedy:
      'Match it with the payout, refund or own transfer it was (movement match; --otherAmount where it left with another amount), or say that it is not ours (movement foreign). One that is signed and in no block ends by itself where it is mined; where every node has dropped it, cancel it (movement cancel). Each takes two.',
    who: 'operator',
    page: 'backup.md',
  },
  uncovered: {
    means: 'More has left a wallet than the books had free there.',
    remedy: 'Find the money that came in unseen, or the payout booked twice, before paying out more.',
    who: 'operator',
    page: PAGE,
  },

  // Findings of reconciliation.
  break_missing_in_ledger: {
    means: 'Chain or bank show a movement in a wallet of ours that the books do not know.',
    remedy:
      'Find out what it was by its name outside, and correct the books by an entry (break correct) of the kind that it was: the page has the kinds.',
    who: 'operator',
    page: 'reconciliation.md',
  },
  break_missing_outside: {
    means: 'The books have a movement that chain or bank do not show, or show no longer.',
    remedy:
      'Pay nothing more out of that wallet on its strength. Ask node or bank, then correct the books by an entry (break correct).',
    who: 'operator',
    page: 'reconciliation.md',
  },
  break_amount: {
    means: 'The books and the outside know the same movement with different amounts, or one of them knows it twice.',
    remedy:
      'Compare the amounts in the case with the chain or the statement, and correct the books by an entry (break correct).',
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
  rail_halted: {
    means: 'A chain halted by itself, because going on could book what is not true.',
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
  price_halted: {
    means:
      'Markets do not quote: the price that they rest on jumped, or too few sources say one. The case names them, and closes when the last goes on. Money under way goes on.',
    remedy:
      'Compare the price with the world. If it is right, confirm the level (price confirm-pair, or price confirm for one market). If it is wrong, mend or remove the source; then look at unpaid orders (orders unpaid).',
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
  sweep_rejected: {
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

  // Operators.
  action_delayed: {
    means: 'The one operator of this installation proposed an action that takes two people where there are several.',
    remedy: 'Look at the proposal. If it was not you, decline it at once, revoke the token, and lay the kill switch.',
    who: 'operator',
    page: PAGE,
  },

  // Webhook deliveries.
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

  // After a leak.
  partner_contained: {
    means:
      'A key of this partner leaked. What was made since then is held: keys, endpoints, links, accounts, addresses.',
    remedy: 'Look at its activity. Release or reject what is held, item by item; the last one ends this.',
    who: 'operator',
    page: 'runbooks/leaked-key.md',
  },
} as const satisfies Record<string, CaseMeaning>;

export type CaseKind = keyof typeof CASE_KINDS;

export const isCaseKind = (text: string): text is CaseKind => Object.hasOwn(CASE_KINDS, text);

/** A row written by another version of the server may have a kind that this one does not know. */
export const meaningOf = (kind: string): CaseMeaning =>
  isCaseKind(kind)
    ? CASE_KINDS[kind]
    : {
        means: 'A newer version of the server opened this.',
        remedy: 'Look it up in the documentation of that version.',
        who: 'operator',
        page: PAGE,
      };

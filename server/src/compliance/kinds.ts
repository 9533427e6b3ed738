/**
 * Kinds of cases: what happened, what it means, what to do, and who acts next.
 *
 * Written for a tired reader who sees the kind for the first time. A kind without a row here does not compile. Ids and
 * amounts are in the case itself; here are only words.
 *
 * Long because it is one table.
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
      'Read the reason. Release the order if all is in order (order release), refund the deposit (order refund), or block it if the law requires that (order block).',
    who: 'operator',
    page: PAGE,
  },
  payout_held: {
    means: 'The bank or chain rejected the payout. No money has left; we still hold it.',
    remedy: 'Retry when the cause is gone (order retry), or refund the deposit (order refund).',
    who: 'operator',
    page: PAGE,
  },
  refund_held: {
    means: 'The bank or chain rejected the refund. No money has left; we still hold the deposit.',
    remedy: 'Find out why it was rejected. Then retry (order retry-refund), to another destination if needed.',
    who: 'operator',
    page: PAGE,
  },
  frozen: {
    means: 'The order was blocked by law. Its money is in a separate account.',
    remedy:
      'The money stays until a legal release is recorded (order release-blocked). Keep the legal documents with the case.',
    who: 'nobody',
    page: PAGE,
  },
  treasury_short: {
    means:
      'Customers have paid, and the wallet or account for payouts has too little. The reason says how much is missing, how many orders wait, and which is first.',
    remedy:
      'Fund that wallet or account. The server then pays the orders, oldest first, and closes the case. If one large order keeps small ones waiting, let them pass it (shortage pass).',
    who: 'operator',
    page: PAGE,
  },
  rail_unread: {
    means:
      'Orders expired before their chain or bank had been read up to their deadlines. A deposit that arrived in time may be booked as late.',
    remedy:
      'Repair the connection to the chain or bank (/readyz says why it is behind). Then assign or refund the late deposits of these orders.',
    who: 'operator',
    page: PAGE,
  },
  overdue: {
    means:
      'The order has been in one state for longer than its policy allows. While a kill switch is on, one case about the switch names all orders that it stops.',
    remedy:
      'Read what it waits for (order trace), and remove the cause. The case closes when the order leaves this state. A case about a kill switch closes when the switch is lifted; an order that is still overdue then gets a case of its own.',
    who: 'operator',
    page: PAGE,
  },

  screening_unavailable: {
    means:
      'A screening provider does not answer: the subject says which. Money that must be screened before it leaves is waiting.',
    remedy:
      'Find out why the provider does not answer. Waiting payments continue by themselves when it does. Two people may accept older results for a limited time (screening extend); that does not apply to sanctions lists.',
    who: 'operator',
    page: PAGE,
  },
  sanctions_hit: {
    means:
      'A name is similar to one on a sanctions list. Nothing is paid out or refunded to this customer until people have decided.',
    remedy:
      'List the hits (sanctions hits), compare the customer with the entry of the list (sanctions hit), and decide: sanctions confirm blocks the customer; sanctions dismiss takes two people. Then release the orders on hold. Do not tell the partner or the customer.',
    who: 'operator',
    page: 'sanctions.md',
  },
  sanctions_list: {
    means:
      'The server cannot read a sanctions list, a version of it waits for two people, or it is older than SANCTIONS_MAX_AGE_S allows. While it is too old, no money leaves.',
    remedy:
      'Read the reason. A version that waits is accepted with sanctions accept. Otherwise repair the source of the list, or configure another one, for example a file that you have downloaded. The command screening extend does not apply to sanctions lists. The case closes by itself.',
    who: 'operator',
    page: 'sanctions.md',
  },
  names_unscreened: {
    means:
      'Names of customers or accounts cannot be compared with the sanctions lists: most likely their data does not decrypt. Their money waits; all others are compared.',
    remedy:
      'Read the subjects. If the master key was exchanged or a restore mixed keys, repair that. The server tries again every ten minutes and closes the case when all are compared.',
    who: 'operator',
    page: 'sanctions.md',
  },
  address_risk_hit: {
    means:
      'The provider of address risk finds an address of this money too risky. Money from it and to it is held until people have decided.',
    remedy:
      'List the hits (risk hits), read what the provider says about the address (risk answers), and decide: risk confirm keeps the money; risk dismiss takes two people. Then release or refund what is on hold. Do not tell the partner or the customer.',
    who: 'operator',
    page: 'address-risk.md',
  },
  travel_rule_missing: {
    means:
      'The travel rule asks for data of the other side of this order. The partner has not named the wallet, the owner has not proven ownership, or the provider of the wallet has not answered or sent its data.',
    remedy:
      'See what is missing (travel show). The payout waits until its partner names the wallet (POST /v1/orders/<order>/wallets), or the provider answers. Ask the partner; list an unknown provider (travel provider). At the deadline it is held, leaves without the data, the deposit goes back, or the order is refused, as the rule says (travel rules). If the payout is held: retry it when the data has arrived, let it pass (two people), or refund the deposit.',
    who: 'partner',
    page: 'travel-rule.md',
  },
  travel_rule_too_late: {
    means:
      'The data that the travel rule asks for was missing at the deadline, and the rule refuses such orders. The order is not paid: neither later data nor an approval changes that. Its deposit is held.',
    remedy:
      'Find out where the deposit can return to: its sender, or an address or account that the partner names. Refund it (order refund, two people). If the law requires to keep it, freeze the order.',
    who: 'operator',
    page: 'travel-rule.md',
  },
  hold_too_late: {
    means:
      'An order was held after one of its refunds had been submitted. That refund may still arrive; the others are stopped.',
    remedy:
      'If the refund must not be paid, ask the bank to recall it. When the refund has settled or failed, the order goes on hold and this case closes.',
    who: 'operator',
    page: PAGE,
  },
  block_too_late: {
    means:
      'A customer was blocked, by an operator or for a debt, after payouts to that customer had been submitted. Those payouts may still arrive.',
    remedy:
      'Ask the bank to recall the payouts that it has not executed. Watch them: a payout that comes back is not sent again while the customer is blocked. When a block for a debt ends with the debt, the case closes.',
    who: 'operator',
    page: PAGE,
  },

  // A customer waiting for a decision.
  verification_review: {
    means:
      'A customer submitted details, and a person must verify them: no provider does it here, or the provider read another name from the document than the customer typed.',
    remedy:
      'Read the details (customer review), and decide with a reason (customer decide): verify the customer to a level, ask for the details again, or reject for good.',
    who: 'operator',
    page: PAGE,
  },
  verification_overdue: {
    means: 'The verification provider has returned no result within the expected time. The customer waits.',
    remedy:
      'Ask the provider why there is no result. If /readyz says that the provider does not answer, repair the connection. The server keeps asking and closes the case when the result arrives.',
    who: 'operator',
    page: PAGE,
  },
  identity_duplicate: {
    means:
      'A customer has the identity document of another customer of the same partner: its number, typed or read by the verifier, or the same file.',
    remedy:
      'Compare the two (customer review). If one person has two accounts, block one or ask the partner. If the number was mistyped, ask for it again. If the file is a placeholder that the program sends for all its customers, ask the partner to stop. Then close the case. While the documents are equal, a review of either customer takes two people.',
    who: 'operator',
    page: PAGE,
  },
  information_overdue: {
    means: 'Neither the partner nor the customer has answered a question about the customer by the requested day.',
    remedy:
      'Ask the partner again, withdraw the question (customer withdraw-question), or decide the review without it. The case closes with the answer.',
    who: 'partner',
    page: PAGE,
  },
  information_answered: {
    means: 'The partner or the customer has answered a question about the customer.',
    remedy:
      'Read the answer (customer answers); reading it closes the case. If a review waits for this answer, decide it now.',
    who: 'operator',
    page: PAGE,
  },

  monitoring: {
    means: 'A rule of transaction monitoring found something in the orders of this customer. No money is held for it.',
    remedy:
      'Read the findings (monitoring findings), the customer and the orders. Block the customer, report to the authority if the law requires it, or close the case with the explanation. Do not tell the customer or the partner.',
    who: 'operator',
    page: 'monitoring.md',
  },

  // Unexpected money. It is booked to suspense.
  overpaid: {
    means: 'The deposit is larger than the order. The order continues; the excess is in suspense.',
    remedy:
      'Refund the excess: bank money to the account that paid (deposit return), coins to an address that the customer names.',
    who: 'operator',
    page: PAGE,
  },
  deposit_unknown_target: {
    means: 'A payment arrived that belongs to no known order.',
    remedy:
      'See who paid (case payer), and look for the order by amount, day and reference. Assign the payment to its order (deposit assign), or return it to the payer (deposit return).',
    who: 'operator',
    page: PAGE,
  },
  deposit_wrong_asset: {
    means: 'The deposit is in another asset than the order.',
    remedy: 'Refund it in the same asset, to an address or account that the customer confirms.',
    who: 'operator',
    page: PAGE,
  },
  deposit_wrong_chain: {
    means: "The deposit arrived on another chain than the order's, at the order's address.",
    remedy: 'Refund it on the chain it came on, to an address that certainly belongs to the customer on that chain.',
    who: 'operator',
    page: PAGE,
  },
  deposit_late: {
    means: 'The deposit arrived after its order had ended.',
    remedy:
      'Refund it, or ask the partner for a new order of this customer and assign the deposit to it (deposit assign).',
    who: 'operator',
    page: PAGE,
  },
  deposit_second: {
    means: 'A second deposit arrived for an order that already had one.',
    remedy:
      'Refund it: bank money to the account that paid (deposit return), coins to an address that the customer names.',
    who: 'operator',
    page: PAGE,
  },
  deposit_held: {
    means:
      'An operator holds the part of this deposit that is in suspense. It can be neither refunded nor assigned to an order.',
    remedy:
      'Find out who owns it and whether it may leave. After a release (deposit release) it continues where it was.',
    who: 'operator',
    page: PAGE,
  },
  dormant_soon: {
    means: 'A customer has not claimed this money for so long that it becomes dormant on the day named in the reason.',
    remedy:
      'Ask the partner to contact the customer once more for a destination. Any step about the money ends the announcement; so do dormant wake-deposit and dormant wake-order.',
    who: 'partner',
    page: PAGE,
  },
  dormant: {
    means:
      'A customer has not claimed this money within the time of the policy. It is in a separate account, and still owed to the customer.',
    remedy:
      'Follow the law on unclaimed money of that country. If the owner returns, refund it as usual: it is active again when a destination is named, or by dormant wake-deposit or dormant wake-order.',
    who: 'customer',
    page: PAGE,
  },
  deposit_lost: {
    means: 'The chain or bank reversed a deposit that was already booked. The loss is booked.',
    remedy:
      'Ask the partner to claim the amount from the customer. Assign each new payment to the order (deposit assign); parts are possible.',
    who: 'operator',
    page: PAGE,
  },
  unexpected_credit: {
    means: 'Money arrived at the wallet or account for payouts, from an unknown sender.',
    remedy:
      'Find out whose it is. If it is yours, list the sender as a funding source. Otherwise return it, or assign it to its order. If it came from an own address whose transfer is not booked yet, wait: the server books it with that transfer.',
    who: 'operator',
    page: PAGE,
  },

  // Refunds.
  refund_destination: {
    means: 'A refund has no destination, or only one that an operator named for other money of the order.',
    remedy:
      'The customer names an address or account through the partner, or you name it (order destination). The refund is sent after screening.',
    who: 'customer',
    page: PAGE,
  },
  refund_destination_held: {
    means: 'Screening does not allow a refund to the destination that was named.',
    remedy:
      'Name another destination, or let it pass the screening hit (pastHits), which takes another operator. If the law requires it, block the order.',
    who: 'operator',
    page: PAGE,
  },
  refund_short: {
    means:
      'Refunds wait because the wallet or account that pays them has too little. The reason says how much is missing, how many wait, and which is first.',
    remedy:
      'Fund that wallet or account, or wait for sweeps into it. The server then sends the refunds and closes the case.',
    who: 'operator',
    page: PAGE,
  },
  refund_rejected: {
    means: 'The bank or chain rejected a refund. No money has left; it is in suspense.',
    remedy: 'Name another destination, or the same one again when the cause is gone.',
    who: 'operator',
    page: PAGE,
  },
  return_confirmed: {
    means: 'A customer has confirmed, on our page, the address to which coins in suspense are returned.',
    remedy: 'Check the deposit, then return it (deposit return). Without an address, it goes to the confirmed one.',
    who: 'operator',
    page: PAGE,
  },
  refund_returned: {
    means: 'A refund was sent and came back. The money is in suspense, and still owed to the customer.',
    remedy: 'Ask the customer for another destination and name it.',
    who: 'customer',
    page: PAGE,
  },
  customer_owes: {
    means:
      'The bank recalled a deposit, or the chain reversed it, after the payout. The customer owes the amount and is blocked from new orders.',
    remedy:
      'Claim the amount through the partner. Assign each payment, or a part of it (--amount), to the order (deposit assign). When all is paid, lift the block (customer unblock). Write off what will not be paid (case correct as debt). If the payout came back too, undo the exchange (case correct as undone). If the reversed transfer becomes final again, debt and block end by themselves.',
    who: 'operator',
    page: PAGE,
  },

  // Payouts.
  payout_returned: {
    means: 'A payout was sent and came back, or more of a payment came back than was sent. The money is in suspense.',
    remedy:
      'Ask the customer for another account, then pay again (order destination), or refund the deposit. What came back beyond a payment is not owed to the customer: ask the bank why it sent that.',
    who: 'customer',
    page: PAGE,
  },
  payout_unknown: {
    means: 'A payout was submitted, and its outcome is unknown.',
    remedy:
      'Ask the bank, or look at the chain. Do not pay again by hand: the payout ends as settled or rejected when they answer. If it is or may be signed, and is not broadcast, remove the kill switch or block that stops it, or cancel the movement that the case names (movement cancel, two people); later payouts of that wallet wait for it. If the bank may have forgotten the payment key, ask it to search its archive. If it never paid and no longer can, two people record that (payout never-paid).',
    who: 'operator',
    page: PAGE,
  },
  payout_contradiction: {
    means: 'Two reports about one payout contradict each other, for example rejected and then paid.',
    remedy:
      'Trust the bank statement or the chain, not the earlier answer. If the order still held the money, the payment settles it. If the order was requoted since, two people settle it (order settle-by). If a refund of the rest had replaced the refund that was paid, it ends unpaid, and the customer owes what was recalled. Otherwise it was paid twice: claim one payment back, and close the case.',
    who: 'operator',
    page: PAGE,
  },
  unexplained_debit: {
    means: 'Money left one of our wallets or accounts, and no payout or transfer in the books explains it.',
    remedy:
      'If it may be theft, stop the rail at once (kill-switch set). Then find out who moved it. Bank charge: case correct as fee. Fees paid to a partner: case correct as partner_fees, naming the partner. Part of a credit that the bank recalled: case correct as recall, naming the deposit; the customer then owes that part. A payout file that its bank booked as one, with another amount: two people settle its payouts by it (bank settle-by). After a restore, it may be a payout that waits in the books: settle that payout by it (payout settle-by), or record that it paid none of ours (debit foreign). If it paid an order that the restore lost, book both sides (case correct as lost_order).',
    who: 'operator',
    page: PAGE,
  },
  transfer_held: {
    means: 'A transfer to an own address cannot leave, or was reverted: the reason says why. At most a fee was spent.',
    remedy:
      'Remove the cause, and it leaves by itself. Or cancel it (treasury cancel), and propose another one. If it is signed and must never leave, cancel the movement of its nonce (movement cancel, two people). If the transfer was reverted, close the case.',
    who: 'operator',
    page: 'runbooks/treasury.md',
  },
  movement_unmatched: {
    means:
      'Our wallet sent a transaction that is not in the books: a payout made after the backup that was restored, or theft. Or the signer has signed a transaction that is in no block.',
    remedy:
      'Match it with its payout, refund or own transfer (movement match; with --otherAmount if the amount differs), or record that it is not ours (movement foreign). A signed transaction that is in no block needs no action if it is mined. If every node has dropped it, cancel it (movement cancel). Each of these takes two people.',
    who: 'operator',
    page: 'backup.md',
  },
  uncovered: {
    means: 'More has left a wallet than the books had available in it.',
    remedy: 'Before you pay out more, find the deposit that was not booked, or the payout that was booked twice.',
    who: 'operator',
    page: PAGE,
  },

  // Findings of reconciliation.
  break_missing_in_ledger: {
    means: 'The chain or bank shows a movement of our wallet or account that is not in the books.',
    remedy:
      'Look it up at the chain or bank by its transaction hash or reference. Then correct the books with an entry of the right kind (break correct); the page lists the kinds.',
    who: 'operator',
    page: 'reconciliation.md',
  },
  break_missing_outside: {
    means: 'The books have a movement that the chain or bank does not show, or no longer shows.',
    remedy:
      'Do not pay out of that wallet in reliance on this movement. Ask the node or bank, then correct the books with an entry (break correct).',
    who: 'operator',
    page: 'reconciliation.md',
  },
  break_amount: {
    means: 'The books and the chain or bank have different amounts for one movement, or one of them has it twice.',
    remedy:
      'Compare the amounts in the case with the chain or the statement, and correct the books with an entry (break correct).',
    who: 'operator',
    page: 'reconciliation.md',
  },
  break_balance: {
    means: 'The balance that a node or bank reports differs from the sum of the movements it has shown.',
    remedy: 'Ask a second node, or the bank. Either the reported balance is wrong, or a movement is missing.',
    who: 'operator',
    page: 'reconciliation.md',
  },

  // Rails and wallets.
  rail_halted: {
    means: 'The server halted a chain, because the books could become wrong if it went on.',
    remedy:
      'Read the reason, and repair the node or the wallet. Then resume as the page says (rail clear; kill-switch lift if an operator has switched it off too).',
    who: 'operator',
    page: PAGE,
  },
  rail_failing: {
    means: 'Our software cannot book what a chain or bank reported: a bug. The rail waits at that report.',
    remedy:
      'Read the reason and the log, and have the bug fixed. The rail then continues by itself; no report is lost.',
    who: 'operator',
    page: PAGE,
  },
  statement_line_refused: {
    means: 'A line of a bank statement could not be booked.',
    remedy: "Compare the line with the bank's statement. If money moved, book it by hand.",
    who: 'operator',
    page: PAGE,
  },
  statement_gap: {
    means:
      'The balances or numbers of two bank statements do not follow each other: a statement between them is missing.',
    remedy:
      'Download the missing statement from the bank, and import it (bank take). Its lines are not booked until then.',
    who: 'operator',
    page: PAGE,
  },
  price_halted: {
    means:
      'Markets give no quotes: their price jumped, or too few sources report one. The case names the markets, and closes when the last one quotes again. Orders that are already paid continue.',
    remedy:
      'Compare the price with other exchanges. If it is right, confirm the level (price confirm-pair, or price confirm for one market). If it is wrong, repair or remove the source; then check unpaid orders (orders unpaid).',
    who: 'operator',
    page: PAGE,
  },
  treasury_low: {
    means: 'A wallet or account for payouts is below its alarm level.',
    remedy: 'Fund it. The case closes by itself.',
    who: 'operator',
    page: PAGE,
  },
  gas_short: {
    means: 'No wallet has the native asset to pay the network fee of a sweep.',
    remedy: 'Send the native asset to the hot wallet of that chain. The case closes by itself.',
    who: 'operator',
    page: PAGE,
  },
  sweep_rejected: {
    means: 'The node rejects a sweep.',
    remedy: 'Read the reason: usually the network fee or the node. The server tries again by itself.',
    who: 'operator',
    page: PAGE,
  },
  sweep_failed: {
    means: 'A sweep was mined and failed. The tokens are still at the deposit address.',
    remedy: 'Look at the chain transaction. The server tries again after a pause.',
    who: 'operator',
    page: PAGE,
  },

  // Operators.
  action_delayed: {
    means:
      'The only operator of this installation proposed an action that takes two people in an installation with several. It can be confirmed after a delay.',
    remedy: 'Read the proposal. If you did not make it, decline it at once, revoke the token, and set a kill switch.',
    who: 'operator',
    page: PAGE,
  },
  change_failed: {
    means: 'A planned change of terms was refused at its time. The terms stay as they are.',
    remedy:
      'Read the reason and the planned change (plan). Change the term now, or plan it again. Then close the case; orders meanwhile have the old terms (report affected).',
    who: 'operator',
    page: PAGE,
  },
  recovery_code_used: {
    means:
      'An operator enrolled a passkey with a recovery code. Their earlier passkeys and sessions ended. Anyone with that passkey can sign in as this operator.',
    remedy:
      'Ask the operator, by telephone or in person, whether it was them. If it was not, disable the operator at once (operator disable) and read what was done since (audit). Another operator closes this case.',
    who: 'operator',
    page: 'sessions.md',
  },

  // Webhook deliveries.
  webhook_undelivered: {
    means:
      "A partner's endpoint did not accept an event for three days. The server gave up on that event; it still sends later ones.",
    remedy: 'The partner repairs its receiver or its address, then replays the missed events.',
    who: 'partner',
    page: PAGE,
  },
  webhook_off: {
    means:
      "A partner's endpoint accepted no event for five days and was switched off. No event is sent there any more.",
    remedy: 'The partner repairs its receiver, switches the endpoint on again, then replays the missed events.',
    who: 'partner',
    page: PAGE,
  },

  // After a leak.
  partner_contained: {
    means:
      'A key of this partner leaked. Everything created since then is held: keys, endpoints, links, accounts, addresses.',
    remedy:
      "Read the partner's activity (activity). Release or reject each held item (held); the last decision closes the case.",
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

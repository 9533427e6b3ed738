/**
 * Messages: every word that the pages show, one catalogue per language. A new language is one more catalogue of the same
 * type and a line in `CATALOGUES`; leaving a message out does not compile.
 */
import type { Direction, OrderState, PublicReason, PublicRefund } from '../../orders/index.ts';
import { moment, verificationEn } from './messages.verification.ts';

export type Messages = typeof en;

type Said = Readonly<Record<string, string>>;

const en = {
  lang: 'en',
  dir: 'ltr' as 'ltr' | 'rtl',

  error: 'Error',
  errorsTitle: 'There is a problem',
  optional: 'optional',
  choose: 'Choose…',
  with: (partner: string) => `For ${partner}`,
  backTo: (partner: string) => `Back to ${partner}`,
  mayClose: 'You can close this window.',
  goingBack: (partner: string) => `You are on your way back to ${partner}.`,

  login: {
    title: 'Log in',
    intro: (ending: string) => `We send a six-digit code to your phone number ending in ${ending}.`,
    send: 'Send code',
    sent: (ending: string) =>
      `We are sending a code to your phone number ending in ${ending}. It is valid for five minutes.`,
    sentIfPossible: (ending: string) =>
      `If the phone number ending in ${ending} can receive a code now, we are sending one. It is valid for five minutes. If none arrives, too many codes were requested: try again in an hour, or ask the app that sent you here for a link of your own.`,
    hint: (code: string) => `This sandbox sends no messages: the code is ${code}.`,
    code: 'Six-digit code',
    enter: 'Log in',
    again: 'Send a new code',
    noPhone: 'We have no phone number for you. Ask the app that sent you here to give us one.',
    noSender: 'You cannot log in here yet: this installation cannot send codes.',
    notSent: 'We could not send the code. Try again in a moment.',
  },

  proof: {
    title: 'Is it still you?',
    intro:
      'The code was right, but this phone number has not been used here for a long time. Phone companies give old numbers to new people, so we ask for more.',
    mine: 'If you were a customer here with this number and gave us an identity document, enter its number and your date of birth.',
    number: 'Number of the identity document',
    dob: 'Date of birth',
    send: 'Continue as the same person',
    wrong: 'These answers do not match. After three wrong answers you have to wait for a day.',
    locked: 'There were too many wrong answers. Try again in a day, or continue as a new customer.',
    asNew:
      'If the number is new to you, or you cannot answer, continue as a new customer. Orders that were placed with this number before are then no longer shown.',
    begin: 'Continue as a new customer',
    released: {
      title: 'The number is yours',
      text: (partner: string) =>
        `This phone number no longer belongs to the former customer. Go back to ${partner} and begin again: you are a new customer there.`,
    },
  },

  ...verificationEn,

  bank: {
    title: 'Add a bank account',
    currencyIntro: 'Choose the currency of the account to which we pay you.',
    currency: 'Currency',
    goOn: 'Continue',
    other: 'Choose another currency',
    intro: (currency: string) => `An account in ${currency}.`,
    add: 'Add account',
    fields: {
      account: 'Account number',
      ifsc: 'IFSC code',
      iban: 'IBAN',
      sortCode: 'Sort code',
      routingNumber: 'Routing number',
      bankCode: 'Bank code',
    },
    hints: { ifsc: 'Eleven letters and digits, such as HDFC0001234.', iban: 'It begins with two letters.' } as Record<
      string,
      string
    >,
    none: 'No currency is available at the moment.',
    addedTitle: 'Account added',
    added: (currency: string, hint: string) =>
      hint === '' ? `Your account in ${currency}.` : `Your account in ${currency} ending in ${hint}.`,
  },

  phone: {
    title: 'Your phone number',
    intro: 'We send a six-digit code to it, so that only you can see and continue this order.',
    label: 'Phone number',
    hint: 'Begin with the country code, as in +91 98765 43210.',
    send: 'Send code',
    other: 'Use another phone number',
    enough: 'Too many phone numbers were tried with this link. Ask the app that sent you here for a new one.',
  },

  checkout: {
    title: { onramp: (coin: string) => `Buy ${coin}`, offramp: (coin: string) => `Sell ${coin}` },
    give: { onramp: 'You pay', offramp: 'You send' },
    get: 'You receive',
    network: 'Network',
    method: 'Paid by',
    rate: 'Rate',
    rateOf: (coin: string, rate: string, fiat: string) => `1 ${coin} = ${rate} ${fiat}`,
    fees: {
      operator: 'Our fee',
      partner: (partner: string) => `Fee of ${partner}`,
      rail: 'Fee of the bank',
      chain: 'Fee of the network',
      tax: 'Tax withheld',
    },
    preview: 'This is the current price. We fix it when you log in.',
    goOn: 'Continue',
    goodUntil: (until: Date) => `This price is valid until ${until.toISOString().slice(11, 19)} UTC.`,
    moved: 'The price has changed. Check the new price, and confirm again if you agree.',
    confirmAgain: 'This form was out of date. Check the price below, and confirm again if you agree.',
    confirm: { onramp: 'Buy', offramp: 'Sell' },
    wallet: 'Your wallet address',
    walletHint: (chain: string) =>
      `Your own address on the network ${chain}. Check it twice: coins sent to a wrong address are lost.`,
    walletNamed: (partner: string) => `We send your coins to this address, which ${partner} gave us.`,
    account: 'Bank account you are paid to',
    accountEnding: (hint: string) => (hint === '' ? 'Your account' : `Account ending in ${hint}`),
    addAccount: 'Add another account',
    back: 'Back',
    notVerified: 'Your verification level is too low for this order. Ask the app that sent you here what to do.',
    limits: (least: string, most: string) =>
      `This amount is outside your limits: it must be between ${least} and ${most}.`,
    customerLimit: (left: string, most: string, period: string) =>
      `This is more than you may trade${period === 'day' ? ' in 24 hours' : period === 'month' ? ' in 30 days' : ' at once'}: ${left} of ${most} are left.`,
    belowFees: 'The fees would take all of this amount.',
    notNow: 'You cannot place this order at the moment. Try again later, or ask the app that sent you here.',
    noPrice: 'We have no price at the moment. Try again in a minute.',
    gone: { title: 'This offer has ended', text: 'Ask the app that sent you here for a new link.' },
    used: {
      title: 'This link has been used',
      text: 'Someone else placed an order with it. Ask the app that sent you here for a link of your own.',
    },

    order: 'Order',
    until: 'Until',
    payBy: (until: Date) => `before ${moment(until)}`,
    send: (amount: string, chain: string) => `Send exactly ${amount} on the network ${chain} to this address:`,
    onlyThis: (coin: string, chain: string) =>
      `Send only ${coin}, and only on the network ${chain}. Other coins, or the same on another network, may be lost.`,
    qr: (address: string) => `QR code of the address ${address}`,
    pay: (amount: string) => `Transfer exactly ${amount} to this account, with this reference:`,
    reference: 'Reference',
    onlyOwn: 'Write the reference and nothing else. Pay from an account in your own name.',
    payee: {
      holder: 'Name',
      bank: 'Bank',
      branch: 'Branch',
      accountType: 'Kind of account',
      accountNumber: 'Account number',
      ifsc: 'IFSC code',
      iban: 'IBAN',
      bic: 'BIC',
    },
    next: 'What happens next',
    nextOf: {
      onramp:
        'When your transfer has arrived, we send your coins. This page shows when; you can close it and come back with the same link.',
      offramp:
        'When the network has confirmed it, we pay you. This page shows when; you can close it and come back with the same link.',
    },
    to: { onramp: 'To the address', offramp: 'To' },
    transaction: 'Transaction',
    movements: 'Money received and refunded',
    received: 'Received',
    refund: 'Refund',
    lookAgain: 'Look again',
    created: {
      onramp: (fiat: string) => `Pay in ${fiat}`,
      offramp: (coin: string) => `Send your ${coin}`,
    } as Readonly<Record<Direction, (what: string) => string>>,
    timeOver: {
      title: 'The time to pay is over',
      text: 'Please do not pay now. If you paid in time, this page shows your payment shortly.',
    },
    states: {
      deposit_seen: {
        title: 'Your payment is on its way',
        text: 'We see it. We wait until it can no longer be reversed.',
      },
      deposit_confirmed: {
        title: 'Your payment is here',
        text: 'We check it, and then send you your coins or your money.',
      },
      awaiting_liquidity: {
        title: 'Your payment is here',
        text: 'We need a little longer before we can pay you. You need not do anything.',
      },
      on_hold: {
        title: 'We are checking your payment',
        text: 'A person has to check it, which can take a working day. You need not do anything.',
      },
      paying_out: { title: 'Your payout is on its way', text: 'We have submitted it, and it should arrive soon.' },
      payout_held: {
        title: 'Your payout did not go through',
        text: 'A person checks it, and sends it again or refunds your payment. You need not do anything.',
      },
      settled: { title: 'Done', text: 'We have sent it to you.' },
      refunding: {
        title: 'We are refunding your payment',
        text: 'See below how far your refund is.',
      },
      refund_held: {
        title: 'Your refund did not go through',
        text: 'A person checks it and sends it again. You need not do anything.',
      },
      refunded: { title: 'Your payment was refunded', text: 'This order is over.' },
      expired: {
        title: 'The time to pay is over',
        text: 'Do not pay for this order any more. A person checks each payment that arrives late.',
      },
      cancelled: { title: 'This order was cancelled', text: 'Do not pay for it any more.' },
    } as Readonly<Record<Exclude<OrderState, 'created' | 'frozen'>, { title: string; text: string }>>,
    rest: {
      onramp: (fiat: string) => `Pay the rest in ${fiat}`,
      offramp: (coin: string) => `Send the rest of your ${coin}`,
    } as Readonly<Record<Direction, (what: string) => string>>,
    arrived: (came: string, whole: string) => `${came} of ${whole} have arrived. Pay the rest as follows.`,
    besides: 'We hold more of your money. See below what happens to it.',
    cameBack: {
      title: 'Your payout came back to us',
      text: 'We have the money. A person checks why it came back. You need not do anything.',
      again: 'We have the money, and are sending it again. You need not do anything.',
      named: 'We have the money. Say below where to send it, and we send it again.',
    },
    destination: {
      title: 'Where your money goes',
      asked: 'We have money to refund to you. Say below where to send it.',
      payout: (amount: string) => `We have ${amount} for you, which came back to us. Where shall we send it?`,
      refund: (amount: string) => `We have ${amount} to refund to you. Where shall we send it?`,
      address: 'Your address',
      addressHint: (chain: string) =>
        `Your own address on the network ${chain}. Money sent to another address is lost.`,
      confirm: 'Send it there',
      refused: 'We cannot send it there. Name another destination, or ask the app that sent you here.',
    },
    /** Why a deposit was unusual, in the partner's words. Only the state shows a manual review. */
    reasons: {
      underpaid: 'Less arrived than the order asks for.',
      overpaid: 'More arrived than the order asks for.',
      paid_in_parts: 'It arrived in more than one part.',
      late: 'It arrived after the deadline for paying.',
      second_payment: 'A second payment has arrived.',
      wrong_currency: 'Another currency arrived than the order asks for.',
      wrong_network: 'It arrived on another network than the order asks for.',
      payment_reversed: 'The payment was reversed after it had arrived.',
      payment_replaced: 'The reversed payment has arrived again.',
      payer_name: 'The payment came from an account in another name.',
      price_moved: 'The price has changed too much since you placed the order.',
      fee_compensated: 'A fee was too high. We pay back the difference.',
      timed_out: undefined,
      payout_rejected: 'Your payout was rejected.',
      payout_returned: undefined,
      paid_other_amount: 'We sent another amount than the order says.',
      refund_rejected: 'Your refund was rejected.',
      refund_returned: 'Your refund came back to us.',
      wrong_account: 'The account is not right.',
      account_closed: 'The account is closed.',
      name_and_account_differ: 'The name does not belong to the account.',
      wrong_amount: 'The amount is not right.',
      returned_by_bank: 'The bank returned it.',
      rejected_by_bank: 'The bank rejected it.',
      rejected_by_network: 'The network rejected it.',
      under_review: undefined,
    } as Readonly<Record<PublicReason, string | undefined>>,
    returned: 'Came back',
    depositStates: {
      seen: 'not confirmed yet',
      confirmed: 'arrived',
      applied: 'arrived',
      reversed: 'reversed',
      lost: 'reversed',
      refunded: 'refunded',
    } as Said,
    refundStates: {
      needs_destination: 'waits for your destination',
      created: 'being prepared',
      under_review: 'being checked',
      submitted: 'on its way',
      settled: 'sent',
      rejected: 'could not be sent',
      returned: 'came back',
    } as Readonly<Record<PublicRefund['status'], string>>,
    paidAgain: 'Next attempt',
    lookedInto: 'being checked',
  },

  /** A destination that the partner's program has added: the customer confirms it. */
  confirm: {
    title: 'Is this yours?',
    intro: {
      account: (partner: string) =>
        `${partner} named this bank account as yours. Confirm it, and we pay you there from now on.`,
      address: (partner: string) =>
        `${partner} named this address as yours. Compare every part of it with your wallet, and confirm it. Coins sent to a wrong address are lost.`,
    } as Readonly<Record<'account' | 'address', (partner: string) => string>>,
    account: 'Bank account',
    currency: 'Currency',
    added: 'Added',
    confirm: 'Yes, this is mine',
    notYours: 'If you do not know it, close this page, give the code to no one, and tell the app that sent you here.',
    done: { title: 'Confirmed', text: 'We pay you there from now on. Nothing more is needed.' },
    waits: {
      title: 'This cannot be confirmed yet',
      text: (from: Date) =>
        `Your phone number changed recently. For your safety, it cannot confirm anything before ${moment(from)}. Open this link again then, or ask the app that sent you here for a new one.`,
    },
  },

  /** Refunds of coins: the customer confirms the address. */
  startRefund: {
    title: 'Where we send your coins back',
    intro: (partner: string) =>
      `We received coins from you that your order with ${partner} did not use. Enter the address to which we send them back.`,
    came: 'Arrived',
    amount: 'We send back',
    transaction: 'Arrived by the transaction',
    address: 'Your address',
    hint: (chain: string) =>
      `Your own address on the network ${chain}. If it belongs to an exchange, make sure that the exchange accepts these coins on this network. Coins sent to a wrong address are lost.`,
    goOn: 'Continue',
    check: {
      title: 'Is this your address?',
      intro: (amount: string, chain: string) =>
        `We send ${amount} on the network ${chain} to this address. Compare it with your wallet: you cannot change it afterwards. Capital and small letters mean the same.`,
      yes: 'Yes, this is my address',
      other: 'Use another address',
    },
    waits: {
      title: 'We have your address',
      text: 'We check it and then send your coins there. You need not do anything. This page shows when they are on their way.',
    },
    submitted: {
      title: 'Your coins are on their way',
      text: 'The network has to confirm it, which takes a few minutes.',
    },
    settled: { title: 'Your coins were sent back', text: 'The network has confirmed it. Nothing more is needed.' },
    over: {
      title: 'We need no address any more',
      text: 'Something else was decided about these coins. Ask the app where you placed your order.',
    },
    to: 'To the address',
    sent: 'Sent by the transaction',
  },

  problems: {
    missing: (label: string) => `Enter: ${label}`,
    missingChoice: (label: string) => `Choose: ${label}`,
    example: (example: string) => `For example ${example}.`,
    tooLong: (label: string, most: number) => `${label} must have at most ${most} characters`,
    malformed: {
      code: 'The code has six digits',
      phone: 'The phone number has 8 to 15 digits',
      wallet: 'This is not an address on the network: check every letter',
      fiatAccount: 'Choose one from the list',
      dob: 'The date of birth must be a day in the past',
      firstName: 'The first name must not begin with a space',
      lastName: 'The surname must not begin with a space',
      firstSurname: 'The first surname must not begin with a space',
      secondSurname: 'The surname must not begin with a space',
      sex: 'Choose one from the list',
      sourceOfFunds: 'Choose one from the list',
      currency: 'Choose one from the list',
      identityNumber: 'The identity number has only letters from A to Z and digits',
      addressLine1: 'The address must not have control characters',
      addressLine2: 'The address must not have control characters',
      city: 'The city has only letters from A to Z and spaces',
      postalCode: 'The postal code has only letters from A to Z, digits and spaces',
      account: 'The account number has 3 to 34 digits and letters',
      ifsc: 'The IFSC code has four letters, then seven digits or letters',
      iban: 'This is not an IBAN: check every digit',
      sortCode: 'The sort code has digits and letters',
      routingNumber: 'The routing number has digits and letters',
      bankCode: 'The bank code has digits and letters',
    },
    tokenContract: 'This is the contract of a token, not a wallet',
    ourAddress: 'This is an address of ours: it must be one of your own',
    wrongCode: 'This is not the code we sent. Try again.',
    codeOver: 'This code can no longer be used. Send a new one.',
    wait: (seconds: number) =>
      seconds < 90
        ? `We sent a code just now. We can send a new one in ${seconds} seconds.`
        : `You requested too many codes. We can send a new one in ${Math.ceil(seconds / 60)} minutes.`,
    locked: 'You entered too many wrong codes. Try again in an hour.',
  },

  unknownLink: {
    title: 'This link does not work',
    text: 'It is incomplete. Ask the app that sent you here for a new one.',
  },
  endedLink: { title: 'This link has ended', text: 'Ask the app that sent you here for a new one.' },
  unknownPage: { title: 'There is nothing here', text: 'Ask the app that sent you here for a link.' },
  suspended: { title: 'This page is not available', text: 'Ask the app that sent you here what to do.' },
  staleForm: {
    title: 'This form is too old',
    text: 'Or your browser does not keep the cookies that this page needs. Open the page again.',
    reload: 'Open the page again',
  },
  tooManyFiles: {
    title: 'Too many files',
    text: 'You have sent very many forms with files. Wait some minutes, then open the page again.',
  },
  tooMany: { title: 'Too many requests', text: 'Wait a minute, then try again.' },
  badRequest: { title: 'This request cannot be read', text: 'Open the page again.' },
  unavailable: { title: 'Not available right now', text: 'Try again in a minute.' },
  broken: { title: 'Something went wrong', text: 'It is our mistake. Try again in a minute.' },
};

const CATALOGUES: Readonly<Record<string, Messages>> = { en };

/** The first language of an Accept-Language header that has a catalogue, in the header's order. */
export function messagesFor(accepted: string | undefined): Messages {
  for (const wanted of (accepted ?? '').slice(0, 200).split(',')) {
    const language = wanted.trim().split(/[-;]/, 1)[0]?.toLowerCase() ?? '';
    const found = Object.hasOwn(CATALOGUES, language) ? CATALOGUES[language] : undefined;
    if (found !== undefined) return found;
  }
  return en;
}

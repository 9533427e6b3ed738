/**
 * Messages: every word that the pages show, one catalogue per language. A new language is one more catalogue of the same
 * type and a line in `CATALOGUES`; leaving a message out does not compile.
 */
export type Messages = typeof en;

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
      `A code is on its way to your phone number ending in ${ending}. It is good for five minutes.`,
    hint: (code: string) => `This is a sandbox, where no message is sent: the code is ${code}.`,
    code: 'Six-digit code',
    enter: 'Log in',
    again: 'Send a new code',
    noPhone: 'We have no phone number for you. Ask the app that sent you here to pass it on.',
    noSender: 'Logging in is unavailable: this installation has no way to send codes yet.',
    notSent: 'The code could not be sent. Try again in a moment.',
  },

  details: {
    title: 'Your details',
    intro: 'As they are on your identity document.',
    failed: 'Your details could not be confirmed. Check each of them and send them again.',
    send: 'Send my details',
    fields: {
      firstName: 'First name',
      firstSurname: 'First surname',
      secondSurname: 'Surname',
      dob: 'Date of birth',
      sex: 'Sex',
      sourceOfFunds: 'Where your money comes from',
      identityNumber: 'Identity number',
      addressLine1: 'Address, line 1',
      addressLine2: 'Address, line 2',
      city: 'City',
      postalCode: 'Postal code',
    },
    groups: { person: 'You', address: 'Your address' },
    sex: { female: 'Female', male: 'Male', other: 'Other' },
    sourceOfFunds: {
      salary: 'Salary',
      business: 'Own business',
      savings: 'Savings',
      investments: 'Investments',
      pension: 'Pension',
      gift: 'Gift or inheritance',
      other: 'Something else',
    },
  },

  review: {
    title: 'We are checking your details',
    text: 'This can take a while. You may leave this page and open the link again later.',
    unavailable: 'Your details are saved, but the check cannot be reached right now. Try again in a moment.',
    look: 'Look again',
    elsewhere: 'One more step is needed with the company that checks identities for us.',
    goOn: 'Go on with the check',
  },
  done: { title: 'You are verified', text: 'Nothing more is needed.' },
  refused: { title: 'We cannot verify you', text: 'You cannot go on here. Ask the app that sent you here what to do.' },

  bank: {
    title: 'Add a bank account',
    currencyIntro: 'Choose the currency of the account you want to be paid to.',
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
    none: 'There is no currency to choose from at the moment.',
    addedTitle: 'Account added',
    added: (currency: string, hint: string) =>
      hint === '' ? `Your account in ${currency}.` : `Your account in ${currency} ending in ${hint}.`,
  },

  problems: {
    missing: (label: string) => `Enter: ${label}`,
    missingChoice: (label: string) => `Choose: ${label}`,
    tooLong: (label: string, most: number) => `${label} must have at most ${most} characters`,
    malformed: {
      code: 'The code has six digits',
      dob: 'The date of birth must be a day in the past',
      firstName: 'The first name must not begin with a space',
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
    wrongCode: 'This is not the code we sent. Try again.',
    codeOver: 'This code can no longer be used. Send a new one.',
    wait: (seconds: number) =>
      seconds < 90
        ? `A code was sent just now. A new one can be sent in ${seconds} seconds.`
        : `Too many codes were sent. A new one can be sent in ${Math.ceil(seconds / 60)} minutes.`,
    locked: 'There were too many wrong codes. Try again in an hour.',
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
    text: 'Or your browser keeps no cookies for this page, which it needs. Open the page again.',
    reload: 'Open the page again',
  },
  tooMany: { title: 'Too many requests', text: 'Wait a minute, then try again.' },
  badRequest: { title: 'This request cannot be read', text: 'Open the page again.' },
  unavailable: { title: 'Not available right now', text: 'Try again in a minute.' },
  broken: { title: 'Something went wrong', text: 'It is our mistake. Try again in a minute.' },
};

const CATALOGUES: Readonly<Record<string, Messages>> = { en };

/** The first language of an Accept-Language header that there is a catalogue for, in the order it is written. */
export function messagesFor(accepted: string | undefined): Messages {
  for (const wanted of (accepted ?? '').slice(0, 200).split(',')) {
    const language = wanted.trim().split(/[-;]/, 1)[0]?.toLowerCase() ?? '';
    const found = Object.hasOwn(CATALOGUES, language) ? CATALOGUES[language] : undefined;
    if (found !== undefined) return found;
  }
  return en;
}

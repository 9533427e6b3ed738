/** Messages of the verification page (messages.ts): the form, its files, the people behind a business, and what follows. */
import { dayOf } from '../../base/clock.ts';

/** Dates in UTC, in a format that every reader understands. */
export const moment = (at: Date): string => `${at.toISOString().slice(0, 16).replace('T', ', ')} UTC`;

export const verificationEn = {
  details: {
    title: 'Your details',
    intro: 'Enter them as they are on your identity document.',
    failed: 'We could not confirm your details. Check each of them and send them again.',
    send: 'Send my details',
    save: 'Save and continue later',
    saved: 'Saved. Open the link again on any device and log in to continue.',
    again: 'We need these again',
    againIntro: 'Everything else was accepted and stays. Correct these and send them.',
    accepted: 'Accepted',
    fields: {
      firstName: 'First name',
      lastName: 'Surname',
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
    groups: {
      person: 'You',
      address: 'Your address',
      represents: 'You, who act for the business',
      seat: 'Address of the business',
    },
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

  /** Files of a form. */
  files: {
    title: 'Files',
    document: 'Your identity document',
    documentOptional: 'An identity document, if you have one at hand',
    oneOf: 'One of these is enough: choose which, and send all of its files.',
    shared: 'With any of them',
    rule: 'JPEG, PNG, WEBP or PDF, at most 5 MB.',
    rules: 'Up to ten: JPEG, PNG, WEBP or PDF, each at most 5 MB.',
    arrived: (type: string, size: string) => `Received: ${type}, ${size}. Another file replaces it.`,
    accepted: 'Received and accepted.',
    missing: (label: string) => `Choose a file: ${label}`,
    unknown: 'A file does not belong to this page. Open the page again.',
    lastPart: 'We have not kept the file, because nothing else is missing. Choose it again, and send your details.',
    types: {
      'image/jpeg': 'JPEG',
      'image/png': 'PNG',
      'image/webp': 'WEBP',
      'application/pdf': 'PDF',
    },
    faults: {
      tooLarge:
        'A file is larger than 5 MB, or all files together are larger than 20 MB. Choose smaller ones, or save some first.',
      tooSlow: 'The files took too long to arrive. Choose fewer or smaller ones, and save in between.',
      tooMany: 'At most ten files can be sent at once. Save some first, then choose the others.',
    },
    slots: {
      'idFront1.jpg': 'Front',
      'idBack1.jpg': 'Back',
      'passportFront.jpg': 'Page with your photo',
      'passportBack.jpg': 'Last page',
      'drivingLicenseFront.jpg': 'Front',
      'drivingLicenseBack.jpg': 'Back',
      'selfie.jpg': 'A photo of your face',
    },
    /** Texts of the script; `{}` stands for a number or a name. */
    script: {
      sending: 'Sending: {} %',
      failed:
        'We have no answer: the connection failed, or we are busy. What you entered is still here. Send it again in a moment; sending it twice does no harm.',
      tooBig: 'This file is larger than 5 MB. Choose a smaller one.',
      tooMuch: 'The files together are larger than 20 MB. Choose fewer, and save in between.',
      chosen: 'Chosen: {}',
    },
  },

  /** Businesses, and the people behind them. */
  business: {
    title: 'Your business',
    intro: 'Enter everything as it is in the public register.',
    send: 'Send for verification',
    company: 'The business',
    fields: { entityName: 'Name of the business', legalEntityNature: 'Legal form' },
    roles: { owners: 'Owners', directors: 'Directors' },
    lists: { owners: 'The list of owners', directors: 'The list of directors' },
    people: {
      owners: {
        intro: 'Everyone who owns a part of the business. The shares add up to at most 100 percent.',
        none: 'No owner yet.',
        add: 'Add an owner',
        change: 'Change an owner',
      },
      directors: {
        intro: 'Everyone who directs the business. A person may be owner and director.',
        none: 'No director yet.',
        add: 'Add a director',
        change: 'Change a director',
      },
    },
    person: {
      firstName: 'First name',
      lastName: 'Surname',
      dob: 'Date of birth',
      country: 'Country of residence',
      share: 'Share in percent',
    },
    shareHint: 'For example 51.5',
    total: (percent: number) => `Together: ${percent} %`,
    least: (percent: number) => `Name owners who hold at least ${percent} percent together.`,
    edit: 'Change',
    remove: 'Remove',
    keep: 'Save',
    back: 'Back without saving',
  },

  /** What a reviewer asks beside the form. */
  question: {
    title: 'A question for you',
    some: (count: number) => (count === 1 ? 'We have a question for you' : `We have ${count} questions for you`),
    waiting: 'Answer it here, so that we can go on.',
    open: (due: Date) => `Answer by ${dayOf(due)}`,
    about: (partner: string, due: Date) =>
      `It is about your verification for ${partner}. Please answer before ${moment(due)}.`,
    answer: 'Your answer',
    files: 'Files',
    received: (types: readonly string[]) =>
      `Received: ${types.length} (${types.join(', ')}). Further files are added to these.`,
    wrongFile: (at: number, why: string) => `File ${at} ${why}.`,
    notPlain: 'Your answer must not have control characters',
    send: 'Send the answer',
    back: 'Back without answering',
  },

  review: {
    title: 'We are checking your details',
    text: 'This can take a while. You may leave this page and open the link again later.',
    unavailable:
      'We have saved your details, but the verification service does not answer right now. Try again in a moment.',
    look: 'Look again',
    elsewhere: 'The company that checks identities for us needs one more step from you.',
    goOn: 'Continue with the check',
  },
  done: { title: 'You are verified', text: 'Nothing more is needed.' },
  refused: {
    title: 'We cannot verify you',
    text: 'You cannot continue here. Ask the app that sent you here what to do.',
  },
};

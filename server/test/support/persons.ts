/**
 * Persons with unusual names, for tests that search what a server leaves: its database, files, output, metrics, backups and the archived
 * log. Whatever the two of them (backup/personal.test.ts, ops/output.test.ts) use for a person is in one list, and both search for all of
 * it.
 */
import { JPEG_MARK } from './pictures.ts';

export const ZEBULONA = {
  reference: 'zebulona-of-the-shop',
  phone: '+91-9876504711',
  email: 'zebulona.quagmire@fjordmail.example',
  firstName: 'Zebulona',
  lastName: 'Quagmireson',
  dob: '1931-03-29',
  identityNumber: 'QZXWV7719K',
  addressLine: 'Narrowgauge Lane',
  accountNumber: '501002837465',
  inDocument: 'Passport of the Zebulona',
};
export type Given = typeof ZEBULONA;
export const XANTHIPPE: Given = {
  reference: 'xanthippe-of-the-shop',
  phone: '+91-9876508822',
  email: 'xanthippe.vrblova@fjordmail.example',
  firstName: 'Xanthippe',
  lastName: 'Vrblova',
  dob: '1947-11-23',
  identityNumber: 'QZXWV8820L',
  addressLine: 'Broadgauge Lane',
  accountNumber: '902001746538',
  inDocument: 'Passport of the Xanthippe',
};
/** A business with its people. */
export const FIRM = {
  entityName: 'Xylophone Quarries',
  phone: '+91-9876509933',
  owner: 'Wilhelmstrasser',
  ownerDob: '1952-06-17',
  director: 'Ōtakivrbl',
  identityNumber: 'QZXWV9931M',
};
/** On the list of sanctions that customers are compared with. Such a list is public. */
export const LISTED = { first: 'Tarasovich', last: 'Orlenkovsky' };
/** Of operators, and of the partner's program. */
export const TYPED = {
  note: 'called Zwiebelknecht about the flat',
  question: 'Who is Yngwiefeld?',
  answer: 'A cousin, Umbertovic',
  walletOwner: 'Vexilloyd Praxis',
  misplaced: 'Thaddeusbrook Ironmonger',
  misplacedIban: 'DE89370400440532013000',
};

const withoutCountry = (phone: string) => phone.replaceAll(/[^0-9]/g, '').slice(2);

/** Of all of them, also what is written otherwise: a number without its country, the name within a sentence. */
export const WORDS: readonly string[] = [
  ...[ZEBULONA, XANTHIPPE, FIRM, LISTED, TYPED].flatMap((one) => Object.values(one)),
  ...[ZEBULONA, XANTHIPPE, FIRM].map(({ phone }) => withoutCountry(phone)),
  ...['Zwiebelknecht', 'Yngwiefeld', 'Umbertovic', 'Vexilloyd', 'Thaddeusbrook', JPEG_MARK],
];

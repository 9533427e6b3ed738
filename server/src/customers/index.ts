/**
 * Customers: who they are (customers.ts), how far they are verified (verification.ts), and the fiat accounts they are paid to
 * (fiat-accounts.ts). links.ts has the links to our own pages, login.ts the login codes, details.ts the submitted details,
 * checks.ts the job that follows them to the verifier's result. identity/ has the forms, and the submissions of programs.
 *
 * A customer belongs to one partner and is invisible to any other: row-level security enforces that, so a look-up here needs no
 * partner id. Phone, e-mail and account details are encrypted before they reach a statement; no personal data is in an error, an
 * event or a log.
 *
 * Verification levels: 0 none, 1 basic, 2 intermediate, 3 advanced, 4 enhanced, 5 complete. Each partner has its own words for them
 * and its own level from which customers may trade; neither is stored here.
 */
export {
  type AccountField,
  type AccountForm,
  accountDetails,
  accountForms,
  accountShapeOf,
  hasAccountShape,
} from './accounts.ts';
export { CHECK_VERIFICATION, type Check, checkUnderWay, recordAsked, wakeCheck } from './checks.ts';
export { keepReadNumbers, openCompared } from './compared-documents.ts';
export {
  countryFor,
  countryOfPhone,
  knownCountry,
  type SourcedCountry,
  setCountry,
  statedCountry,
} from './countries.ts';
export {
  blockCustomer,
  blockForDebt,
  blockOf,
  type Customer,
  clientIdOf,
  customerByPhone,
  customerNamed,
  customersLike,
  customersOf,
  debtEnded,
  detachPhone,
  enroll,
  findCustomer,
  HIGHEST_LEVEL,
  hasPhone,
  lockAgainstOrders,
  lockCustomer,
  openContact,
  unblockCustomer,
  updateContact,
} from './customers.ts';
export {
  addAddress,
  confirmDestination,
  type Destination,
  destinationById,
  destinationIds,
  destinationsOf,
  isUsable,
  type NamedAddress,
  noteApiAccount,
  noteConfirmedAccount,
  phoneCountsFrom,
  waitsUntil,
} from './destinations.ts';
export {
  type GivenDetails,
  givenDetails,
  lockGivenDetails,
  openGivenDetails,
  saveDetails,
} from './details.ts';
export { blockedAmong, blockedTwins, type SameDocument, sameDocument } from './duplicates.ts';
export {
  comparedContext,
  comparedIndexes,
  detailsIndexes,
  identityIndexes,
  numberIndexes,
  phoneIndexes,
} from './encryption.ts';
export { eraseCustomerRows, eraseSenders, marksOf } from './erase.ts';
export {
  accountNumber,
  accountsOfNumber,
  accountsSince,
  addFiatAccount,
  blocksOfNumber,
  compareAccount,
  comparedAccounts,
  type FiatAccount,
  fiatAccounts,
  fiatOfAccount,
  findFiatAccount,
  keepSenderAccount,
  numberAccounts,
  openFiatAccount,
  openPayee,
} from './fiat-accounts.ts';
export { checkAnswers, exampleOf, faultOf, isCountry, judgeAnswers } from './identity/answers.ts';
export { BUSINESS_FORM, PERSON_FORM } from './identity/defaults.ts';
export {
  customerKey,
  filesOf,
  type InspectedFile,
  inspectAny,
  inspectFiles,
  KEPT_AFTER_RESTORE_MS,
  openFile,
  type StoredFile,
  storeFiles,
  sweepFiles,
} from './identity/documents.ts';
export { emptyDraft, emptyOldDrafts, openDraft, saveDraft } from './identity/drafts.ts';
export { dueExpiries, type ExpiryRow, followExpiry } from './identity/expired.ts';
export {
  documentsOf,
  FIELD_TYPES,
  type Form,
  fieldsOf,
  minimumTotalShareOf,
  type Requirement,
} from './identity/form.ts';
export { type ChosenForm, formFor, saveForm } from './identity/forms.ts';
export { FILE_RULE, type FileType, inspect, inspectAside, isPlainText } from './identity/inspect.ts';
export { FIELD_REASONS, type FieldReasons } from './identity/outcome.ts';
export { ownersFault, type Person, readPeople, sharesOf, storedOwnersFault } from './identity/people.ts';
export { toldReason, VERIFICATION_REASONS, type VerificationReason, verificationReason } from './identity/reasons.ts';
export {
  addInformationFiles,
  askInformation,
  endInformation,
  INFORMATION_DUE,
  type InformationRequest,
  informationOf,
  informationState,
  MAX_REQUESTS,
  openAboutSubmission,
  openInformation,
  openRequest,
} from './identity/requests.ts';
export {
  addFiles,
  answeredFields,
  driveSubmission,
  findSubmission,
  formOfSubmission,
  type Given,
  levelUnderWay,
  missingOf,
  neededOf,
  openSubmissions,
  openUnderWay,
  type Submission,
  saidReasons,
  submissionsOf,
  submit,
} from './identity/submissions.ts';
export {
  COMPANY_NAMES,
  companyNames,
  comparePayer,
  customerName,
  type DocumentNames,
  documentMatch,
  keepReadNames,
  knownNames,
  legalDetails,
  namesContext,
  type PayerMatch,
  personIn,
} from './known-names.ts';
export {
  CHECKOUT_FOR_MS,
  type CheckoutLink,
  encryptLink,
  LINK_FOR_MS,
  type Link,
  type LinkPurpose,
  madeAs,
  openLink,
  RETURN_FOR_MS,
  type ReturnLink,
} from './links.ts';
export {
  type Asking,
  CODE_FOR_MS,
  checkCode,
  codeUnderWay,
  forgetOldSends,
  type Issued,
  issueCode,
  sendingFailed,
} from './login.ts';
export { SAME_NAME } from './names.ts';
export { continueAsNew, isPhoneIdle, noteTold, noteToldBy, proveIdentity, releaseNumber } from './proof.ts';
export { COUNTRY_SOURCES } from './store.ts';
export { forgetLogin, recordFinding, recordLogin, recordVerification, requireTrading } from './verification.ts';

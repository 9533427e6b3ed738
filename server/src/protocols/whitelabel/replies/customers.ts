/** Customers, their accounts, and links to hosted pages. */
import { Type } from 'typebox';
import { byKey, customerId, isoTime, numberText, object, spacedTime, text, url } from './parts.ts';

export const KYC_LINK = object(
  {
    kycUrl: url('Page on which the customer logs in and is verified'),
    customerId,
    clientCustomerId: Type.Union([Type.String(), Type.Number()], {
      description: 'The partner’s own id, in the type in which it was sent',
    }),
    signature: text('HMAC-SHA512 of kycUrl under the key’s secret, in hex', { pattern: '^[0-9a-f]{128}$' }),
  },
  { title: 'KycLink' },
);
export const KYC_STATUS = object(
  {
    status: text('Verification status: see the table of words'),
    updatedAt: spacedTime('When it last changed'),
    countryISO: text('Country of the customer, two letters; `IN` also while it is unknown'),
    currentKycVerificationStep: text('Current step'),
    previousSuccessfulKycStep: text('Last completed step'),
    failedReason: Type.Optional(text('Why verification failed')),
    failedReasonCode: Type.Optional(
      text('The same as a code: see the table of reasons in the documentation of customers'),
    ),
  },
  { title: 'KycStatus' },
);
/** Groups of fields and documents: a form described as data. */
export const REQUIREMENTS = Type.Unsafe<Record<string, unknown>>({
  type: 'object',
  title: 'Requirements',
  description: 'Groups of fields and documents: name, label, type, whether it is required, options',
});
export const KYC_REQUIREMENTS = object({ kycRequirementData: REQUIREMENTS }, { title: 'KycRequirements' });
const SUBMISSION_PARTS = {
  submissionId: numberText('Number of the submission'),
  status: Type.String({
    enum: ['UPDATE_REQUIRED', 'IN_REVIEW', 'COMPLETED', 'FAILED'],
    description: 'UPDATE_REQUIRED: supply what `reasons` names. COMPLETED and FAILED: the submission is over',
  }),
  reasons: Type.Optional(byKey(Type.String(), 'Why a field must be sent, or sent again, by its name')),
  remedies: Type.Optional(byKey(Type.String(), 'What to do about each reason, by the same names')),
};
export const SUBMITTED = object(
  {
    ...SUBMISSION_PARTS,
    createdAt: Type.Optional(isoTime('When it began; only of a new submission')),
    updatedAt: Type.Optional(isoTime('When it changed; only of a submission that was added to')),
  },
  { title: 'Submitted' },
);
export const SUBMISSION = object(
  { ...SUBMISSION_PARTS, createdAt: isoTime('When it began'), updatedAt: isoTime('When it last changed') },
  { title: 'Submission' },
);
export const ADDED_ACCOUNT = object({
  fiatAccountId: numberText('Number of the account'),
  holderMatch: Type.Optional(
    text('Whether its holder is the customer by name: same, other or unknown. Absent without a holder'),
  ),
});
export const ACCOUNT_LINK = object({
  bankUrl: url('Page on which the customer adds an account'),
  referenceId: numberText('Number of this request'),
});
export const ACCOUNTS = Type.Array(
  Type.Object(
    {
      fiatAccountId: numberText('Number of the account'),
      fiatAccount: text('Account number, or the IBAN'),
      currency: text('Currency of the account, in upper case'),
      createdAt: isoTime('When it was added'),
    },
    {
      additionalProperties: { type: 'string' },
      title: 'Account',
      description: 'In addition, the details of the account, under the names under which they were sent',
    },
  ),
);
export const CHANGED_STATUS = object({
  changeStatus: Type.Literal(true),
  message: text('The status as a sentence'),
});
export const CHECKOUT_LINK = object(
  {
    link: url('Hosted page on which the customer confirms and pays'),
    urlHash: text('Id of the link'),
    expiresAt: isoTime('Until when a transaction can be created with the link'),
  },
  { title: 'CheckoutLink' },
);

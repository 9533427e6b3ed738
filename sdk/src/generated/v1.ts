/**
 * Generated from docs/openapi-v1.json by sdk/generate.ts. Do not edit: change the declarations of the API.
 */

import type { CallOptions, Files } from '../http.ts';
import type { Pages } from '../pages.ts';

/** The version of the API that these types describe: every request names it. */
export const API_VERSION = '2026-11-23';

/** Something that was changed */
export interface ActivityLine {
  /** Number */
  readonly id: string;
  /** When */
  readonly at: string;
  /** What was done */
  readonly action: string;
  /** About what */
  readonly subject: string;
  /** Which key or member did it, or a customer on a page */
  readonly by: string;
}

/** An API key of yours */
export interface ApiKey {
  /** The key */
  readonly key: string;
  /** What it is for */
  readonly label: string;
  /** What it may do */
  readonly scopes: readonly ('read' | 'trade' | 'customers' | 'admin')[];
  /** Networks it may be used from; none: any */
  readonly networks: readonly string[];
  /** `held`: the operator has stopped it after a leak */
  readonly state: 'active' | 'revoked' | 'expired' | 'held';
  /** Whether a write must be signed in production */
  readonly mustSign: boolean;
  /** Until when its previous secret is valid, too */
  readonly rotatingUntil: string | null;
  /** When it ends by itself */
  readonly expiresAt: string | null;
  /** When it was last used, to the minute */
  readonly lastUsedAt: string | null;
  /** When it was created */
  readonly createdAt: string;
  /** When it was revoked */
  readonly revokedAt: string | null;
}

/** An API key with its secret */
export interface ApiKeyWithSecret {
  /** The key */
  readonly key: string;
  /** What it is for */
  readonly label: string;
  /** What it may do */
  readonly scopes: readonly ('read' | 'trade' | 'customers' | 'admin')[];
  /** Networks it may be used from; none: any */
  readonly networks: readonly string[];
  /** `held`: the operator has stopped it after a leak */
  readonly state: 'active' | 'revoked' | 'expired' | 'held';
  /** Whether a write must be signed in production */
  readonly mustSign: boolean;
  /** Until when its previous secret is valid, too */
  readonly rotatingUntil: string | null;
  /** When it ends by itself */
  readonly expiresAt: string | null;
  /** When it was last used, to the minute */
  readonly lastUsedAt: string | null;
  /** When it was created */
  readonly createdAt: string;
  /** When it was revoked */
  readonly revokedAt: string | null;
  /** The secret: shown here and never again */
  readonly secret: string;
  /** The bearer token for `/v1`: shown here and never again */
  readonly bearerToken: string;
}

/** What can be paid or received */
export interface Asset {
  /** Code of the asset */
  readonly code: string;
  /** A coin on a chain, or a currency */
  readonly kind: 'crypto' | 'fiat';
  /** Symbol of coin or currency */
  readonly symbol: string;
  /** Code of its chain; null of a fiat */
  readonly chain: string | null;
  /** Contract of the token; null of a native coin and of a fiat */
  readonly contract: string | null;
  /** Decimal places */
  readonly decimals: number;
}

/** An attempt to deliver an event */
export interface Attempt {
  /** When */
  readonly at: string;
  /** How long it took, in milliseconds */
  readonly tookMs: number;
  /** HTTP status of the answer */
  readonly status: number | null;
  /** Why it failed */
  readonly error: string | null;
  /** Beginning of what your server answered */
  readonly answer: string;
}

/** How hosted pages look to your customers */
export interface Branding {
  /** Name on hosted pages; null: your name */
  readonly displayName: string | null;
  /** Your colour on light ground; null: ours */
  readonly accent: string | null;
  /** Your colour on dark ground; null: made of the other one */
  readonly accentDark: string | null;
  readonly colours: Colours;
  /** Your logo, as drawn anew */
  readonly logo: {
    /** Where it is served: the SHA-256 of its content is its name */
    readonly path: string;
    /** Width in pixels */
    readonly width: number;
    /** Height in pixels */
    readonly height: number;
  } | null;
  /** When it was last changed */
  readonly changedAt: string | null;
}

/** A chain */
export interface Chain {
  /** Code of the chain */
  readonly code: string;
  /** EIP-155 chain id */
  readonly networkId: number | null;
  /** Assets on it */
  readonly assets: readonly string[];
}

/** A code was sent */
export interface CodeSent {
  /** When the code was sent to the phone of the customer */
  readonly sentAt: string;
  /** Until when it is valid */
  readonly expiresAt: string;
}

/** Colours of hosted pages */
export interface Colours {
  /** For customers who see light pages */
  readonly light: {
    /** Colour of links and buttons */
    readonly accent: string;
    /** Colour of the text on buttons: that of the page */
    readonly onAccent: string;
    /** Contrast of both, to 1 */
    readonly contrast: string;
  };
  /** For customers who see dark pages */
  readonly dark: {
    /** Colour of links and buttons */
    readonly accent: string;
    /** Colour of the text on buttons: that of the page */
    readonly onAccent: string;
    /** Contrast of both, to 1 */
    readonly contrast: string;
  };
}

/** A customer of yours */
export interface Customer {
  /** Id of the customer */
  readonly id: string;
  /** Your own name for the customer */
  readonly reference: string | null;
  /** A person or a business */
  readonly kind: 'individual' | 'business';
  /** Level of verification, 0 to 5 */
  readonly level: number;
  /** How far the verification is */
  readonly verification: 'none' | 'in_review' | 'verified' | 'failed' | 'refused';
  /** Whether the customer has proved the phone number */
  readonly hasLoggedIn: boolean;
  /** Whether the customer may trade */
  readonly mayTrade: {
    /** Whether orders may be created for the customer */
    readonly allowed: boolean;
    /** Why not */
    readonly reason: 'login_required' | 'verification_required' | 'customer_blocked' | null;
  };
  /** Country, two letters */
  readonly country: string;
  /** Where it is known from: the calling code of the phone, your program, or the customer’s answer; null: the default is used */
  readonly countryBy: 'phone' | 'partner' | 'form' | null;
  /** When the customer was created */
  readonly createdAt: string;
  /** When the customer last changed */
  readonly updatedAt: string;
}

/** What a customer may pay */
export interface CustomerLimits {
  /** Id of the customer */
  readonly customerId: string;
  /** Level of verification */
  readonly level: number;
  /** What `min` and `max` are counted by */
  readonly per: 'order';
  /** Of each market, at this level */
  readonly markets: readonly {
    /** Id of the market */
    readonly market: string;
    /** Asset of the amounts: what the customer pays */
    readonly asset: string;
    /** Least amount of one order */
    readonly min: string;
    /** Largest amount of one order */
    readonly max: string;
  }[];
  /** Across all orders of the customer; empty where nothing is limited so */
  readonly limits: readonly {
    /** Counted of one order, of any 24 hours (day), of any 30 days (month) */
    readonly per: 'order' | 'day' | 'month';
    /** Fiat whose worth counts */
    readonly asset: string;
    /** Only orders in this direction count; null: both together */
    readonly direction: 'sell' | 'buy' | null;
    /** Only orders on this market count; null: all of the fiat together */
    readonly market: string | null;
    /** The most */
    readonly max: string;
    /** What orders of the customer are worth that count */
    readonly used: string;
    /** What is left */
    readonly left: string;
    /** When the oldest order that counts no longer does; null where none counts */
    readonly freesAt: string | null;
    /** When all of it is left again, unless more is ordered; null where none counts */
    readonly resetsAt: string | null;
  }[];
  /** A higher level, and its requirements */
  readonly next: {
    /** The lowest level at which the customer may do more */
    readonly level: number;
    /** Limits that are larger there, or gone */
    readonly limits: readonly {
      /** Counted of one order, of any 24 hours (day), of any 30 days (month) */
      readonly per: 'order' | 'day' | 'month';
      /** Fiat whose worth counts */
      readonly asset: string;
      /** Only orders in this direction count; null: both together */
      readonly direction: 'sell' | 'buy' | null;
      /** Only orders on this market count; null: all of the fiat together */
      readonly market: string | null;
      /** The most; null: no limit */
      readonly max: string | null;
    }[];
    /** Missing fields of the form, by fiat */
    readonly needs: readonly {
      /** Fiat whose form is meant */
      readonly asset: string;
      /** Fields without an answer that is accepted */
      readonly fields: readonly string[];
      /** Files that were not sent yet */
      readonly documents: readonly string[];
    }[];
  } | null;
  /** Your caps, which the orders of all your customers share; empty without one */
  readonly shared: readonly Exposure[];
}

/** What a customer supplies to be verified */
export interface CustomerRequirements {
  /** Id of the customer */
  readonly customerId: string;
  /** A person or a business */
  readonly kind: 'individual' | 'business';
  /** Fiat whose form it is; null: the one for any */
  readonly asset: string | null;
  /** Level that it is for */
  readonly level: number;
  /** Fields, in the order of the form */
  readonly fields: readonly {
    /** Name of the field, for `answers` */
    readonly name: string;
    /** Fields of one group belong together */
    readonly group: string | null;
    /** Its label, for people */
    readonly label: string;
    /** Whether it is needed */
    readonly required: boolean;
    /** What it takes; a `file` is sent with `submissions.addFiles` */
    readonly type: 'text' | 'date' | 'select' | 'country' | 'file';
    /** Regular expression that it must match */
    readonly pattern: string | null;
    /** Its choices */
    readonly options: readonly string[] | null;
    /** An answer that is accepted */
    readonly example: string | null;
  }[];
  /** Kinds of document, of which one is enough */
  readonly documents: readonly {
    /** Kind of document */
    readonly name: string;
    /** Its files: all of them, once one was sent */
    readonly files: readonly string[];
  }[];
  /** Whether a document is needed */
  readonly needsDocument: boolean;
}

/** An event on its way to an endpoint */
export interface Delivery {
  /** Id of the event */
  readonly eventId: string;
  /** What happened */
  readonly type: string;
  /** The subject */
  readonly subject: string;
  /** Position among the events of its subject */
  readonly sequence: number;
  /** How far the delivery is */
  readonly state: 'waiting' | 'delivered' | 'dead' | 'dropped';
  /** How many attempts were made */
  readonly attempts: number;
  /** Why the last attempt failed */
  readonly lastError: string | null;
  /** When it ended */
  readonly endedAt: string | null;
}

/** Money that came for an order */
export interface Deposit {
  /** Id of the deposit */
  readonly id: string;
  /** Id of the order */
  readonly orderId: string;
  /** `seen`: not final yet. `confirmed`: booked. `applied`: the order took it. `suspense`: it waits for a decision. `reversed`, `lost`: chain or bank took it back */
  readonly state: 'seen' | 'confirmed' | 'applied' | 'suspense' | 'refunded' | 'reversed' | 'lost' | 'written_off';
  /** What came */
  readonly amount: Money;
  /** Hash of the transaction on the chain */
  readonly hash: string | null;
  /** Reference of the bank */
  readonly bankReference: string | null;
  /** Why something about it is unusual */
  readonly reason:
    | 'underpaid'
    | 'overpaid'
    | 'paid_in_parts'
    | 'late'
    | 'second_payment'
    | 'wrong_currency'
    | 'wrong_network'
    | 'payment_reversed'
    | 'payment_replaced'
    | 'payer_name'
    | 'price_moved'
    | 'fee_compensated'
    | 'timed_out'
    | 'payout_rejected'
    | 'payout_returned'
    | 'paid_other_amount'
    | 'refund_rejected'
    | 'refund_returned'
    | 'wrong_account'
    | 'account_closed'
    | 'name_and_account_differ'
    | 'wrong_amount'
    | 'returned_by_bank'
    | 'rejected_by_bank'
    | 'rejected_by_network'
    | 'under_review'
    | null;
  /** Whether it came after its order’s deadline */
  readonly late: boolean;
  /** When it came, by the time of chain or bank */
  readonly cameAt: string | null;
  /** When we saw it */
  readonly seenAt: string;
  /** When it was final */
  readonly confirmedAt: string | null;
}

/** Where a customer is paid */
export interface Destination {
  /** Id of the destination */
  readonly id: string;
  /** Id of the customer */
  readonly customerId: string;
  /** A bank account, or an address on a chain */
  readonly kind: 'account' | 'address';
  /** Currency of the account; null of an address */
  readonly asset: string | null;
  /** Chain of the address; null of an account */
  readonly chain: string | null;
  /** The address; null of an account */
  readonly address: string | null;
  /** Last characters of number or address, for people */
  readonly hint: string;
  /** Whether money may leave to it */
  readonly usable: boolean;
  /** From when money may go to it without a code of the customer; null if it already may */
  readonly usableAt: string | null;
  /** When the customer confirmed it with a code, or on a hosted page */
  readonly confirmedAt: string | null;
  /** When it was added */
  readonly createdAt: string;
}

/** Where money goes */
export interface DestinationRef {
  /** A bank account, or an address on a chain */
  readonly kind: 'account' | 'address';
  /** Id of the destination; null of an address that was named through the older wire alone */
  readonly id: string | null;
  /** The address on the chain; null of an account */
  readonly address: string | null;
}

/** Why a request is accepted or not */
export interface Diagnosis {
  /** Whether the server would take it as authentic */
  readonly accepted: boolean;
  /** Each part that was looked at */
  readonly findings: readonly {
    /** What was looked at */
    readonly part: 'headers' | 'key' | 'token' | 'signature' | 'digest' | 'idempotency';
    /** Whether it is right */
    readonly ok: boolean;
    /** What was found */
    readonly says: string;
  }[];
}

/** Something that happened */
export interface Event {
  /** Id of the event: the same in every delivery */
  readonly id: string;
  /** What happened */
  readonly type: string;
  /** When it happened */
  readonly timestamp: string;
  /** The subject */
  readonly subject: string;
  /** Position among the events of its subject, from 1 without gaps */
  readonly sequence: number;
  /** The resource at the time of the event: see the page on webhooks */
  readonly data: Readonly<Record<string, unknown>>;
}

/** Open quotes and unpaid orders at a fixed rate, in one fiat */
export interface Exposure {
  /** Code of the fiat */
  readonly asset: string;
  /** Most that live quotes and unpaid orders may be worth together; null: no cap */
  readonly cap: string | null;
  /** Their present value */
  readonly used: string;
  /** Remainder of the cap */
  readonly left: string | null;
  /** When the last of them expires: by then all of it is left again, unless more is quoted; null where nothing is used */
  readonly resetsAt: string | null;
}

/** A part of what is taken */
export interface Fee {
  /** Whose fee it is: the operator’s, yours, the payment rail’s, the chain’s, or tax withheld */
  readonly kind: 'operator' | 'partner' | 'rail' | 'chain' | 'tax';
  /** What is taken */
  readonly amount: Money;
}

/** The cause is there; what follows from it takes its time */
export interface Happened {
  /** Name of the control */
  readonly control: string;
  /** Its effects: hashes of payments, the line of the bank, the moved time */
  readonly facts: Readonly<Record<string, unknown>>;
}

/** What the operator asks about a customer */
export interface InformationRequest {
  /** Id of the question */
  readonly id: string;
  /** Id of the customer */
  readonly customerId: string;
  /** Submission that was the newest when it was asked */
  readonly submissionId: string | null;
  /** Whether an answer is awaited */
  readonly state: 'open' | 'answered' | 'withdrawn';
  /** What the operator wants to know */
  readonly question: string;
  /** What you answered */
  readonly answer: string | null;
  /** Files that you have sent for the answer */
  readonly files: readonly {
    /** What it is, by its content */
    readonly type: string;
    /** Its size */
    readonly bytes: number;
    /** When it was sent */
    readonly sentAt: string;
  }[];
  /** By when the operator wants an answer */
  readonly dueAt: string;
  /** When it was asked */
  readonly askedAt: string;
  /** When it was answered or withdrawn */
  readonly endedAt: string | null;
}

/** An invitation */
export interface Invitation {
  readonly member: Member;
  /** Link for the member alone: shown here and never again */
  readonly url: string;
  /** Until when it works, once */
  readonly expiresAt: string;
}

/** The key that asks */
export interface Key {
  /** The key that asks */
  readonly key: string;
  /** Whose key it is */
  readonly partner: {
    /** Number of the partner */
    readonly id: string;
    /** Name of the partner */
    readonly name: string;
  };
  /** What the key may do */
  readonly scopes: readonly ('read' | 'trade' | 'customers' | 'admin')[];
  /** Version that is used if a request of this key names none */
  readonly version: string;
  /** Versions there are, oldest first */
  readonly versions: readonly string[];
  /** Requests a minute */
  readonly requestsPerMinute: number;
  /** `signed`: a write must be signed; `bearer`: it may carry the token */
  readonly writes: 'bearer' | 'signed';
  /** Where you are */
  readonly environment: 'sandbox' | 'production';
  /** Time of the server: signatures are checked against it */
  readonly time: string;
}

/** Your limits: used and remaining amounts */
export interface Limits {
  /** Requests a minute of one key */
  readonly requestsPerMinute: number;
  /** Of each fiat */
  readonly exposure: readonly Exposure[];
}

/** A link to a hosted page */
export interface Link {
  /** Page where the customer continues: give the link to the customer only */
  readonly url: string;
  /** Until when it opens */
  readonly expiresAt: string;
}

/** A pair of assets in one direction, and its terms */
export interface Market {
  /** Id of the market */
  readonly id: string;
  /** `sell`: crypto is paid, fiat received. `buy`: the reverse */
  readonly direction: 'sell' | 'buy';
  /** Asset that the customer pays */
  readonly payAsset: string;
  /** Asset that the customer receives */
  readonly receiveAsset: string;
  /** Least amount that the customer pays */
  readonly min: string;
  /** Largest amount that the customer pays */
  readonly max: string;
  /** Decimal places of what is received */
  readonly receiveDecimals: number;
  /** Usual payment method */
  readonly method: string;
  /** For how many seconds a quote holds */
  readonly quoteSeconds: number;
  /** For how many seconds an order waits for its payment */
  readonly paySeconds: number;
}

/** A member of your team */
export interface Member {
  /** Number of the member */
  readonly id: string;
  /** Short name */
  readonly name: string;
  /** What the member may do */
  readonly role: 'owner' | 'developer' | 'support' | 'finance' | 'viewer';
  /** `invited`: has enrolled no passkey yet */
  readonly state: 'invited' | 'active' | 'removed';
  /** Who let the member in */
  readonly invitedBy: string;
  /** Until when a link to enrol a passkey is open */
  readonly invitedUntil: string | null;
  /** When the member was invited */
  readonly createdAt: string;
  /** When the first passkey was enrolled */
  readonly joinedAt: string | null;
  /** When the member was removed */
  readonly removedAt: string | null;
}

/** An amount of an asset */
export interface Money {
  /** Plain decimal, as text */
  readonly amount: string;
  /** Code of the asset: `inr`, or a coin on a chain such as `usdc.matic20` */
  readonly asset: string;
}

/** An order: a quote with money coming in and money going out */
export interface Order {
  /** Id of the order */
  readonly id: string;
  /** State of the order */
  readonly state:
    | 'created'
    | 'deposit_seen'
    | 'deposit_confirmed'
    | 'awaiting_liquidity'
    | 'on_hold'
    | 'paying_out'
    | 'payout_held'
    | 'refunding'
    | 'refund_held'
    | 'settled'
    | 'refunded'
    | 'expired'
    | 'cancelled';
  /** Grows with every change of the order: of two, the larger is the newer */
  readonly version: number;
  /** `sell`: crypto is paid, fiat received. `buy`: the reverse */
  readonly direction: 'sell' | 'buy';
  /** Id of the market */
  readonly market: string;
  /** Id of the customer */
  readonly customerId: string;
  /** Your own reference */
  readonly reference: string | null;
  /** The quote that it was created with */
  readonly quoteId: string | null;
  /** What the customer is to pay */
  readonly pay: Money;
  /** What the customer is to receive, after all fees */
  readonly receive: Money;
  /** Deposits that were not reversed */
  readonly received: Money;
  /** What of it was sent back */
  readonly refunded: Money;
  /** Fiat for one whole coin */
  readonly rate: string;
  /** Fees, in the fiat of the market; zero parts are left out */
  readonly fees: readonly Fee[];
  /** Payment method */
  readonly method: string;
  /** How the customer pays */
  readonly payment: Payment | null;
  readonly destination: DestinationRef;
  /** Where money goes */
  readonly refundDestination: DestinationRef | null;
  /** Why something about it is unusual */
  readonly reason:
    | 'underpaid'
    | 'overpaid'
    | 'paid_in_parts'
    | 'late'
    | 'second_payment'
    | 'wrong_currency'
    | 'wrong_network'
    | 'payment_reversed'
    | 'payment_replaced'
    | 'payer_name'
    | 'price_moved'
    | 'fee_compensated'
    | 'timed_out'
    | 'payout_rejected'
    | 'payout_returned'
    | 'paid_other_amount'
    | 'refund_rejected'
    | 'refund_returned'
    | 'wrong_account'
    | 'account_closed'
    | 'name_and_account_differ'
    | 'wrong_amount'
    | 'returned_by_bank'
    | 'rejected_by_bank'
    | 'rejected_by_network'
    | 'under_review'
    | null;
  /** Money waits for a destination: see `orders.refund` and `orders.changePayoutDestination` */
  readonly needsDestination: boolean;
  /** Bank reference that the customer claims to have paid with */
  readonly payerReference: string | null;
  /** When it was created */
  readonly createdAt: string;
  /** When it last changed */
  readonly updatedAt: string;
  /** Until when the customer may pay */
  readonly expiresAt: string;
}

/** How the customer pays */
export type Payment =
  | {
      /** A transfer on a chain */
      readonly kind: 'chain';
      /** Code of the chain */
      readonly chain: string;
      /** Address to pay to: of this order alone */
      readonly address: string;
    }
  | {
      /** A bank transfer */
      readonly kind: 'bank';
      /** Holder of the account */
      readonly holder: string;
      /** Name of the bank */
      readonly bank: string;
      /** Branch of the bank; may be empty */
      readonly branch: string;
      /** Number of the account; may be empty */
      readonly accountNumber: string;
      /** Bank code of an Indian account; may be empty */
      readonly ifsc: string;
      /** IBAN; may be empty */
      readonly iban: string;
      /** BIC; may be empty */
      readonly bic: string;
      /** Text that the transfer must carry: of this order alone */
      readonly reference: string;
    };

/** How fiat is paid */
export interface PaymentMethod {
  /** Name of the method */
  readonly code: string;
  /** Code of the fiat */
  readonly asset: string;
  /** Where it is used */
  readonly directions: readonly ('sell' | 'buy')[];
}

/** Money that leaves for an order: one attempt */
export interface Payout {
  /** Id of the payout */
  readonly id: string;
  /** Id of the order */
  readonly orderId: string;
  /** Which attempt it is */
  readonly attempt: number;
  /** `submitted`: handed to bank or chain. `unknown`: whether it left is being found out. `settled`: bank or chain shows it */
  readonly state: 'created' | 'submitted' | 'unknown' | 'settled' | 'returned' | 'rejected';
  /** What is paid */
  readonly amount: Money;
  readonly destination: DestinationRef;
  /** Hash of the transaction on the chain */
  readonly hash: string | null;
  /** Reference of the bank */
  readonly bankReference: string | null;
  /** Why something about it is unusual */
  readonly reason:
    | 'underpaid'
    | 'overpaid'
    | 'paid_in_parts'
    | 'late'
    | 'second_payment'
    | 'wrong_currency'
    | 'wrong_network'
    | 'payment_reversed'
    | 'payment_replaced'
    | 'payer_name'
    | 'price_moved'
    | 'fee_compensated'
    | 'timed_out'
    | 'payout_rejected'
    | 'payout_returned'
    | 'paid_other_amount'
    | 'refund_rejected'
    | 'refund_returned'
    | 'wrong_account'
    | 'account_closed'
    | 'name_and_account_differ'
    | 'wrong_amount'
    | 'returned_by_bank'
    | 'rejected_by_bank'
    | 'rejected_by_network'
    | 'under_review'
    | null;
  /** When it was written */
  readonly createdAt: string;
  /** When it was submitted */
  readonly submittedAt: string | null;
  /** When its outcome was known */
  readonly endedAt: string | null;
}

/** A price that the rate was made of */
export interface PriceUsed {
  /** Coin that is priced */
  readonly base: string;
  /** Currency that it is priced in */
  readonly quote: string;
  /** Where the price comes from */
  readonly source: string;
  /** Quote currency for one whole coin */
  readonly rate: string;
  /** When the price was valid, according to its source */
  readonly at: string;
  /** The pairs it was computed through, in order; null where the source quotes the pair */
  readonly cross: readonly string[] | null;
}

/** Why a request was declined: RFC 9457 */
export interface Problem {
  /** Page that explains the reason */
  readonly type: string;
  /** The reason in a few words */
  readonly title: string;
  /** HTTP status */
  readonly status: number;
  /** What is wrong with this request */
  readonly detail: string;
  /** The word to branch on */
  readonly reason: string;
  /** Id of the request */
  readonly requestId: string;
  /** Which field is wrong, and the rule it breaks */
  readonly fields?: Readonly<Record<string, string>> | undefined;
  /** What is allowed */
  readonly limits?:
    | {
        /** Code of the asset */
        readonly asset: string;
        /** Least amount */
        readonly min: string;
        /** Largest amount */
        readonly max: string;
      }
    | undefined;
  /** What there is instead */
  readonly supported?: readonly string[] | undefined;
  /** State that does not allow it */
  readonly state?: string | undefined;
  /** The customer that exists */
  readonly customerId?: string | undefined;
  /** The submission that is under way */
  readonly submissionId?: string | undefined;
  /** From when on the destination may be paid */
  readonly usableAt?: string | undefined;
  /** The limit with the smallest remainder */
  readonly customerLimit?:
    | {
        /** Counted of one order, of any 24 hours (day), of any 30 days (month) */
        readonly per: 'order' | 'day' | 'month';
        /** Fiat whose worth counts */
        readonly asset: string;
        /** Only orders in this direction count; null: both together */
        readonly direction: 'sell' | 'buy' | null;
        /** Only orders on this market count; null: all of the fiat together */
        readonly market: string | null;
        /** The most */
        readonly max: string;
        /** What orders of the customer are worth that count */
        readonly used: string;
        /** What is left */
        readonly left: string;
        /** From when this amount is available, if no further order is made; null if it never is */
        readonly fitsAt: string | null;
        /** Level of the customer */
        readonly level: number;
        /** The lowest level that allows more; null where none does */
        readonly nextLevel: number | null;
      }
    | undefined;
}

/** An offer at a price, valid until it expires, and taken once */
export interface Quote {
  /** Id of the quote */
  readonly id: string;
  /** `open`: an order may take it until `expiresAt` */
  readonly state: 'open' | 'taken' | 'expired';
  /** Id of the market */
  readonly market: string;
  /** `sell`: crypto is paid, fiat received. `buy`: the reverse */
  readonly direction: 'sell' | 'buy';
  /** Which side the request named */
  readonly fixed: 'pay' | 'receive';
  /** What the customer pays */
  readonly pay: Money;
  /** What the customer receives, after all fees */
  readonly receive: Money;
  /** Fiat for one whole coin */
  readonly rate: string;
  /** Fees, in the fiat of the market; zero parts are left out */
  readonly fees: readonly Fee[];
  /** The prices it was made of */
  readonly prices: readonly PriceUsed[];
  /** Order that has taken it */
  readonly orderId: string | null;
  /** When it was made */
  readonly createdAt: string;
  /** Until when an order may take it */
  readonly expiresAt: string;
  /** Proof of the offer, for your own records */
  readonly signature: {
    /** Under the secret of your key */
    readonly algorithm: 'hmac-sha256';
    /** The key whose secret signs */
    readonly keyId: string;
    /** What is signed: `cloverleaf-quote`, id, market, amount and asset paid, amount and asset received, rate, expiry; one space between */
    readonly text: string;
    /** The signature in hex */
    readonly value: string;
  };
}

/** Money that goes back */
export interface Refund {
  /** Id of the refund */
  readonly id: string;
  /** Id of the order */
  readonly orderId: string;
  /** `payout`: a payout that came back, paid again */
  readonly kind: 'refund' | 'payout';
  /** How far it is */
  readonly state: 'needs_destination' | 'created' | 'under_review' | 'submitted' | 'settled' | 'rejected' | 'returned';
  /** What goes back */
  readonly amount: Money;
  /** Where money goes */
  readonly destination: DestinationRef | null;
  /** Hash of the transaction on the chain */
  readonly hash: string | null;
  /** Reference of the bank */
  readonly bankReference: string | null;
  /** Why something about it is unusual */
  readonly reason:
    | 'underpaid'
    | 'overpaid'
    | 'paid_in_parts'
    | 'late'
    | 'second_payment'
    | 'wrong_currency'
    | 'wrong_network'
    | 'payment_reversed'
    | 'payment_replaced'
    | 'payer_name'
    | 'price_moved'
    | 'fee_compensated'
    | 'timed_out'
    | 'payout_rejected'
    | 'payout_returned'
    | 'paid_other_amount'
    | 'refund_rejected'
    | 'refund_returned'
    | 'wrong_account'
    | 'account_closed'
    | 'name_and_account_differ'
    | 'wrong_amount'
    | 'returned_by_bank'
    | 'rejected_by_bank'
    | 'rejected_by_network'
    | 'under_review';
  /** When it was decided on */
  readonly createdAt: string;
  /** When it last changed */
  readonly updatedAt: string;
}

/** Removed */
export interface Removed {
  /** Id of the removed endpoint */
  readonly id: string;
  /** It is gone */
  readonly removed: true;
}

/** What is sent again */
export interface Replayed {
  /** How many events are sent again */
  readonly replayed: number;
  /** Whether there are more: ask for a shorter span */
  readonly hasMore: boolean;
}

/** One of your requests, with its reply */
export interface RequestDetail {
  /** Id of the request: `X-Request-Id` of its answer */
  readonly id: string;
  /** What you sent as `X-Client-Request-Id` */
  readonly clientRequestId: string | null;
  /** When it came */
  readonly at: string;
  /** The key that asked */
  readonly key: string;
  /** `v1`: this API; `white-label`: the older wire, whose lines have neither body nor reply */
  readonly protocol: 'v1' | 'white-label';
  /** Name of the endpoint; of the white-label wire, its path */
  readonly operation: string;
  /** HTTP method */
  readonly method: string;
  /** Path as asked, without its query */
  readonly path: string;
  /** HTTP status that was answered */
  readonly status: number;
  /** Why it was declined */
  readonly reason: string | null;
  /** What was wrong with a signature or token that was not accepted */
  readonly why: string | null;
  /** How long it took, in milliseconds */
  readonly tookMs: number;
  /** Whether an earlier answer was given again */
  readonly replayed: boolean;
  /** Version that answered; null of the white-label wire */
  readonly version: string | null;
  /** Idempotency-Key that was sent */
  readonly idempotencyKey: string | null;
  /** Fields of the request, without personal data */
  readonly request: Readonly<Record<string, unknown>> | null;
  /** The reply, without personal data */
  readonly reply: Readonly<Record<string, unknown>> | null;
}

/** A request of yours */
export interface RequestLine {
  /** Id of the request: `X-Request-Id` of its answer */
  readonly id: string;
  /** What you sent as `X-Client-Request-Id` */
  readonly clientRequestId: string | null;
  /** When it came */
  readonly at: string;
  /** The key that asked */
  readonly key: string;
  /** `v1`: this API; `white-label`: the older wire, whose lines have neither body nor reply */
  readonly protocol: 'v1' | 'white-label';
  /** Name of the endpoint; of the white-label wire, its path */
  readonly operation: string;
  /** HTTP method */
  readonly method: string;
  /** Path as asked, without its query */
  readonly path: string;
  /** HTTP status that was answered */
  readonly status: number;
  /** Why it was declined */
  readonly reason: string | null;
  /** What was wrong with a signature or token that was not accepted */
  readonly why: string | null;
  /** How long it took, in milliseconds */
  readonly tookMs: number;
  /** Whether an earlier answer was given again */
  readonly replayed: boolean;
  /** Version that answered; null of the white-label wire */
  readonly version: string | null;
}

/** What accounts and verification need */
export interface Requirements {
  /** What a bank account needs, by currency */
  readonly accounts: readonly {
    /** Code of the fiat */
    readonly asset: string;
    /** Fields that an account in it needs */
    readonly fields: readonly string[];
  }[];
  /** What a person supplies on the hosted page to be verified */
  readonly verification: readonly {
    /** Name of the field */
    readonly field: string;
    /** Its label, for people */
    readonly label: string;
    /** Whether it is needed */
    readonly required: boolean;
    /** Regular expression that it must match */
    readonly pattern: string | null;
  }[];
  /** Documents that are taken there */
  readonly documents: readonly string[];
}

/** Your settings */
export interface Settings {
  /** Your name, as the operator set it */
  readonly name: string;
  /** Origins whose pages may call with your keys */
  readonly origins: readonly string[];
}

/** A day on a market */
export interface StatementDay {
  /** Day in UTC on which the orders were created */
  readonly day: string;
  /** Id of the market */
  readonly market: string;
  /** `sell`: crypto is paid, fiat received. `buy`: the reverse */
  readonly direction: 'sell' | 'buy';
  /** How many orders were created */
  readonly created: number;
  /** How many of them have settled */
  readonly settled: number;
  /** How many of them were refunded */
  readonly refunded: number;
  /** What customers paid for the settled ones */
  readonly paid: Money;
  /** What customers received */
  readonly received: Money;
  /** Your fee in the settled ones */
  readonly earned: Money;
  /** All fees in the settled ones, yours included */
  readonly fees: Money;
}

/** What a customer has supplied to be verified */
export interface Submission {
  /** Id of the submission */
  readonly id: string;
  /** Id of the customer */
  readonly customerId: string;
  /** A person or a business */
  readonly kind: 'individual' | 'business';
  /** open: send what `needs` names; in_review: the verifier has it; completed, failed: over */
  readonly state: 'open' | 'in_review' | 'completed' | 'failed';
  /** What must be sent, or sent again; empty unless it is open */
  readonly needs: readonly {
    /** Name of the field or file */
    readonly name: string;
    /** Whether it is an answer or a file */
    readonly what: 'field' | 'file';
    /** Why it is needed */
    readonly reason: 'missing' | 'unreadable' | 'expired' | 'does_not_match' | 'incomplete' | 'not_accepted';
    /** The reason as the end of a sentence */
    readonly means: string;
    /** What to do */
    readonly remedy: string;
    /** An answer that is accepted */
    readonly example: string | null;
  }[];
  /** Fields that have an answer */
  readonly answered: readonly string[];
  /** Files that count: the newest of each name */
  readonly files: readonly {
    /** Name of the file in the form */
    readonly name: string;
    /** What it is, by its content */
    readonly type: string;
    /** Its size */
    readonly bytes: number;
    /** When it was sent */
    readonly sentAt: string;
  }[];
  /** When it was begun */
  readonly createdAt: string;
  /** When it last changed */
  readonly updatedAt: string;
}

/** Sent */
export interface TestSent {
  /** A test event is on its way */
  readonly sent: true;
}

/** Where the money of an order is: who holds it, since when, the evidence, and the next step */
export interface Trace {
  /** Id of the order */
  readonly orderId: string;
  /** State of the order */
  readonly state:
    | 'created'
    | 'deposit_seen'
    | 'deposit_confirmed'
    | 'awaiting_liquidity'
    | 'on_hold'
    | 'paying_out'
    | 'payout_held'
    | 'refunding'
    | 'refund_held'
    | 'settled'
    | 'refunded'
    | 'expired'
    | 'cancelled';
  /** Who has the money: the customer who pays, chain or bank on the way to us, the operator, or who was to receive it */
  readonly heldBy: 'customer' | 'in_transit' | 'operator' | 'recipient';
  /** How much it is */
  readonly amount: Money;
  /** Since when */
  readonly since: string;
  /** What shows it, oldest first */
  readonly evidence: readonly {
    /** What happened */
    readonly what:
      | 'deposit_seen'
      | 'deposit_confirmed'
      | 'payout_submitted'
      | 'payout_settled'
      | 'payout_returned'
      | 'payout_rejected'
      | 'refund_submitted'
      | 'refund_settled'
      | 'refund_returned';
    /** Id of the deposit, payout or refund */
    readonly id: string;
    /** An amount of an asset */
    readonly amount: Money | null;
    /** Hash of the transaction on the chain */
    readonly hash: string | null;
    /** Reference of the bank */
    readonly bankReference: string | null;
    /** When */
    readonly at: string;
  }[];
  /** The next step, who does it, and its deadline */
  readonly next: {
    /** What happens next */
    readonly step:
      | 'customer_pays'
      | 'deposit_confirms'
      | 'screening'
      | 'operator_funds'
      | 'review'
      | 'payout_submits'
      | 'destination_confirms'
      | 'payout_arrives'
      | 'destination_is_named'
      | 'refund_submits'
      | 'refund_arrives'
      | 'nothing';
    /** Who has to do it */
    readonly by: 'customer' | 'partner' | 'operator' | 'rail' | 'nobody';
    /** By when */
    readonly until: string | null;
    /** What happens if it does not */
    readonly otherwise: string | null;
    /** The same as a sentence */
    readonly says: string;
  };
  /** Money of the order that is apart from it: late, too much, of another asset, or returned */
  readonly otherMoney: readonly {
    /** Id of the deposit */
    readonly depositId: string;
    readonly amount: Money;
    /** Why something about it is unusual */
    readonly reason:
      | 'underpaid'
      | 'overpaid'
      | 'paid_in_parts'
      | 'late'
      | 'second_payment'
      | 'wrong_currency'
      | 'wrong_network'
      | 'payment_reversed'
      | 'payment_replaced'
      | 'payer_name'
      | 'price_moved'
      | 'fee_compensated'
      | 'timed_out'
      | 'payout_rejected'
      | 'payout_returned'
      | 'paid_other_amount'
      | 'refund_rejected'
      | 'refund_returned'
      | 'wrong_account'
      | 'account_closed'
      | 'name_and_account_differ'
      | 'wrong_amount'
      | 'returned_by_bank'
      | 'rejected_by_bank'
      | 'rejected_by_network'
      | 'under_review';
    /** What happens next */
    readonly next:
      | 'customer_pays'
      | 'deposit_confirms'
      | 'screening'
      | 'operator_funds'
      | 'review'
      | 'payout_submits'
      | 'destination_confirms'
      | 'payout_arrives'
      | 'destination_is_named'
      | 'refund_submits'
      | 'refund_arrives'
      | 'nothing';
  }[];
}

/** Where events are posted to */
export interface WebhookEndpoint {
  /** Id of the endpoint */
  readonly id: string;
  /** Address that events are posted to */
  readonly url: string;
  /** Form of the body; `standard` is this API’s */
  readonly format: 'standard' | 'whitelabel' | 'flat';
  /** Types of events; none: all */
  readonly events: readonly string[];
  /** Whether events are sent */
  readonly enabled: boolean;
  /** How many attempts have failed in a row */
  readonly failures: number;
  /** Until when no attempt is made, after failures */
  readonly pausedUntil: string | null;
  /** Since when every attempt has failed */
  readonly failingSince: string | null;
  /** When it was switched off, because every attempt had failed for five days */
  readonly switchedOffAt: string | null;
  /** Since when it is held, because a key of yours may have leaked */
  readonly heldAt: string | null;
  /** Until when the previous secret signs as well */
  readonly oldSecretUntil: string | null;
  /** When it was added */
  readonly createdAt: string;
  /** When it last changed */
  readonly updatedAt: string;
}

/** A webhook endpoint with its secret */
export interface WebhookEndpointWithSecret {
  /** Id of the endpoint */
  readonly id: string;
  /** Address that events are posted to */
  readonly url: string;
  /** Form of the body; `standard` is this API’s */
  readonly format: 'standard' | 'whitelabel' | 'flat';
  /** Types of events; none: all */
  readonly events: readonly string[];
  /** Whether events are sent */
  readonly enabled: boolean;
  /** How many attempts have failed in a row */
  readonly failures: number;
  /** Until when no attempt is made, after failures */
  readonly pausedUntil: string | null;
  /** Since when every attempt has failed */
  readonly failingSince: string | null;
  /** When it was switched off, because every attempt had failed for five days */
  readonly switchedOffAt: string | null;
  /** Since when it is held, because a key of yours may have leaked */
  readonly heldAt: string | null;
  /** Until when the previous secret signs as well */
  readonly oldSecretUntil: string | null;
  /** When it was added */
  readonly createdAt: string;
  /** When it last changed */
  readonly updatedAt: string;
  /** Secret that signs the webhooks: shown here and never again */
  readonly secret: string;
}

/** The native API, by name. */
export interface V1 {
  readonly markets: {
    /** Lists the pairs that are traded, each with its limits and terms. */
    list(options?: CallOptions): Promise<{
      /** All of them */
      readonly data: readonly Market[];
    }>;
  };
  readonly assets: {
    /** Lists the assets of the markets. */
    list(options?: CallOptions): Promise<{
      /** All of them */
      readonly data: readonly Asset[];
    }>;
  };
  readonly chains: {
    /** Lists the chains of the markets. */
    list(options?: CallOptions): Promise<{
      /** All of them */
      readonly data: readonly Chain[];
    }>;
  };
  readonly methods: {
    /** Lists the payment methods of the markets. */
    list(options?: CallOptions): Promise<{
      /** All of them */
      readonly data: readonly PaymentMethod[];
    }>;
  };
  readonly quotes: {
    /** Quotes a sale or a purchase at a price that holds until the quote expires, for an amount paid or an amount received. */
    create(
      body: {
        /** Code of the asset that the customer pays */
        readonly payAsset: string;
        /** Code of the asset that the customer receives */
        readonly receiveAsset: string;
        /** Amount that the customer pays; either this or receiveAmount */
        readonly payAmount?: string | undefined;
        /** Amount that the customer receives, after all fees; either this or payAmount */
        readonly receiveAmount?: string | undefined;
      },
      options?: CallOptions,
    ): Promise<Quote>;
    /** Shows a stored quote, and whether an order can still use it. */
    get(quote: string, options?: CallOptions): Promise<Quote>;
  };
  readonly orders: {
    /** Lists orders, the newest first. */
    list(
      query?: {
        /** Only those in this state */
        readonly state?:
          | 'created'
          | 'deposit_seen'
          | 'deposit_confirmed'
          | 'awaiting_liquidity'
          | 'on_hold'
          | 'paying_out'
          | 'payout_held'
          | 'refunding'
          | 'refund_held'
          | 'settled'
          | 'refunded'
          | 'expired'
          | 'cancelled'
          | undefined;
        /** Only those of this market */
        readonly market?: string | undefined;
        /** Id of the customer */
        readonly customerId?: string | undefined;
        /** Your own reference */
        readonly reference?: string | undefined;
        /** Only items of this time or later */
        readonly from?: string | undefined;
        /** Only items before this time */
        readonly until?: string | undefined;
        /** The page that begins after this: `nextCursor` of the page before */
        readonly cursor?: string | undefined;
        /** Most rows of the page */
        readonly limit?: number | undefined;
      },
      options?: CallOptions,
    ): Pages<Order>;
    /** Creates an order from an open quote, and answers how the customer pays. */
    create(
      body: {
        /** Quote that the order takes */
        readonly quoteId: string;
        /** Id of the customer */
        readonly customerId: string;
        /** Destination of the customer that is paid */
        readonly destinationId: string;
        /** Destination of the customer that money goes back to, should it have to */
        readonly refundDestinationId?: string | undefined;
        /** Payment method, as methods.list names it */
        readonly method?: string | undefined;
        /** Your own reference */
        readonly reference?: string | undefined;
      },
      options?: CallOptions,
    ): Promise<Order>;
    /** Answers one order. */
    get(order: string, options?: CallOptions): Promise<Order>;
    /** Shows where the money of an order is: who holds it, since when, the evidence, the next step and its deadline. */
    trace(order: string, options?: CallOptions): Promise<Trace>;
    /** Lists the deposits of an order, oldest first. */
    deposits(
      order: string,
      query?: {
        /** The page that begins after this: `nextCursor` of the page before */
        readonly cursor?: string | undefined;
        /** Most rows of the page */
        readonly limit?: number | undefined;
      },
      options?: CallOptions,
    ): Pages<Deposit>;
    /** Lists the attempts to pay an order out, the oldest first. */
    payouts(
      order: string,
      query?: {
        /** The page that begins after this: `nextCursor` of the page before */
        readonly cursor?: string | undefined;
        /** Most rows of the page */
        readonly limit?: number | undefined;
      },
      options?: CallOptions,
    ): Pages<Payout>;
    /** Lists what goes back of an order, and what of it is paid again; the oldest first. */
    refunds(
      order: string,
      query?: {
        /** The page that begins after this: `nextCursor` of the page before */
        readonly cursor?: string | undefined;
        /** Most rows of the page */
        readonly limit?: number | undefined;
      },
      options?: CallOptions,
    ): Pages<Refund>;
    /** Cancels an order while nothing has come for it. */
    cancel(order: string, options?: CallOptions): Promise<Order>;
    /** Requests a refund of the money held for an order, or of one of its deposits in suspense, to a destination of the customer. */
    refund(
      order: string,
      body: {
        /** Destination of the customer that is paid */
        readonly destinationId: string;
        /** A deposit in suspense; without it, all that the order holds */
        readonly depositId?: string | undefined;
      },
      options?: CallOptions,
    ): Promise<Order>;
    /** Pays an order whose payout was rejected or came back to another destination of the same customer. */
    changePayoutDestination(
      order: string,
      body: {
        /** Destination of the customer that is paid */
        readonly destinationId: string;
      },
      options?: CallOptions,
    ): Promise<Order>;
    /** Lists the wallets on the other side of an order that the travel rule still asks about. */
    wallets(
      order: string,
      options?: CallOptions,
    ): Promise<{
      /** Wallets that something is missing of */
      readonly data: readonly {
        /** Where the coins of a sale come from, or where those of a purchase go */
        readonly direction: 'in' | 'out';
        /** The wallet; null where the chain does not say */
        readonly address: string | null;
        /** What is missing: who holds the wallet, its proof, the name of the customer, or the address; of a hosted wallet also its travel address, a provider that we know, its answer (`refused`: it refused), or the data of the provider that sent the coins */
        readonly missing: readonly (
          | 'wallet'
          | 'proof'
          | 'name'
          | 'sender'
          | 'travel_address'
          | 'provider'
          | 'answer'
          | 'refused'
          | 'data'
        )[];
        /** The text that its owner signs */
        readonly text: string | null;
      }[];
      /** Until when the payout waits for it; null while none does */
      readonly dueAt: string | null;
      /** Of a sale: what the customer passes on to the provider that sends the coins; null where no data is exchanged */
      readonly travelAddress: string | null;
    }>;
    /** Declares who holds a wallet on the other side of an order and who owns it, and returns what the travel rule still needs. */
    nameWallet(
      order: string,
      body: {
        /** The wallet: that a purchase is paid to, or that the coins of a sale come from */
        readonly address: string;
        /** Held by a provider, or by its owner */
        readonly kind: 'hosted' | 'self_hosted';
        /** The customer's own, or another's */
        readonly owner: 'customer' | 'other';
        /** Name of the owner, if it is another's */
        readonly ownerName?: string | undefined;
        /** Name of the provider of a hosted wallet */
        readonly provider?: string | undefined;
        /** Of a hosted wallet: where its provider is asked before the coins leave */
        readonly travelAddress?: string | undefined;
        /** Over the text that orders.wallets answers, by the key of the address */
        readonly signature?: string | undefined;
      },
      options?: CallOptions,
    ): Promise<{
      /** Wallets that something is missing of */
      readonly data: readonly {
        /** Where the coins of a sale come from, or where those of a purchase go */
        readonly direction: 'in' | 'out';
        /** The wallet; null where the chain does not say */
        readonly address: string | null;
        /** What is missing: who holds the wallet, its proof, the name of the customer, or the address; of a hosted wallet also its travel address, a provider that we know, its answer (`refused`: it refused), or the data of the provider that sent the coins */
        readonly missing: readonly (
          | 'wallet'
          | 'proof'
          | 'name'
          | 'sender'
          | 'travel_address'
          | 'provider'
          | 'answer'
          | 'refused'
          | 'data'
        )[];
        /** The text that its owner signs */
        readonly text: string | null;
      }[];
      /** Until when the payout waits for it; null while none does */
      readonly dueAt: string | null;
      /** Of a sale: what the customer passes on to the provider that sends the coins; null where no data is exchanged */
      readonly travelAddress: string | null;
    }>;
    /** Notes the bank reference that the customer claims to have paid with. */
    namePayerReference(
      order: string,
      body: {
        /** Reference that the customer’s bank gave the transfer */
        readonly payerReference: string;
      },
      options?: CallOptions,
    ): Promise<Order>;
  };
  readonly customers: {
    /** Lists your customers, the newest first; by `reference`, the one of this name. */
    list(
      query?: {
        /** Only the one with this name of yours */
        readonly reference?: string | undefined;
        /** Only those whose verification is so far */
        readonly verification?: 'none' | 'in_review' | 'verified' | 'failed' | 'refused' | undefined;
        /** Only those created not earlier */
        readonly from?: string | undefined;
        /** Only those created earlier */
        readonly until?: string | undefined;
        /** The page that begins after this: `nextCursor` of the page before */
        readonly cursor?: string | undefined;
        /** Most rows of the page */
        readonly limit?: number | undefined;
      },
      options?: CallOptions,
    ): Pages<Customer>;
    /** Adds a customer. */
    create(
      body: {
        /** Your own name for the customer */
        readonly reference: string;
        /** A person or a business */
        readonly kind: 'individual' | 'business';
        /** Phone number with its country code, such as +91-9876543210 */
        readonly phone: string;
        /** E-mail address */
        readonly email?: string | undefined;
        /** Country of the customer */
        readonly country?: string | undefined;
      },
      options?: CallOptions,
    ): Promise<Customer>;
    /** Answers one customer. */
    get(customer: string, options?: CallOptions): Promise<Customer>;
    /** Changes phone, e-mail address or country of a customer. */
    update(
      customer: string,
      body?: {
        /** Phone number with its country code, such as +91-9876543210 */
        readonly phone?: string | undefined;
        /** E-mail address */
        readonly email?: string | undefined;
        /** Country of the customer */
        readonly country?: string | undefined;
      },
      options?: CallOptions,
    ): Promise<Customer>;
    /** Makes a link to a page on which the customer logs in and is verified. */
    verificationLink(
      customer: string,
      body?: {
        /** Page that the customer goes back to afterwards */
        readonly redirectUrl?: string | undefined;
      },
      options?: CallOptions,
    ): Promise<Link>;
    /** Makes a link to a page on which the customer logs in and adds a bank account, which is confirmed thereby. */
    accountLink(
      customer: string,
      body?: {
        /** Code of the asset */
        readonly asset?: string | undefined;
        /** Page that the customer goes back to afterwards */
        readonly redirectUrl?: string | undefined;
      },
      options?: CallOptions,
    ): Promise<Link>;
    /** Shows the maximum of one order on each market, the use of the customer’s limits across orders, what a higher level allows and needs, and the remainder of the caps that your customers share. */
    limits(customer: string, options?: CallOptions): Promise<CustomerLimits>;
  };
  readonly requirements: {
    /** Answers what bank accounts and verification need. */
    get(options?: CallOptions): Promise<Requirements>;
  };
  readonly submissions: {
    /** Answers the form by which a customer is verified: fields, and documents with the names of their files. */
    requirements(
      customer: string,
      query?: {
        /** Fiat whose form is meant, of a person */
        readonly asset?: string | undefined;
        /** Level that the form is for; without it, the one from which your customers trade */
        readonly level?: number | undefined;
      },
      options?: CallOptions,
    ): Promise<CustomerRequirements>;
    /** Lists the submissions of a customer, the newest first. */
    list(
      customer: string,
      query?: {
        /** The page that begins after this: `nextCursor` of the page before */
        readonly cursor?: string | undefined;
        /** Most rows of the page */
        readonly limit?: number | undefined;
      },
      options?: CallOptions,
    ): Pages<Submission>;
    /** Begins a submission: with all answers, some, or none. */
    create(
      customer: string,
      body?: {
        /** Fiat whose form is meant, of a person */
        readonly asset?: string | undefined;
        /** Level that the form is for; without it, the one from which your customers trade */
        readonly level?: number | undefined;
        /** Answers, by the names of `submissions.requirements` */
        readonly answers?: Readonly<Record<string, string>> | undefined;
        /** Name of a business */
        readonly entityName?: string | undefined;
        /** Legal form of a business */
        readonly legalEntityNature?: string | undefined;
        /** Owners of a business: firstName, lastName, share in percent, and dob and country where known; together at most 100 percent */
        readonly owners?: readonly Readonly<Record<string, string>>[] | undefined;
        /** Directors of a business, as owners but without a share */
        readonly directors?: readonly Readonly<Record<string, string>>[] | undefined;
      },
      options?: CallOptions,
    ): Promise<Submission>;
    /** Answers one submission: its state, and what it needs, each with the reason and the remedy. */
    get(customer: string, submission: string, options?: CallOptions): Promise<Submission>;
    /** Adds answers to an open submission, or corrects them. */
    update(
      customer: string,
      submission: string,
      body?: {
        /** Answers, by the names of `submissions.requirements` */
        readonly answers?: Readonly<Record<string, string>> | undefined;
        /** Name of a business */
        readonly entityName?: string | undefined;
        /** Legal form of a business */
        readonly legalEntityNature?: string | undefined;
        /** Owners of a business: firstName, lastName, share in percent, and dob and country where known; together at most 100 percent */
        readonly owners?: readonly Readonly<Record<string, string>>[] | undefined;
        /** Directors of a business, as owners but without a share */
        readonly directors?: readonly Readonly<Record<string, string>>[] | undefined;
      },
      options?: CallOptions,
    ): Promise<Submission>;
    /** Adds files to a submission, as multipart/form-data. */
    addFiles(customer: string, submission: string, files: Files, options?: CallOptions): Promise<Submission>;
  };
  readonly informationRequests: {
    /** Lists what the operator waits for you to answer about any customer, the most urgent first: at most 100. */
    open(options?: CallOptions): Promise<{
      /** All of them */
      readonly data: readonly InformationRequest[];
    }>;
    /** Lists what the operator has asked about a customer, the newest first. */
    list(
      customer: string,
      query?: {
        /** The page that begins after this: `nextCursor` of the page before */
        readonly cursor?: string | undefined;
        /** Most rows of the page */
        readonly limit?: number | undefined;
      },
      options?: CallOptions,
    ): Pages<InformationRequest>;
    /** Adds files to an open question, as multipart/form-data, for the answer that follows. */
    addFiles(customer: string, request: string, files: Files, options?: CallOptions): Promise<InformationRequest>;
    /** Answers what the operator has asked about a customer. */
    answer(
      customer: string,
      request: string,
      body: {
        /** What the operator wants to know */
        readonly answer: string;
      },
      options?: CallOptions,
    ): Promise<InformationRequest>;
  };
  readonly destinations: {
    /** Lists the destinations of a customer, the oldest first. */
    list(
      customer: string,
      query?: {
        /** The page that begins after this: `nextCursor` of the page before */
        readonly cursor?: string | undefined;
        /** Most rows of the page */
        readonly limit?: number | undefined;
      },
      options?: CallOptions,
    ): Pages<Destination>;
    /** Adds a bank account or an address to which a customer is paid. */
    create(
      customer: string,
      body: {
        /** A bank account, or an address on a chain */
        readonly kind: 'account' | 'address';
        /** Code of the asset */
        readonly asset?: string | undefined;
        /** Number of the account */
        readonly accountNumber?: string | undefined;
        /** Bank code of an Indian account */
        readonly ifsc?: string | undefined;
        /** IBAN */
        readonly iban?: string | undefined;
        /** BIC of the bank */
        readonly bic?: string | undefined;
        /** Sort code of a British account */
        readonly sortCode?: string | undefined;
        /** Routing number of an American account */
        readonly routingNumber?: string | undefined;
        /** Code of the bank, where the country has another */
        readonly bankCode?: string | undefined;
        /** Name of the bank */
        readonly bankName?: string | undefined;
        /** Holder of the account */
        readonly accountHolder?: string | undefined;
        /** Code of the chain */
        readonly chain?: string | undefined;
        /** Address on the chain */
        readonly address?: string | undefined;
      },
      options?: CallOptions,
    ): Promise<Destination>;
    /** Answers one destination of a customer. */
    get(customer: string, destination: string, options?: CallOptions): Promise<Destination>;
    /** Makes a link to a page on which the customer logs in, sees the destination and confirms it with a code. */
    confirmationLink(
      customer: string,
      destination: string,
      body?: {
        /** Page that the customer goes back to afterwards */
        readonly redirectUrl?: string | undefined;
      },
      options?: CallOptions,
    ): Promise<Link>;
    /** Sends the customer a code to the phone, with which the destination is confirmed. */
    sendCode(customer: string, destination: string, options?: CallOptions): Promise<CodeSent>;
    /** Confirms a destination with the code that was sent to the customer. */
    confirm(
      customer: string,
      destination: string,
      body: {
        /** Code that was sent to the phone of the customer */
        readonly code: string;
      },
      options?: CallOptions,
    ): Promise<Destination>;
  };
  readonly events: {
    /** Lists your events, the oldest first, in an order that never changes. */
    list(
      query?: {
        /** The page that begins after this: `nextCursor` of the page before */
        readonly cursor?: string | undefined;
        /** Most rows of the page */
        readonly limit?: number | undefined;
      },
      options?: CallOptions,
    ): Pages<Event>;
  };
  readonly webhooks: {
    /** Lists webhook endpoints, the oldest first. */
    list(options?: CallOptions): Promise<{
      /** All of them */
      readonly data: readonly WebhookEndpoint[];
    }>;
    /** Adds a webhook endpoint, and answers its secret. */
    create(
      body: {
        /** Address that events are posted to */
        readonly url: string;
        /** Types of events, such as order.settled or order.*; none: all */
        readonly events?: readonly string[] | undefined;
      },
      options?: CallOptions,
    ): Promise<WebhookEndpointWithSecret>;
    /** Answers one webhook endpoint. */
    get(endpoint: string, options?: CallOptions): Promise<WebhookEndpoint>;
    /** Changes a webhook endpoint. */
    update(
      endpoint: string,
      body?: {
        /** Address that events are posted to */
        readonly url?: string | undefined;
        /** Types of events, such as order.settled or order.*; none: all */
        readonly events?: readonly string[] | undefined;
        /** Whether events are sent */
        readonly enabled?: boolean | undefined;
      },
      options?: CallOptions,
    ): Promise<WebhookEndpoint>;
    /** Removes a webhook endpoint. What still waits for it is dropped. */
    remove(endpoint: string, options?: CallOptions): Promise<Removed>;
    /** Gives a webhook endpoint a new secret; the previous one signs as well for a while. */
    rotateSecret(
      endpoint: string,
      body?: {
        /** For how many seconds the previous secret signs as well */
        readonly overlapSeconds?: number | undefined;
      },
      options?: CallOptions,
    ): Promise<WebhookEndpointWithSecret>;
    /** Sends to a held webhook endpoint again, from the first event that it missed. */
    resume(endpoint: string, options?: CallOptions): Promise<WebhookEndpoint>;
    /** Sends a test event to a webhook endpoint. */
    test(endpoint: string, options?: CallOptions): Promise<TestSent>;
    /** Sends events again: one, those of an order, or those of a span of time. */
    replay(
      endpoint: string,
      body?: {
        /** Id of an event */
        readonly eventId?: string | undefined;
        /** Id of an order */
        readonly orderId?: string | undefined;
        /** Only items of this time or later */
        readonly from?: string | undefined;
        /** Only items before this time */
        readonly until?: string | undefined;
      },
      options?: CallOptions,
    ): Promise<Replayed>;
    /** Lists past and pending deliveries to an endpoint, newest first. */
    deliveries(
      endpoint: string,
      query?: {
        /** Only those in this state */
        readonly state?: 'waiting' | 'delivered' | 'dead' | 'dropped' | undefined;
        /** The page that begins after this: `nextCursor` of the page before */
        readonly cursor?: string | undefined;
        /** Most rows of the page */
        readonly limit?: number | undefined;
      },
      options?: CallOptions,
    ): Pages<Delivery>;
    /** Lists the attempts to deliver one event to an endpoint. */
    attempts(
      endpoint: string,
      event: string,
      options?: CallOptions,
    ): Promise<{
      /** All of them */
      readonly data: readonly Attempt[];
    }>;
  };
  readonly key: {
    /** Answers what the key that asks may do, and which version answers it. */
    get(options?: CallOptions): Promise<Key>;
  };
  readonly limits: {
    /** Shows your limits: used and remaining amounts. */
    get(options?: CallOptions): Promise<Limits>;
  };
  readonly requests: {
    /** Lists your requests of the last 30 days, on this API and on the white-label wire, the newest first. */
    list(
      query?: {
        /** Only requests of this interface */
        readonly protocol?: 'v1' | 'white-label' | undefined;
        /** Only requests of this endpoint */
        readonly operation?: string | undefined;
        /** Only requests that were answered with this HTTP status */
        readonly status?: number | undefined;
        /** Only requests that were declined for this reason */
        readonly reason?: string | undefined;
        /** Only items of this time or later */
        readonly from?: string | undefined;
        /** Only items before this time */
        readonly until?: string | undefined;
        /** The page that begins after this: `nextCursor` of the page before */
        readonly cursor?: string | undefined;
        /** Most rows of the page */
        readonly limit?: number | undefined;
      },
      options?: CallOptions,
    ): Pages<RequestLine>;
    /** Shows one of your requests of the last 30 days, with its reply and the reason. */
    get(request: string, options?: CallOptions): Promise<RequestDetail>;
    /** Says why a request of your program is accepted or not: key, token, covered parts, digest, time and signature. */
    diagnose(
      body: {
        /** Method of the request */
        readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE';
        /** Path and query */
        readonly path: string;
        /** Headers by name */
        readonly headers?: Readonly<Record<string, unknown>> | undefined;
        /** Body, exactly as it was sent */
        readonly body?: string | undefined;
      },
      options?: CallOptions,
    ): Promise<Diagnosis>;
  };
  readonly keys: {
    /** Lists your API keys, the oldest first, without their secrets. */
    list(options?: CallOptions): Promise<{
      /** All of them */
      readonly data: readonly ApiKey[];
    }>;
    /** Creates an API key, and answers its secret. */
    create(
      body: {
        /** What the key is for */
        readonly label: string;
        /** What the key may do */
        readonly scopes: readonly ('read' | 'trade' | 'customers' | 'admin')[];
        /** Networks it may be used from; none: any */
        readonly networks?: readonly string[] | undefined;
        /** When it ends by itself */
        readonly expiresAt?: string | undefined;
      },
      options?: CallOptions,
    ): Promise<ApiKeyWithSecret>;
    /** Changes label, scopes or networks of an API key. It counts within three seconds. */
    update(
      key: string,
      body?: {
        /** What the key is for */
        readonly label?: string | undefined;
        /** What the key may do */
        readonly scopes?: readonly ('read' | 'trade' | 'customers' | 'admin')[] | undefined;
        /** Networks it may be used from; none: any */
        readonly networks?: readonly string[] | undefined;
      },
      options?: CallOptions,
    ): Promise<ApiKey>;
    /** Gives an API key a new secret; the previous one is valid for a while: a day, or as long as you say. */
    rotate(
      key: string,
      body?: {
        /** For how many seconds the previous secret signs as well */
        readonly overlapSeconds?: number | undefined;
      },
      options?: CallOptions,
    ): Promise<ApiKeyWithSecret>;
    /** Revokes an API key for good. Once this is answered, nothing is changed with it any more. */
    revoke(key: string, options?: CallOptions): Promise<ApiKey>;
  };
  readonly team: {
    /** Lists the people of your team, those removed last. */
    list(options?: CallOptions): Promise<{
      /** All of them */
      readonly data: readonly Member[];
    }>;
    /** Invites a person to your team: the reply has a link that enrols one passkey within three days. */
    invite(
      body: {
        /** Short name */
        readonly name: string;
        /** What the member may do */
        readonly role: 'owner' | 'developer' | 'support' | 'finance' | 'viewer';
      },
      options?: CallOptions,
    ): Promise<Invitation>;
    /** Makes a new link for a member who has not joined yet. The earlier link ends. */
    inviteAgain(member: string, options?: CallOptions): Promise<Invitation>;
    /** Gives a member another role. */
    changeRole(
      member: string,
      body: {
        /** What the member may do */
        readonly role: 'owner' | 'developer' | 'support' | 'finance' | 'viewer';
      },
      options?: CallOptions,
    ): Promise<Member>;
    /** Removes a member for good: passkeys, sessions and invitations end. */
    remove(member: string, options?: CallOptions): Promise<Member>;
    /** Ends the sessions of a member; its passkeys stay. */
    signOut(member: string, options?: CallOptions): Promise<Member>;
    /** Lists what your keys and your team have changed, the newest first. */
    activity(
      query?: {
        /** Only items of this time or later */
        readonly from?: string | undefined;
        /** Only items before this time */
        readonly until?: string | undefined;
        /** The page that begins after this: `nextCursor` of the page before */
        readonly cursor?: string | undefined;
        /** Most rows of the page */
        readonly limit?: number | undefined;
      },
      options?: CallOptions,
    ): Pages<ActivityLine>;
  };
  readonly settings: {
    /** Answers how you appear to customers, and which pages may call with your keys. */
    get(options?: CallOptions): Promise<Settings>;
    /** Sets the origins whose pages may call with your keys, all of them at once. */
    update(
      body: {
        /** Origins; none: no page */
        readonly origins: readonly string[];
      },
      options?: CallOptions,
    ): Promise<Settings>;
  };
  readonly branding: {
    /** Answers display name, colours and logo of your hosted pages. */
    get(options?: CallOptions): Promise<Branding>;
    /** Sets display name, colours and logo of your hosted pages. What is left out stays; null removes. */
    update(
      body?: {
        /** Name on hosted pages */
        readonly displayName?: string | 'none' | undefined;
        /** Colour of links and buttons */
        readonly accent?: string | 'none' | undefined;
        /** The same on dark ground */
        readonly accentDark?: string | 'none' | undefined;
        /** A picture */
        readonly logo?: string | 'none' | undefined;
      },
      options?: CallOptions,
    ): Promise<Branding>;
    /** Answers the colours that hosted pages would have, with their contrast, and changes nothing. */
    colours(
      query?: {
        /** Colour of links and buttons */
        readonly accent?: string | undefined;
        /** The same on dark ground */
        readonly accentDark?: string | undefined;
      },
      options?: CallOptions,
    ): Promise<Colours>;
  };
  readonly statement: {
    /** Answers what your orders came to and what you earned, by day and market, the newest day first. */
    get(
      query: {
        /** Only items of this time or later */
        readonly from: string;
        /** Only items before this time */
        readonly until: string;
      },
      options?: CallOptions,
    ): Promise<{
      /** All of them */
      readonly data: readonly StatementDay[];
    }>;
  };
  readonly controls: {
    /** The customer pays an order, on its chain or by bank: as asked, or in one of the ways that customers get wrong. */
    pay(
      order: string,
      body?: {
        /** How it is paid; exactly, if nothing is said */
        readonly how?: 'exact' | 'under' | 'over' | 'late' | 'twice' | 'another_token' | 'another_chain' | undefined;
        /** Instead of the amount asked for, in the same currency */
        readonly amount?: string | undefined;
      },
      options?: CallOptions,
    ): Promise<Happened>;
    /** Money comes to our bank for a purchase, as its payer wrote it. */
    credit(
      order: string,
      body?: {
        /** Instead of the amount asked for, in the same currency */
        readonly amount?: string | undefined;
        /** Reference of the transfer; right, if nothing is said */
        readonly payerReference?: 'right' | 'none' | 'wrong' | undefined;
        /** Name of the payer; the customer’s, if nothing is said */
        readonly payerName?: 'right' | 'wrong' | 'none' | undefined;
      },
      options?: CallOptions,
    ): Promise<Happened>;
    /** The bank of the payer takes the last credit of an order back. */
    recall(order: string, options?: CallOptions): Promise<Happened>;
    /** A payout to an account is returned. */
    bounce(order: string, options?: CallOptions): Promise<Happened>;
    /** Screening holds an order, or does so no longer. */
    screening(
      order: string,
      body: {
        /** What screening finds */
        readonly outcome: 'fail' | 'pass';
      },
      options?: CallOptions,
    ): Promise<Happened>;
    /** Moves the test clock: everything of yours that is due within this time is due now. */
    clock(
      body: {
        /** By how much, at most 30 days */
        readonly seconds: number;
      },
      options?: CallOptions,
    ): Promise<Happened>;
    /** Webhooks of all partners of this sandbox are dropped on their way, or delivered again. */
    webhooks(
      body: {
        /** What becomes of them */
        readonly deliveries: 'drop' | 'deliver';
      },
      options?: CallOptions,
    ): Promise<Happened>;
    /** Moves a price, for all partners of this sandbox; without one it is the table’s again. */
    prices(
      body: {
        /** Coin */
        readonly coin: string;
        /** Fiat */
        readonly fiat: string;
        /** Fiat for one coin */
        readonly price?: string | undefined;
      },
      options?: CallOptions,
    ): Promise<Happened>;
    /** Empties what payouts are made from, or fills it, for all partners of this sandbox. */
    treasury(
      body: {
        /** A fiat, or a coin with its chain */
        readonly currency: string;
        /** Chain of a coin */
        readonly chain?: string | undefined;
        /** The new value */
        readonly level: 'dry' | 'filled';
      },
      options?: CallOptions,
    ): Promise<Happened>;
    /** The bank gets the next payments wrong, for all partners of this sandbox. */
    bank(
      body: {
        /** The fault; none removes the remaining faults */
        readonly fault:
          | 'none'
          | 'lose_request'
          | 'lose_answer'
          | 'delay_answer'
          | 'refuse'
          | 'return'
          | 'no_status'
          | 'statement_twice'
          | 'statement_reordered';
        /** How often; once, if nothing is said */
        readonly times?: number | undefined;
      },
      options?: CallOptions,
    ): Promise<Happened>;
    /** A chain forgets its last blocks, for all partners of this sandbox. */
    reorg(
      body: {
        /** Code of the chain */
        readonly chain: string;
        /** How many */
        readonly blocks: number;
      },
      options?: CallOptions,
    ): Promise<Happened>;
  };
}

export type Operation = readonly [
  method: string,
  path: string,
  input: 'query' | 'body' | 'files' | 'none',
  paged: boolean,
];

export const OPERATIONS: Readonly<Record<string, Operation>> = {
  'markets.list': ['GET', '/markets', 'none', false],
  'assets.list': ['GET', '/assets', 'none', false],
  'chains.list': ['GET', '/chains', 'none', false],
  'methods.list': ['GET', '/methods', 'none', false],
  'quotes.create': ['POST', '/quotes', 'body', false],
  'quotes.get': ['GET', '/quotes/{quote}', 'none', false],
  'orders.list': ['GET', '/orders', 'query', true],
  'orders.create': ['POST', '/orders', 'body', false],
  'orders.get': ['GET', '/orders/{order}', 'none', false],
  'orders.trace': ['GET', '/orders/{order}/trace', 'none', false],
  'orders.deposits': ['GET', '/orders/{order}/deposits', 'query', true],
  'orders.payouts': ['GET', '/orders/{order}/payouts', 'query', true],
  'orders.refunds': ['GET', '/orders/{order}/refunds', 'query', true],
  'orders.cancel': ['POST', '/orders/{order}/cancel', 'none', false],
  'orders.refund': ['POST', '/orders/{order}/refund', 'body', false],
  'orders.changePayoutDestination': ['POST', '/orders/{order}/payout-destination', 'body', false],
  'orders.wallets': ['GET', '/orders/{order}/wallets', 'none', false],
  'orders.nameWallet': ['POST', '/orders/{order}/wallets', 'body', false],
  'orders.namePayerReference': ['POST', '/orders/{order}/payer-reference', 'body', false],
  'customers.list': ['GET', '/customers', 'query', true],
  'customers.create': ['POST', '/customers', 'body', false],
  'customers.get': ['GET', '/customers/{customer}', 'none', false],
  'customers.update': ['PATCH', '/customers/{customer}', 'body', false],
  'customers.verificationLink': ['POST', '/customers/{customer}/verification-link', 'body', false],
  'customers.accountLink': ['POST', '/customers/{customer}/account-link', 'body', false],
  'customers.limits': ['GET', '/customers/{customer}/limits', 'none', false],
  'requirements.get': ['GET', '/requirements', 'none', false],
  'submissions.requirements': ['GET', '/customers/{customer}/requirements', 'query', false],
  'submissions.list': ['GET', '/customers/{customer}/submissions', 'query', true],
  'submissions.create': ['POST', '/customers/{customer}/submissions', 'body', false],
  'submissions.get': ['GET', '/customers/{customer}/submissions/{submission}', 'none', false],
  'submissions.update': ['PATCH', '/customers/{customer}/submissions/{submission}', 'body', false],
  'submissions.addFiles': ['POST', '/customers/{customer}/submissions/{submission}/files', 'files', false],
  'informationRequests.open': ['GET', '/information-requests', 'none', false],
  'informationRequests.list': ['GET', '/customers/{customer}/information-requests', 'query', true],
  'informationRequests.addFiles': [
    'POST',
    '/customers/{customer}/information-requests/{request}/files',
    'files',
    false,
  ],
  'informationRequests.answer': ['POST', '/customers/{customer}/information-requests/{request}/answer', 'body', false],
  'destinations.list': ['GET', '/customers/{customer}/destinations', 'query', true],
  'destinations.create': ['POST', '/customers/{customer}/destinations', 'body', false],
  'destinations.get': ['GET', '/customers/{customer}/destinations/{destination}', 'none', false],
  'destinations.confirmationLink': [
    'POST',
    '/customers/{customer}/destinations/{destination}/confirmation-link',
    'body',
    false,
  ],
  'destinations.sendCode': ['POST', '/customers/{customer}/destinations/{destination}/code', 'none', false],
  'destinations.confirm': ['POST', '/customers/{customer}/destinations/{destination}/confirm', 'body', false],
  'events.list': ['GET', '/event-feed', 'query', true],
  'webhooks.list': ['GET', '/webhook-endpoints', 'none', false],
  'webhooks.create': ['POST', '/webhook-endpoints', 'body', false],
  'webhooks.get': ['GET', '/webhook-endpoints/{endpoint}', 'none', false],
  'webhooks.update': ['PATCH', '/webhook-endpoints/{endpoint}', 'body', false],
  'webhooks.remove': ['DELETE', '/webhook-endpoints/{endpoint}', 'none', false],
  'webhooks.rotateSecret': ['POST', '/webhook-endpoints/{endpoint}/rotate-secret', 'body', false],
  'webhooks.resume': ['POST', '/webhook-endpoints/{endpoint}/resume', 'none', false],
  'webhooks.test': ['POST', '/webhook-endpoints/{endpoint}/test', 'none', false],
  'webhooks.replay': ['POST', '/webhook-endpoints/{endpoint}/replay', 'body', false],
  'webhooks.deliveries': ['GET', '/webhook-endpoints/{endpoint}/deliveries', 'query', true],
  'webhooks.attempts': ['GET', '/webhook-endpoints/{endpoint}/deliveries/{event}', 'none', false],
  'key.get': ['GET', '/key', 'none', false],
  'limits.get': ['GET', '/limits', 'none', false],
  'requests.list': ['GET', '/request-log', 'query', true],
  'requests.get': ['GET', '/request-log/{request}', 'none', false],
  'requests.diagnose': ['POST', '/request-log/diagnosis', 'body', false],
  'keys.list': ['GET', '/keys', 'none', false],
  'keys.create': ['POST', '/keys', 'body', false],
  'keys.update': ['PATCH', '/keys/{key}', 'body', false],
  'keys.rotate': ['POST', '/keys/{key}/rotate', 'body', false],
  'keys.revoke': ['POST', '/keys/{key}/revoke', 'none', false],
  'team.list': ['GET', '/team', 'none', false],
  'team.invite': ['POST', '/team', 'body', false],
  'team.inviteAgain': ['POST', '/team/{member}/invitation', 'none', false],
  'team.changeRole': ['PATCH', '/team/{member}', 'body', false],
  'team.remove': ['DELETE', '/team/{member}', 'none', false],
  'team.signOut': ['POST', '/team/{member}/sign-out', 'none', false],
  'team.activity': ['GET', '/activity', 'query', true],
  'settings.get': ['GET', '/settings', 'none', false],
  'settings.update': ['PATCH', '/settings', 'body', false],
  'branding.get': ['GET', '/settings/branding', 'none', false],
  'branding.update': ['PATCH', '/settings/branding', 'body', false],
  'branding.colours': ['GET', '/settings/branding/colours', 'query', false],
  'statement.get': ['GET', '/statement', 'query', false],
  'controls.pay': ['POST', '/sandbox/orders/{order}/pay', 'body', false],
  'controls.credit': ['POST', '/sandbox/orders/{order}/credit', 'body', false],
  'controls.recall': ['POST', '/sandbox/orders/{order}/recall', 'none', false],
  'controls.bounce': ['POST', '/sandbox/orders/{order}/bounce', 'none', false],
  'controls.screening': ['POST', '/sandbox/orders/{order}/screening', 'body', false],
  'controls.clock': ['POST', '/sandbox/clock', 'body', false],
  'controls.webhooks': ['POST', '/sandbox/webhooks', 'body', false],
  'controls.prices': ['POST', '/sandbox/prices', 'body', false],
  'controls.treasury': ['POST', '/sandbox/treasury', 'body', false],
  'controls.bank': ['POST', '/sandbox/bank', 'body', false],
  'controls.reorg': ['POST', '/sandbox/reorg', 'body', false],
};

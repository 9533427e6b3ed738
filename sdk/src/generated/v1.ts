/**
 * Generated from docs/openapi-v1.json by sdk/generate.ts. Do not edit: change the declarations of the API.
 */

import type { CallOptions, Files } from '../http.ts';
import type { Pages } from '../pages.ts';

/** The version of the API that these types describe: every request names it. */
export const API_VERSION = '2026-11-23';

/** A change */
export interface ActivityLine {
  /** Number */
  readonly id: string;
  /** When */
  readonly at: string;
  /** What was done */
  readonly action: string;
  /** Subject of the change */
  readonly subject: string;
  /** Key or member that made the change, or a customer on a hosted page */
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
  /** Networks from which the key may be used; an empty list allows all */
  readonly networks: readonly string[];
  /** `held`: the operator has suspended it after a leak */
  readonly state: 'active' | 'revoked' | 'expired' | 'held';
  /** Whether a write must be signed in production */
  readonly mustSign: boolean;
  /** Until when its previous secret is also valid */
  readonly rotatingUntil: string | null;
  /** When it expires */
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
  /** Networks from which the key may be used; an empty list allows all */
  readonly networks: readonly string[];
  /** `held`: the operator has suspended it after a leak */
  readonly state: 'active' | 'revoked' | 'expired' | 'held';
  /** Whether a write must be signed in production */
  readonly mustSign: boolean;
  /** Until when its previous secret is also valid */
  readonly rotatingUntil: string | null;
  /** When it expires */
  readonly expiresAt: string | null;
  /** When it was last used, to the minute */
  readonly lastUsedAt: string | null;
  /** When it was created */
  readonly createdAt: string;
  /** When it was revoked */
  readonly revokedAt: string | null;
  /** The secret. It is shown only once */
  readonly secret: string;
  /** The bearer token for `/v1`. It is shown only once */
  readonly bearerToken: string;
}

/** An asset that can be paid or received */
export interface Asset {
  /** Code of the asset */
  readonly code: string;
  /** A coin on a chain, or a currency */
  readonly kind: 'crypto' | 'fiat';
  /** Symbol of the coin or currency */
  readonly symbol: string;
  /** Code of its chain; null for a fiat */
  readonly chain: string | null;
  /** Contract of the token; null for a native asset and for a fiat */
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
  /** HTTP status of the response */
  readonly status: number | null;
  /** Why it failed */
  readonly error: string | null;
  /** Beginning of your server’s response */
  readonly answer: string;
}

/** Your statement from the books of the operator */
export interface BookStatement {
  /** Beginning of the period */
  readonly from: string;
  /** End of the period, which does not belong to it */
  readonly until: string;
  /** How many orders were created in the period */
  readonly created: number;
  /** How many of them have settled */
  readonly settled: number;
  /** How many of them were refunded */
  readonly refunded: number;
  /** Your fees by asset: the opening balance, what changed it, and the closing balance */
  readonly totals: readonly {
    /** What the operator owed you at the beginning */
    readonly opening: Money;
    /** Fees that you earned */
    readonly earned: Money;
    /** Fees that you returned with refunds */
    readonly returned: Money;
    /** What the operator paid you */
    readonly settled: Money;
    /** What the operator owed you at the end */
    readonly closing: Money;
  }[];
  /** Volume by market, then the balances and fees by asset in the order in which they were booked */
  readonly lines: readonly {
    /** Day or month in UTC; null for a line about the whole period */
    readonly day: string | null;
    /** What the line is about: volume of settled orders, fees, or a balance */
    readonly what: 'opening' | 'paid_in' | 'paid_out' | 'fees_earned' | 'fees_returned' | 'fees_settled' | 'closing';
    /** Id of the market of a volume */
    readonly market: string | null;
    /** The amount; fees that were returned or settled are negative */
    readonly amount: Money;
    /** How many orders or postings it adds up; null for a balance */
    readonly count: number | null;
    /** What the operator owes you after this line; null for volume */
    readonly owed: Money | null;
  }[];
}

/** How hosted pages look to your customers */
export interface Branding {
  /** Name on hosted pages; null: your name */
  readonly displayName: string | null;
  /** Your colour on a light background; null: the default colour */
  readonly accent: string | null;
  /** Your colour on a dark background; null: derived from `accent` */
  readonly accentDark: string | null;
  readonly colours: Colours;
  /** Your logo, as re-encoded by the server */
  readonly logo: {
    /** Path at which the logo is served; its name is the SHA-256 of the content */
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
  /** When the code was sent to the customer’s phone */
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
    /** Colour of the text on buttons: the background colour of the page */
    readonly onAccent: string;
    /** Contrast ratio of the two colours, to 1 */
    readonly contrast: string;
  };
  /** For customers who see dark pages */
  readonly dark: {
    /** Colour of links and buttons */
    readonly accent: string;
    /** Colour of the text on buttons: the background colour of the page */
    readonly onAccent: string;
    /** Contrast ratio of the two colours, to 1 */
    readonly contrast: string;
  };
}

/** A customer of yours */
export interface Customer {
  /** Id of the customer */
  readonly id: string;
  /** Your own id of the customer */
  readonly reference: string | null;
  /** A person or a business */
  readonly kind: 'individual' | 'business';
  /** Level of verification, 0 to 5 */
  readonly level: number;
  /** State of the verification */
  readonly verification: 'none' | 'in_review' | 'verified' | 'failed' | 'refused';
  /** Why the verification failed or was refused */
  readonly verificationReason: {
    /** Reason why it failed or was refused */
    readonly code:
      | 'items_rejected'
      | 'document_unreadable'
      | 'document_incomplete'
      | 'document_expired'
      | 'document_not_accepted'
      | 'data_differs'
      | 'not_completed'
      | 'under_age'
      | 'not_supported'
      | 'not_verified'
      | 'not_accepted';
    /** Meaning of the code */
    readonly means: string;
    /** What to do about it */
    readonly remedy: string;
  } | null;
  /** Whether the customer has proved the phone number */
  readonly hasLoggedIn: boolean;
  /** Whether the customer may trade */
  readonly mayTrade: {
    /** Whether orders may be created for the customer */
    readonly allowed: boolean;
    /** Reason why not */
    readonly reason: 'login_required' | 'verification_required' | 'customer_blocked' | null;
  };
  /** Country, two letters. Without a source it is the default, and nothing is decided by it */
  readonly country: string;
  /** Source of the country: the number of the phone, the country that issued the accepted document, your program, or the customer’s answer; null if the country is unknown */
  readonly countryBy: 'phone' | 'document' | 'partner' | 'form' | null;
  /** When the customer was created */
  readonly createdAt: string;
  /** When the customer last changed */
  readonly updatedAt: string;
}

/** The limits of a customer */
export interface CustomerLimits {
  /** Id of the customer */
  readonly customerId: string;
  /** Level of verification */
  readonly level: number;
  /** Whether the customer may trade */
  readonly mayTrade: {
    /** Whether orders may be created for the customer */
    readonly allowed: boolean;
    /** Reason why not */
    readonly reason: 'login_required' | 'verification_required' | 'customer_blocked' | null;
  };
  /** What `min` and `max` apply to */
  readonly per: 'order';
  /** Limits of one order on each market, at this level; without effect until `mayTrade.allowed` */
  readonly markets: readonly {
    /** Id of the market */
    readonly market: string;
    /** Asset of the amounts: what the customer pays */
    readonly asset: string;
    /** Minimum amount of one order */
    readonly min: string;
    /** Maximum amount of one order */
    readonly max: string;
  }[];
  /** Limits across all orders of the customer; empty if there are none. Without effect until `mayTrade.allowed` */
  readonly limits: readonly {
    /** The limit applies to one order, to any 24 hours (`day`), or to any 30 days (`month`) */
    readonly per: 'order' | 'day' | 'month';
    /** Fiat in which the value of orders is counted */
    readonly asset: string;
    /** Only orders in this direction count; null: both directions together */
    readonly direction: 'sell' | 'buy' | null;
    /** Only orders on this market count; null: all markets of the fiat together */
    readonly market: string | null;
    /** The maximum */
    readonly max: string;
    /** Total value of the counted orders of the customer */
    readonly used: string;
    /** The remainder */
    readonly left: string;
    /** When the oldest counted order stops counting; null if no order counts */
    readonly freesAt: string | null;
    /** When the whole limit is available again, unless more orders are created; null if no order counts */
    readonly resetsAt: string | null;
  }[];
  /** A higher level, and its requirements */
  readonly next: {
    /** The lowest level with higher limits; for a customer who may not trade yet, the lowest that may */
    readonly level: number;
    /** Limits that are higher at that level, or do not exist there; for a customer who may not trade yet, all limits there */
    readonly limits: readonly {
      /** The limit applies to one order, to any 24 hours (`day`), or to any 30 days (`month`) */
      readonly per: 'order' | 'day' | 'month';
      /** Fiat in which the value of orders is counted */
      readonly asset: string;
      /** Only orders in this direction count; null: both directions together */
      readonly direction: 'sell' | 'buy' | null;
      /** Only orders on this market count; null: all markets of the fiat together */
      readonly market: string | null;
      /** The maximum; null: no limit */
      readonly max: string | null;
    }[];
    /** What is missing, by fiat: of the submission under way, or without one all that the form requires. A submission starts empty, because the verifier checks its answers and files together */
    readonly needs: readonly {
      /** Fiat that selects the form */
      readonly asset: string;
      /** Fields that a submission for this level still needs */
      readonly fields: readonly string[];
      /** Files that it still needs */
      readonly documents: readonly string[];
    }[];
  } | null;
  /** Your caps, which all your customers share; empty if there are none */
  readonly shared: readonly Exposure[];
}

/** The form with which a customer is verified */
export interface CustomerRequirements {
  /** Id of the customer */
  readonly customerId: string;
  /** A person or a business */
  readonly kind: 'individual' | 'business';
  /** Fiat of the form; null: the form for any fiat */
  readonly asset: string | null;
  /** Level that the form is for */
  readonly level: number;
  /** Fields, in the order of the form */
  readonly fields: readonly {
    /** Name of the field, for `answers` */
    readonly name: string;
    /** Group of the field; fields of one group belong together */
    readonly group: string | null;
    /** Label of the field, for display */
    readonly label: string;
    /** Whether it is required */
    readonly required: boolean;
    /** Type of the answer; send a `file` with `submissions.addFiles` */
    readonly type: 'text' | 'date' | 'select' | 'country' | 'file';
    /** Regular expression that the answer must match */
    readonly pattern: string | null;
    /** Its choices */
    readonly options: readonly string[] | null;
    /** An example of a valid answer */
    readonly example: string | null;
  }[];
  /** Kinds of document, one of which is sufficient */
  readonly documents: readonly {
    /** Kind of document */
    readonly name: string;
    /** Files of the document; if you send one of them, all are required */
    readonly files: readonly string[];
  }[];
  /** Whether a document is required */
  readonly needsDocument: boolean;
  /** Percent that the `owners` of a business must hold together; null: the form does not ask for owners */
  readonly ownersMinimumTotalShare: string | null;
}

/** The delivery of an event to an endpoint */
export interface Delivery {
  /** Id of the event */
  readonly eventId: string;
  /** What happened */
  readonly type: string;
  /** The subject */
  readonly subject: string;
  /** Position among the events of its subject */
  readonly sequence: number;
  /** State of the delivery */
  readonly state: 'waiting' | 'delivered' | 'dead' | 'dropped';
  /** How many attempts were made */
  readonly attempts: number;
  /** Why the last attempt failed */
  readonly lastError: string | null;
  /** When it ended */
  readonly endedAt: string | null;
}

/** Money that arrived for an order */
export interface Deposit {
  /** Id of the deposit */
  readonly id: string;
  /** Id of the order */
  readonly orderId: string;
  /** `seen`: not final yet. `confirmed`: booked. `applied`: credited to the order. `suspense`: waits for a decision. `reversed`, `lost`: the chain or bank reversed it */
  readonly state: 'seen' | 'confirmed' | 'applied' | 'suspense' | 'refunded' | 'reversed' | 'lost' | 'written_off';
  /** Amount that arrived */
  readonly amount: Money;
  /** Hash of the chain transaction */
  readonly hash: string | null;
  /** The bank’s reference */
  readonly bankReference: string | null;
  /** What is exceptional about it */
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
  /** Whether it arrived after the deadline of its order */
  readonly late: boolean;
  /** When it arrived, according to the chain or bank */
  readonly cameAt: string | null;
  /** When the server first saw it */
  readonly seenAt: string;
  /** When it became final */
  readonly confirmedAt: string | null;
}

/** A destination to which a customer is paid */
export interface Destination {
  /** Id of the destination */
  readonly id: string;
  /** Id of the customer */
  readonly customerId: string;
  /** A bank account, or an address on a chain */
  readonly kind: 'account' | 'address';
  /** Currency of the account; null for an address */
  readonly asset: string | null;
  /** Chain of the address; null for an account */
  readonly chain: string | null;
  /** The address; null for an account */
  readonly address: string | null;
  /** Last characters of the account number or address, for display */
  readonly hint: string;
  /** Whether the holder of the account, as you named it, is the customer by name; `unknown` if the customer’s name is not known, null for an address and for an account without a holder */
  readonly holderMatch: 'same' | 'other' | 'unknown' | null;
  /** Whether money may be sent to it */
  readonly usable: boolean;
  /** From when money may be sent to it without a confirmation by the customer; null if it already may */
  readonly usableAt: string | null;
  /** When the customer confirmed it, with a code or on a hosted page */
  readonly confirmedAt: string | null;
  /** When it was added */
  readonly createdAt: string;
}

/** A destination to which money is sent */
export interface DestinationRef {
  /** A bank account, or an address on a chain */
  readonly kind: 'account' | 'address';
  /** Id of the destination; null for an address that was only ever sent through the white-label wire */
  readonly id: string | null;
  /** The address on the chain; null for an account */
  readonly address: string | null;
}

/** Whether a request is accepted as authentic, and why */
export interface Diagnosis {
  /** Whether the server would accept the request as authentic */
  readonly accepted: boolean;
  /** Each part that was checked */
  readonly findings: readonly {
    /** The part that was checked */
    readonly part: 'headers' | 'key' | 'token' | 'signature' | 'digest' | 'idempotency';
    /** Whether it is correct */
    readonly ok: boolean;
    /** Result of the check */
    readonly says: string;
  }[];
}

/** An event */
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
  /** The resource at the time of the event; see the page on webhooks */
  readonly data: Readonly<Record<string, unknown>>;
}

/** Open quotes and unpaid orders at a fixed rate, in one fiat */
export interface Exposure {
  /** Code of the fiat */
  readonly asset: string;
  /** Maximum total value of live quotes and unpaid orders; null: no cap */
  readonly cap: string | null;
  /** Their present total value */
  readonly used: string;
  /** Remainder of the cap */
  readonly left: string | null;
  /** When the last of them expires and the whole cap is available again, unless you create more quotes; null if nothing is used, or if an order waits for its deposit to be confirmed */
  readonly resetsAt: string | null;
}

/** One part of the fees */
export interface Fee {
  /** Who receives the fee: the operator, you, the payment rail or the chain; or tax that is withheld */
  readonly kind: 'operator' | 'partner' | 'rail' | 'chain' | 'tax';
  /** Amount of the fee */
  readonly amount: Money;
}

/** The control has caused the event. The server processes it like a real one, shortly afterwards */
export interface Happened {
  /** Name of the control */
  readonly control: string;
  /** Effects of the control, such as hashes of payments, the bank line, or the new time */
  readonly facts: Readonly<Record<string, unknown>>;
}

/** An information request of the operator about a customer */
export interface InformationRequest {
  /** Id of the information request */
  readonly id: string;
  /** Id of the customer */
  readonly customerId: string;
  /** The newest submission of the customer at the time of the request */
  readonly submissionId: string | null;
  /** State of the request */
  readonly state: 'open' | 'answered' | 'withdrawn';
  /** The question of the operator */
  readonly question: string;
  /** Your answer */
  readonly answer: string | null;
  /** Files that you have sent with the answer */
  readonly files: readonly {
    /** Media type, detected from the content */
    readonly type: string;
    /** Size in bytes */
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
  /** Link for this member only. It is shown only once */
  readonly url: string;
  /** Until when the link can be used, once */
  readonly expiresAt: string;
}

/** The calling key */
export interface Key {
  /** The calling key */
  readonly key: string;
  /** The partner that owns the key */
  readonly partner: {
    /** Number of the partner */
    readonly id: string;
    /** Name of the partner */
    readonly name: string;
  };
  /** What the key may do */
  readonly scopes: readonly ('read' | 'trade' | 'customers' | 'admin')[];
  /** API version of requests with this key that do not name one */
  readonly version: string;
  /** All API versions, oldest first */
  readonly versions: readonly string[];
  /** Requests per minute */
  readonly requestsPerMinute: number;
  /** `signed`: a write must be signed; `bearer`: a write may be sent with the bearer token alone */
  readonly writes: 'bearer' | 'signed';
  /** Environment of this server */
  readonly environment: 'sandbox' | 'production';
  /** Time of the server, against which signatures are checked */
  readonly time: string;
}

/** Your limits: used and remaining amounts */
export interface Limits {
  /** Requests per minute of one key */
  readonly requestsPerMinute: number;
  /** The cap of each fiat */
  readonly exposure: readonly Exposure[];
}

/** A link to a hosted page */
export interface Link {
  /** Address of the page on which the customer continues. Give it to the customer only */
  readonly url: string;
  /** Until when the link is valid */
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
  /** Minimum amount that the customer pays */
  readonly min: string;
  /** Maximum amount that the customer pays */
  readonly max: string;
  /** Decimal places of the received amount */
  readonly receiveDecimals: number;
  /** Default payment method */
  readonly method: string;
  /** For how many seconds a quote is valid */
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
  /** Who invited the member */
  readonly invitedBy: string;
  /** Until when a link to enrol a passkey is valid */
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
  /** Plain decimal number, as text */
  readonly amount: string;
  /** Code of the asset: `inr`, or a coin on a chain such as `usdc.matic20` */
  readonly asset: string;
}

/** An order: a quote that was accepted, with its deposits and payouts */
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
  /** Increases with every change of the order: the reply with the larger revision is newer */
  readonly version: number;
  /** `sell`: crypto is paid, fiat received. `buy`: the reverse */
  readonly direction: 'sell' | 'buy';
  /** Id of the market */
  readonly market: string;
  /** Id of the customer */
  readonly customerId: string;
  /** Your own reference */
  readonly reference: string | null;
  /** The quote from which it was created */
  readonly quoteId: string | null;
  /** Amount that the customer has to pay */
  readonly pay: Money;
  /** Amount that the customer is to receive, after all fees */
  readonly receive: Money;
  /** Total of the deposits that were not reversed */
  readonly received: Money;
  /** The part of it that was refunded */
  readonly refunded: Money;
  /** Fiat per whole coin */
  readonly rate: string;
  /** Fees, in the fiat of the market; zero parts are left out */
  readonly fees: readonly Fee[];
  /** Payment method */
  readonly method: string;
  /** How the customer pays */
  readonly payment: Payment | null;
  readonly destination: DestinationRef;
  /** A destination to which money is sent */
  readonly refundDestination: DestinationRef | null;
  /** What is exceptional about it */
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
  /** Whether money waits for a destination: name one with `orders.refund` or `orders.changePayoutDestination` */
  readonly needsDestination: boolean;
  /** Bank reference that, according to the customer, the payment has */
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
      /** Address to pay to. It belongs to this order only */
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
      /** Reference that the transfer must contain. It belongs to this order only */
      readonly reference: string;
    };

/** A way to pay fiat */
export interface PaymentMethod {
  /** Name of the method */
  readonly code: string;
  /** Code of the fiat */
  readonly asset: string;
  /** Where it is used */
  readonly directions: readonly ('sell' | 'buy')[];
}

/** One attempt to pay out an order */
export interface Payout {
  /** Id of the payout */
  readonly id: string;
  /** Id of the order */
  readonly orderId: string;
  /** Number of the attempt */
  readonly attempt: number;
  /** `submitted`: the bank or chain has received it. `unknown`: the answer was lost, and the server is asking whether it was sent. `settled`: the bank or chain shows it */
  readonly state: 'created' | 'submitted' | 'unknown' | 'settled' | 'returned' | 'rejected';
  /** Amount that is paid */
  readonly amount: Money;
  readonly destination: DestinationRef;
  /** Hash of the chain transaction */
  readonly hash: string | null;
  /** The bank’s reference */
  readonly bankReference: string | null;
  /** What is exceptional about it */
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
  /** When it was created */
  readonly createdAt: string;
  /** When it was submitted */
  readonly submittedAt: string | null;
  /** When its outcome became known */
  readonly endedAt: string | null;
}

/** A price from which the rate was computed */
export interface PriceUsed {
  /** Coin whose price it is */
  readonly base: string;
  /** Currency of the price */
  readonly quote: string;
  /** Source of the price */
  readonly source: string;
  /** Price of one whole coin in this currency */
  readonly rate: string;
  /** When the price was valid, according to its source */
  readonly at: string;
  /** The pairs from which the price was computed, in order; null if the source quotes the pair itself */
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
  /** Stable code of the reason: branch on it */
  readonly reason: string;
  /** Id of the request */
  readonly requestId: string;
  /** Which field is wrong, and the rule it breaks */
  readonly fields?: Readonly<Record<string, string>> | undefined;
  /** The allowed range */
  readonly limits?:
    | {
        /** Code of the asset */
        readonly asset: string;
        /** Minimum amount */
        readonly min: string;
        /** Maximum amount */
        readonly max: string;
      }
    | undefined;
  /** The supported values */
  readonly supported?: readonly string[] | undefined;
  /** State that does not allow the request */
  readonly state?: string | undefined;
  /** Id of the existing customer */
  readonly customerId?: string | undefined;
  /** Id of the submission that is under way */
  readonly submissionId?: string | undefined;
  /** From when the destination may be paid */
  readonly usableAt?: string | undefined;
  /** The limit with the smallest remainder */
  readonly customerLimit?:
    | {
        /** The limit applies to one order, to any 24 hours (`day`), or to any 30 days (`month`) */
        readonly per: 'order' | 'day' | 'month';
        /** Fiat in which the value of orders is counted */
        readonly asset: string;
        /** Only orders in this direction count; null: both directions together */
        readonly direction: 'sell' | 'buy' | null;
        /** Only orders on this market count; null: all markets of the fiat together */
        readonly market: string | null;
        /** The maximum */
        readonly max: string;
        /** Total value of the counted orders of the customer */
        readonly used: string;
        /** The remainder */
        readonly left: string;
        /** From when the limit allows this amount, if no further order is created; null if it never does */
        readonly fitsAt: string | null;
        /** Level of the customer */
        readonly level: number;
        /** The lowest level that allows more; null if no level does */
        readonly nextLevel: number | null;
      }
    | undefined;
}

/** An offer at a fixed price, which one order may use before it expires */
export interface Quote {
  /** Id of the quote */
  readonly id: string;
  /** `open`: an order may use it until `expiresAt` */
  readonly state: 'open' | 'taken' | 'expired';
  /** Id of the market */
  readonly market: string;
  /** `sell`: crypto is paid, fiat received. `buy`: the reverse */
  readonly direction: 'sell' | 'buy';
  /** Which amount the request specified */
  readonly fixed: 'pay' | 'receive';
  /** Amount that the customer pays */
  readonly pay: Money;
  /** Amount that the customer receives, after all fees */
  readonly receive: Money;
  /** Fiat per whole coin */
  readonly rate: string;
  /** Fees, in the fiat of the market; zero parts are left out */
  readonly fees: readonly Fee[];
  /** The prices from which the rate was computed */
  readonly prices: readonly PriceUsed[];
  /** Order that used the quote */
  readonly orderId: string | null;
  /** When it was created */
  readonly createdAt: string;
  /** Until when an order may use it */
  readonly expiresAt: string;
  /** Signed proof of the offer, for your own records */
  readonly signature: {
    /** HMAC-SHA256 with the secret of your key */
    readonly algorithm: 'hmac-sha256';
    /** The key whose secret was used */
    readonly keyId: string;
    /** The signed text: `cloverleaf-quote`, id, market, amount and asset paid, amount and asset received, rate, expiry; separated by one space */
    readonly text: string;
    /** The signature in hex */
    readonly value: string;
  };
}

/** A refund, or a repeated payout of money that came back */
export interface Refund {
  /** Id of the refund */
  readonly id: string;
  /** Id of the order */
  readonly orderId: string;
  /** `payout`: repeats a payout that came back */
  readonly kind: 'refund' | 'payout';
  /** State of the refund */
  readonly state: 'needs_destination' | 'created' | 'under_review' | 'submitted' | 'settled' | 'rejected' | 'returned';
  /** Amount that is refunded */
  readonly amount: Money;
  /** A destination to which money is sent */
  readonly destination: DestinationRef | null;
  /** Hash of the chain transaction */
  readonly hash: string | null;
  /** The bank’s reference */
  readonly bankReference: string | null;
  /** What is exceptional about it */
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
  /** When it was created */
  readonly createdAt: string;
  /** When it last changed */
  readonly updatedAt: string;
}

/** Removed */
export interface Removed {
  /** Id of the removed endpoint */
  readonly id: string;
  /** The endpoint was removed */
  readonly removed: true;
}

/** The events that are sent again */
export interface Replayed {
  /** How many events are sent again */
  readonly replayed: number;
  /** Whether there are more events: request a shorter period */
  readonly hasMore: boolean;
}

/** One of your requests, with its reply */
export interface RequestDetail {
  /** Id of the request: `X-Request-Id` of its reply */
  readonly id: string;
  /** What you sent as `X-Client-Request-Id` */
  readonly clientRequestId: string | null;
  /** When it arrived */
  readonly at: string;
  /** Key or member of the request */
  readonly key: string;
  /** `v1`: this API; `white-label`: the white-label wire, of which no body and no reply are stored */
  readonly protocol: 'v1' | 'white-label';
  /** Name of the endpoint; for the white-label wire, its path */
  readonly operation: string;
  /** HTTP method */
  readonly method: string;
  /** Path of the request, without its query */
  readonly path: string;
  /** HTTP status of the reply */
  readonly status: number;
  /** Reason why it was declined */
  readonly reason: string | null;
  /** What was wrong with a rejected signature or token */
  readonly why: string | null;
  /** How long it took, in milliseconds */
  readonly tookMs: number;
  /** Whether the reply was repeated from an earlier request */
  readonly replayed: boolean;
  /** API version of the reply; null for the white-label wire */
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
  /** Id of the request: `X-Request-Id` of its reply */
  readonly id: string;
  /** What you sent as `X-Client-Request-Id` */
  readonly clientRequestId: string | null;
  /** When it arrived */
  readonly at: string;
  /** Key or member of the request */
  readonly key: string;
  /** `v1`: this API; `white-label`: the white-label wire, of which no body and no reply are stored */
  readonly protocol: 'v1' | 'white-label';
  /** Name of the endpoint; for the white-label wire, its path */
  readonly operation: string;
  /** HTTP method */
  readonly method: string;
  /** Path of the request, without its query */
  readonly path: string;
  /** HTTP status of the reply */
  readonly status: number;
  /** Reason why it was declined */
  readonly reason: string | null;
  /** What was wrong with a rejected signature or token */
  readonly why: string | null;
  /** How long it took, in milliseconds */
  readonly tookMs: number;
  /** Whether the reply was repeated from an earlier request */
  readonly replayed: boolean;
  /** API version of the reply; null for the white-label wire */
  readonly version: string | null;
}

/** Requirements of bank accounts and verification */
export interface Requirements {
  /** Required fields of a bank account, by currency */
  readonly accounts: readonly {
    /** Code of the fiat */
    readonly asset: string;
    /** Fields that an account in this currency requires */
    readonly fields: readonly string[];
  }[];
  /** Fields that a person fills in on the hosted page to be verified */
  readonly verification: readonly {
    /** Name of the field */
    readonly field: string;
    /** Label of the field, for display */
    readonly label: string;
    /** Whether it is required */
    readonly required: boolean;
    /** Regular expression that it must match */
    readonly pattern: string | null;
  }[];
  /** Documents that the hosted page accepts */
  readonly documents: readonly string[];
}

/** Your settings */
export interface Settings {
  /** Your name, as the operator set it */
  readonly name: string;
  /** Origins whose pages may use your keys */
  readonly origins: readonly string[];
}

/** The totals of one day on one market */
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
  /** What customers paid for the settled orders */
  readonly paid: Money;
  /** What customers received for the settled orders */
  readonly received: Money;
  /** Your fees of the settled orders */
  readonly earned: Money;
  /** All fees of the settled orders, including yours */
  readonly fees: Money;
}

/** The answers and files for the verification of a customer */
export interface Submission {
  /** Id of the submission */
  readonly id: string;
  /** Id of the customer */
  readonly customerId: string;
  /** A person or a business */
  readonly kind: 'individual' | 'business';
  /** `open`: send what `needs` lists; `in_review`: the verifier is checking it; `completed` and `failed`: final */
  readonly state: 'open' | 'in_review' | 'completed' | 'failed';
  /** What must be sent, or sent again; empty unless the submission is open */
  readonly needs: readonly {
    /** Name of the field or file */
    readonly name: string;
    /** Whether a field or a file is missing */
    readonly what: 'field' | 'file';
    /** Why it is needed */
    readonly reason: 'missing' | 'unreadable' | 'expired' | 'does_not_match' | 'incomplete' | 'not_accepted';
    /** The reason as text that follows the name */
    readonly means: string;
    /** What to do */
    readonly remedy: string;
    /** An example of a valid answer */
    readonly example: string | null;
  }[];
  /** Open questions of the operator about it, for `informationRequests.answer` */
  readonly informationRequests: readonly string[];
  /** Fields that have an answer */
  readonly answered: readonly string[];
  /** The files in use: the newest of each name */
  readonly files: readonly {
    /** Name of the file in the form */
    readonly name: string;
    /** Media type, detected from the content */
    readonly type: string;
    /** Size in bytes */
    readonly bytes: number;
    /** When it was sent */
    readonly sentAt: string;
  }[];
  /** When it was started */
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
  /** Who has the money: the paying customer, the chain or bank in transit, the operator, or the recipient */
  readonly heldBy: 'customer' | 'in_transit' | 'operator' | 'recipient';
  /** The amount */
  readonly amount: Money;
  /** Since when */
  readonly since: string;
  /** The evidence, oldest first */
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
    /** Hash of the chain transaction */
    readonly hash: string | null;
    /** The bank’s reference */
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
    /** Who must act */
    readonly by: 'customer' | 'partner' | 'operator' | 'rail' | 'nobody';
    /** Deadline of the step */
    readonly until: string | null;
    /** What happens if the step does not happen by then */
    readonly otherwise: string | null;
    /** The step as a sentence */
    readonly says: string;
  };
  /** Deposits that are not part of the order’s amount: late, surplus, in another asset, or returned */
  readonly otherMoney: readonly {
    /** Id of the deposit */
    readonly depositId: string;
    readonly amount: Money;
    /** What is exceptional about it */
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

/** An endpoint to which events are posted */
export interface WebhookEndpoint {
  /** Id of the endpoint */
  readonly id: string;
  /** Address that events are posted to */
  readonly url: string;
  /** Format of the body; `standard` is the format of this API */
  readonly format: 'standard' | 'whitelabel' | 'flat';
  /** Event types that are sent; an empty list means all */
  readonly events: readonly string[];
  /** Whether events are sent */
  readonly enabled: boolean;
  /** How many attempts have failed in a row */
  readonly failures: number;
  /** Until when no attempt is made because of failures */
  readonly pausedUntil: string | null;
  /** Since when every attempt has failed */
  readonly failingSince: string | null;
  /** When it was switched off, because every attempt had failed for five days */
  readonly switchedOffAt: string | null;
  /** Since when it is held, because a key of yours may have leaked */
  readonly heldAt: string | null;
  /** Until when webhooks are also signed with the previous secret */
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
  /** Format of the body; `standard` is the format of this API */
  readonly format: 'standard' | 'whitelabel' | 'flat';
  /** Event types that are sent; an empty list means all */
  readonly events: readonly string[];
  /** Whether events are sent */
  readonly enabled: boolean;
  /** How many attempts have failed in a row */
  readonly failures: number;
  /** Until when no attempt is made because of failures */
  readonly pausedUntil: string | null;
  /** Since when every attempt has failed */
  readonly failingSince: string | null;
  /** When it was switched off, because every attempt had failed for five days */
  readonly switchedOffAt: string | null;
  /** Since when it is held, because a key of yours may have leaked */
  readonly heldAt: string | null;
  /** Until when webhooks are also signed with the previous secret */
  readonly oldSecretUntil: string | null;
  /** When it was added */
  readonly createdAt: string;
  /** When it last changed */
  readonly updatedAt: string;
  /** Secret with which webhooks are signed. It is shown only once */
  readonly secret: string;
}

/** The native API, by name. */
export interface V1 {
  readonly markets: {
    /** Lists the markets on which you can trade, each with its limits and terms. */
    list(options?: CallOptions): Promise<{
      /** All rows */
      readonly data: readonly Market[];
    }>;
  };
  readonly assets: {
    /** Lists the assets that the markets trade. */
    list(options?: CallOptions): Promise<{
      /** All rows */
      readonly data: readonly Asset[];
    }>;
  };
  readonly chains: {
    /** Lists the chains that the markets use. */
    list(options?: CallOptions): Promise<{
      /** All rows */
      readonly data: readonly Chain[];
    }>;
  };
  readonly methods: {
    /** Lists the payment methods that the markets accept. */
    list(options?: CallOptions): Promise<{
      /** All rows */
      readonly data: readonly PaymentMethod[];
    }>;
  };
  readonly quotes: {
    /** Creates a quote for a sale or a purchase, for an amount to pay or an amount to receive. Its price is fixed until it expires. */
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
    /** Returns a quote, and whether an order can still use it. */
    get(quote: string, options?: CallOptions): Promise<Quote>;
  };
  readonly orders: {
    /** Lists orders, the newest first. */
    list(
      query?: {
        /** Only items in this state */
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
        /** Only items of this market */
        readonly market?: string | undefined;
        /** Id of the customer */
        readonly customerId?: string | undefined;
        /** Your own reference */
        readonly reference?: string | undefined;
        /** Only items of this time or later */
        readonly from?: string | undefined;
        /** Only items before this time */
        readonly until?: string | undefined;
        /** `nextCursor` of the previous page; without it, the first page */
        readonly cursor?: string | undefined;
        /** Maximum number of rows on the page */
        readonly limit?: number | undefined;
      },
      options?: CallOptions,
    ): Pages<Order>;
    /** Creates an order from an open quote, and returns how the customer pays. */
    create(
      body: {
        /** Quote that the order uses */
        readonly quoteId: string;
        /** Id of the customer */
        readonly customerId: string;
        /** Destination of the customer to which money is sent */
        readonly destinationId: string;
        /** Destination of the customer for a refund, if one is necessary */
        readonly refundDestinationId?: string | undefined;
        /** Payment method, as methods.list names it */
        readonly method?: string | undefined;
        /** Your own reference */
        readonly reference?: string | undefined;
      },
      options?: CallOptions,
    ): Promise<Order>;
    /** Returns one order. */
    get(order: string, options?: CallOptions): Promise<Order>;
    /** Returns where the money of an order is: who holds it, since when, the evidence, the next step and its deadline. */
    trace(order: string, options?: CallOptions): Promise<Trace>;
    /** Lists the deposits of an order, oldest first. */
    deposits(
      order: string,
      query?: {
        /** `nextCursor` of the previous page; without it, the first page */
        readonly cursor?: string | undefined;
        /** Maximum number of rows on the page */
        readonly limit?: number | undefined;
      },
      options?: CallOptions,
    ): Pages<Deposit>;
    /** Lists the payouts of an order, one for each attempt, oldest first. */
    payouts(
      order: string,
      query?: {
        /** `nextCursor` of the previous page; without it, the first page */
        readonly cursor?: string | undefined;
        /** Maximum number of rows on the page */
        readonly limit?: number | undefined;
      },
      options?: CallOptions,
    ): Pages<Payout>;
    /** Lists the refunds of an order, and the repeated payouts of money that came back; oldest first. */
    refunds(
      order: string,
      query?: {
        /** `nextCursor` of the previous page; without it, the first page */
        readonly cursor?: string | undefined;
        /** Maximum number of rows on the page */
        readonly limit?: number | undefined;
      },
      options?: CallOptions,
    ): Pages<Refund>;
    /** Cancels an order that has received no money yet. */
    cancel(order: string, options?: CallOptions): Promise<Order>;
    /** Requests a refund of the money held for an order, or of one of its deposits in suspense, to a destination of the customer. */
    refund(
      order: string,
      body: {
        /** Destination of the customer to which money is sent */
        readonly destinationId: string;
        /** A deposit in suspense; without it, all money that the order holds */
        readonly depositId?: string | undefined;
      },
      options?: CallOptions,
    ): Promise<Order>;
    /** Names another destination of the same customer for an order whose payout was rejected or came back, and pays it there. */
    changePayoutDestination(
      order: string,
      body: {
        /** Destination of the customer to which money is sent */
        readonly destinationId: string;
      },
      options?: CallOptions,
    ): Promise<Order>;
    /** Lists the counterparty wallets of an order for which the travel rule still needs data. */
    wallets(
      order: string,
      options?: CallOptions,
    ): Promise<{
      /** Wallets for which data is missing */
      readonly data: readonly {
        /** Whether the wallet sends the coins of a sale or receives the coins of a purchase */
        readonly direction: 'in' | 'out';
        /** Address of the wallet; null if the chain does not show it */
        readonly address: string | null;
        /** Data that is missing: who holds the wallet, its proof, the name of the customer, or the address; for a hosted wallet also its travel address, a known provider, the provider’s answer (`refused`: it refused), or the data of the provider that sent the coins */
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
        /** The text that the owner of the wallet signs */
        readonly text: string | null;
      }[];
      /** Until when the payout waits for the data; null if no payout waits */
      readonly dueAt: string | null;
      /** When the order was refused because data was missing at the deadline: later data does not change that; otherwise null */
      readonly refusedAt: string | null;
      /** For a sale: the travel address that the customer gives to the provider that sends the coins; null if no data is exchanged */
      readonly travelAddress: string | null;
    }>;
    /** Declares who holds and who owns a counterparty wallet of an order, and returns what the travel rule still needs. */
    nameWallet(
      order: string,
      body: {
        /** Address of the wallet: the one that a purchase is paid to, or the one that the coins of a sale come from */
        readonly address: string;
        /** Whether a provider or the owner holds the keys */
        readonly kind: 'hosted' | 'self_hosted';
        /** Whether the customer or another person owns it */
        readonly owner: 'customer' | 'other';
        /** Name of the owner, if the customer is not the owner */
        readonly ownerName?: string | undefined;
        /** Name of the provider of a hosted wallet */
        readonly provider?: string | undefined;
        /** Travel address of the provider of a hosted wallet, to which travel rule data is sent before the coins */
        readonly travelAddress?: string | undefined;
        /** Signature over the text that orders.wallets returns, made with the key of the address */
        readonly signature?: string | undefined;
      },
      options?: CallOptions,
    ): Promise<{
      /** Wallets for which data is missing */
      readonly data: readonly {
        /** Whether the wallet sends the coins of a sale or receives the coins of a purchase */
        readonly direction: 'in' | 'out';
        /** Address of the wallet; null if the chain does not show it */
        readonly address: string | null;
        /** Data that is missing: who holds the wallet, its proof, the name of the customer, or the address; for a hosted wallet also its travel address, a known provider, the provider’s answer (`refused`: it refused), or the data of the provider that sent the coins */
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
        /** The text that the owner of the wallet signs */
        readonly text: string | null;
      }[];
      /** Until when the payout waits for the data; null if no payout waits */
      readonly dueAt: string | null;
      /** When the order was refused because data was missing at the deadline: later data does not change that; otherwise null */
      readonly refusedAt: string | null;
      /** For a sale: the travel address that the customer gives to the provider that sends the coins; null if no data is exchanged */
      readonly travelAddress: string | null;
    }>;
    /** Records the bank reference that, according to the customer, the payment has. */
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
    /** Lists your customers, newest first. With `reference`, only the customer with this reference. */
    list(
      query?: {
        /** Only the customer with this reference */
        readonly reference?: string | undefined;
        /** Only customers with this state of verification */
        readonly verification?: 'none' | 'in_review' | 'verified' | 'failed' | 'refused' | undefined;
        /** Only customers created at this time or later */
        readonly from?: string | undefined;
        /** Only customers created before this time */
        readonly until?: string | undefined;
        /** `nextCursor` of the previous page; without it, the first page */
        readonly cursor?: string | undefined;
        /** Maximum number of rows on the page */
        readonly limit?: number | undefined;
      },
      options?: CallOptions,
    ): Pages<Customer>;
    /** Adds a customer. */
    create(
      body: {
        /** Your own id of the customer */
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
    /** Returns one customer. */
    get(customer: string, options?: CallOptions): Promise<Customer>;
    /** Changes the phone number, e-mail address or country of a customer. */
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
    /** Creates a link to a hosted page on which the customer logs in and is verified. */
    verificationLink(
      customer: string,
      body?: {
        /** Page to which the customer is redirected afterwards */
        readonly redirectUrl?: string | undefined;
      },
      options?: CallOptions,
    ): Promise<Link>;
    /** Creates a link to a hosted page on which the customer logs in and adds a bank account. Adding it there also confirms it. */
    accountLink(
      customer: string,
      body?: {
        /** Code of the asset */
        readonly asset?: string | undefined;
        /** Page to which the customer is redirected afterwards */
        readonly redirectUrl?: string | undefined;
      },
      options?: CallOptions,
    ): Promise<Link>;
    /** Returns the maximum of one order on each market, the used and remaining amounts of the customer’s limits across orders, what a higher level allows and requires, and what is left of the caps that your customers share. */
    limits(customer: string, options?: CallOptions): Promise<CustomerLimits>;
  };
  readonly requirements: {
    /** Returns the fields that bank accounts and verification require. */
    get(options?: CallOptions): Promise<Requirements>;
  };
  readonly submissions: {
    /** Returns the form with which a customer is verified: its fields, and its documents with the names of their files. */
    requirements(
      customer: string,
      query?: {
        /** For an individual: the fiat that selects the form */
        readonly asset?: string | undefined;
        /** Level that the form is for; by default the lowest level at which your customers may trade */
        readonly level?: number | undefined;
      },
      options?: CallOptions,
    ): Promise<CustomerRequirements>;
    /** Lists the submissions of a customer, the newest first. */
    list(
      customer: string,
      query?: {
        /** `nextCursor` of the previous page; without it, the first page */
        readonly cursor?: string | undefined;
        /** Maximum number of rows on the page */
        readonly limit?: number | undefined;
      },
      options?: CallOptions,
    ): Pages<Submission>;
    /** Starts a submission with all, some or none of its answers. */
    create(
      customer: string,
      body?: {
        /** For an individual: the fiat that selects the form */
        readonly asset?: string | undefined;
        /** Level to verify the customer to, which also selects the form; by default the lowest level at which your customers may trade */
        readonly level?: number | undefined;
        /** Answers, by the names of `submissions.requirements` */
        readonly answers?: Readonly<Record<string, string>> | undefined;
        /** Name of a business */
        readonly entityName?: string | undefined;
        /** Legal form of a business */
        readonly legalEntityNature?: string | undefined;
        /** Owners of a business: firstName, lastName, share in percent, and dob and country if known. All shares together are at most 100 percent */
        readonly owners?: readonly Readonly<Record<string, string>>[] | undefined;
        /** Directors of a business, with the same fields as owners except share */
        readonly directors?: readonly Readonly<Record<string, string>>[] | undefined;
      },
      options?: CallOptions,
    ): Promise<Submission>;
    /** Returns one submission: its state, and what it still needs, each with the reason and the remedy. */
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
        /** Owners of a business: firstName, lastName, share in percent, and dob and country if known. All shares together are at most 100 percent */
        readonly owners?: readonly Readonly<Record<string, string>>[] | undefined;
        /** Directors of a business, with the same fields as owners except share */
        readonly directors?: readonly Readonly<Record<string, string>>[] | undefined;
      },
      options?: CallOptions,
    ): Promise<Submission>;
    /** Adds files to a submission, as multipart/form-data. */
    addFiles(customer: string, submission: string, files: Files, options?: CallOptions): Promise<Submission>;
  };
  readonly informationRequests: {
    /** Lists the information requests of all customers that you have not answered yet, the most urgent first, at most 100. */
    open(options?: CallOptions): Promise<{
      /** All rows */
      readonly data: readonly InformationRequest[];
    }>;
    /** Lists the information requests of the operator about a customer, newest first. */
    list(
      customer: string,
      query?: {
        /** `nextCursor` of the previous page; without it, the first page */
        readonly cursor?: string | undefined;
        /** Maximum number of rows on the page */
        readonly limit?: number | undefined;
      },
      options?: CallOptions,
    ): Pages<InformationRequest>;
    /** Adds files to an open information request, as multipart/form-data. Send the answer afterwards. */
    addFiles(customer: string, request: string, files: Files, options?: CallOptions): Promise<InformationRequest>;
    /** Answers an information request of the operator about a customer. */
    answer(
      customer: string,
      request: string,
      body: {
        /** The answer to the operator’s question */
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
        /** `nextCursor` of the previous page; without it, the first page */
        readonly cursor?: string | undefined;
        /** Maximum number of rows on the page */
        readonly limit?: number | undefined;
      },
      options?: CallOptions,
    ): Pages<Destination>;
    /** Adds a bank account or an address to which a customer can be paid. */
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
        /** National code of the bank, in countries with another kind of code */
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
    /** Returns one destination of a customer. */
    get(customer: string, destination: string, options?: CallOptions): Promise<Destination>;
    /** Creates a link to a hosted page on which the customer logs in, sees the destination and confirms it with a code. */
    confirmationLink(
      customer: string,
      destination: string,
      body?: {
        /** Page to which the customer is redirected afterwards */
        readonly redirectUrl?: string | undefined;
      },
      options?: CallOptions,
    ): Promise<Link>;
    /** Sends a code to the customer’s phone, with which the customer confirms the destination. */
    sendCode(customer: string, destination: string, options?: CallOptions): Promise<CodeSent>;
    /** Confirms a destination with the code that was sent to the customer. */
    confirm(
      customer: string,
      destination: string,
      body: {
        /** Code that was sent to the customer’s phone */
        readonly code: string;
      },
      options?: CallOptions,
    ): Promise<Destination>;
  };
  readonly events: {
    /** Lists your events, the oldest first, in an order that never changes. */
    list(
      query?: {
        /** `nextCursor` of the previous page; without it, the first page */
        readonly cursor?: string | undefined;
        /** Maximum number of rows on the page */
        readonly limit?: number | undefined;
      },
      options?: CallOptions,
    ): Pages<Event>;
  };
  readonly webhooks: {
    /** Lists webhook endpoints, the oldest first. */
    list(options?: CallOptions): Promise<{
      /** All rows */
      readonly data: readonly WebhookEndpoint[];
    }>;
    /** Adds a webhook endpoint, and returns its secret. */
    create(
      body: {
        /** Address that events are posted to */
        readonly url: string;
        /** Event types, such as order.settled or order.*; an empty list means all */
        readonly events?: readonly string[] | undefined;
      },
      options?: CallOptions,
    ): Promise<WebhookEndpointWithSecret>;
    /** Returns one webhook endpoint. */
    get(endpoint: string, options?: CallOptions): Promise<WebhookEndpoint>;
    /** Changes a webhook endpoint. */
    update(
      endpoint: string,
      body?: {
        /** Address that events are posted to */
        readonly url?: string | undefined;
        /** Event types, such as order.settled or order.*; an empty list means all */
        readonly events?: readonly string[] | undefined;
        /** Whether events are sent */
        readonly enabled?: boolean | undefined;
      },
      options?: CallOptions,
    ): Promise<WebhookEndpoint>;
    /** Removes a webhook endpoint. Its pending deliveries are dropped. */
    remove(endpoint: string, options?: CallOptions): Promise<Removed>;
    /** Gives a webhook endpoint a new secret. For a while, webhooks are also signed with the previous one. */
    rotateSecret(
      endpoint: string,
      body?: {
        /** For how many seconds the previous secret stays valid */
        readonly overlapSeconds?: number | undefined;
      },
      options?: CallOptions,
    ): Promise<WebhookEndpointWithSecret>;
    /** Resumes deliveries to a held webhook endpoint, from the first event that it missed. */
    resume(endpoint: string, options?: CallOptions): Promise<WebhookEndpoint>;
    /** Sends a test event to a webhook endpoint. */
    test(endpoint: string, options?: CallOptions): Promise<TestSent>;
    /** Sends events again: one event, the events of an order, or the events of a period. */
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
        /** Only deliveries in this state */
        readonly state?: 'waiting' | 'delivered' | 'dead' | 'dropped' | undefined;
        /** `nextCursor` of the previous page; without it, the first page */
        readonly cursor?: string | undefined;
        /** Maximum number of rows on the page */
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
      /** All rows */
      readonly data: readonly Attempt[];
    }>;
  };
  readonly key: {
    /** Returns what the calling key may do, and the API version that its requests use. */
    get(options?: CallOptions): Promise<Key>;
  };
  readonly limits: {
    /** Shows your limits: used and remaining amounts. */
    get(options?: CallOptions): Promise<Limits>;
  };
  readonly requests: {
    /** Lists your requests of the last 30 days to this API and to the white-label wire, newest first. */
    list(
      query?: {
        /** Only requests of this interface */
        readonly protocol?: 'v1' | 'white-label' | undefined;
        /** Only requests to this endpoint */
        readonly operation?: string | undefined;
        /** Only requests that were answered with this HTTP status */
        readonly status?: number | undefined;
        /** Only requests that were declined for this reason */
        readonly reason?: string | undefined;
        /** Only items of this time or later */
        readonly from?: string | undefined;
        /** Only items before this time */
        readonly until?: string | undefined;
        /** `nextCursor` of the previous page; without it, the first page */
        readonly cursor?: string | undefined;
        /** Maximum number of rows on the page */
        readonly limit?: number | undefined;
      },
      options?: CallOptions,
    ): Pages<RequestLine>;
    /** Returns one of your requests of the last 30 days, with its reply and, if it was declined, the reason. */
    get(request: string, options?: CallOptions): Promise<RequestDetail>;
    /** Explains why a request of your program is authenticated or not: it checks key, token, covered parts, digest, time and signature. */
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
      /** All rows */
      readonly data: readonly ApiKey[];
    }>;
    /** Creates an API key, and returns its secret. */
    create(
      body: {
        /** What the key is for */
        readonly label: string;
        /** What the key may do */
        readonly scopes: readonly ('read' | 'trade' | 'customers' | 'admin')[];
        /** Networks from which the key may be used; an empty list allows all */
        readonly networks?: readonly string[] | undefined;
        /** When the key expires */
        readonly expiresAt?: string | undefined;
      },
      options?: CallOptions,
    ): Promise<ApiKeyWithSecret>;
    /** Changes label, scopes or networks of an API key. The change takes effect within three seconds. */
    update(
      key: string,
      body?: {
        /** What the key is for */
        readonly label?: string | undefined;
        /** What the key may do */
        readonly scopes?: readonly ('read' | 'trade' | 'customers' | 'admin')[] | undefined;
        /** Networks from which the key may be used; an empty list allows all */
        readonly networks?: readonly string[] | undefined;
      },
      options?: CallOptions,
    ): Promise<ApiKey>;
    /** Gives an API key a new secret. The previous one stays valid for `overlapSeconds`, one day by default. */
    rotate(
      key: string,
      body?: {
        /** For how many seconds the previous secret stays valid */
        readonly overlapSeconds?: number | undefined;
      },
      options?: CallOptions,
    ): Promise<ApiKeyWithSecret>;
    /** Revokes an API key permanently. After the reply, no request with the key changes anything. */
    revoke(key: string, options?: CallOptions): Promise<ApiKey>;
  };
  readonly team: {
    /** Lists the members of your team; removed members come last. */
    list(options?: CallOptions): Promise<{
      /** All rows */
      readonly data: readonly Member[];
    }>;
    /** Invites a person to your team. The reply has a link that enrols one passkey and is valid for three days. */
    invite(
      body: {
        /** Short name */
        readonly name: string;
        /** What the member may do */
        readonly role: 'owner' | 'developer' | 'support' | 'finance' | 'viewer';
      },
      options?: CallOptions,
    ): Promise<Invitation>;
    /** Creates a new link for a member who has not joined yet, and invalidates the earlier link. */
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
    /** Removes a member permanently, with passkeys, sessions and invitations. */
    remove(member: string, options?: CallOptions): Promise<Member>;
    /** Ends the sessions of a member. The member’s passkeys stay valid. */
    signOut(member: string, options?: CallOptions): Promise<Member>;
    /** Lists the changes made by your keys and your team, newest first. */
    activity(
      query?: {
        /** Only items of this time or later */
        readonly from?: string | undefined;
        /** Only items before this time */
        readonly until?: string | undefined;
        /** `nextCursor` of the previous page; without it, the first page */
        readonly cursor?: string | undefined;
        /** Maximum number of rows on the page */
        readonly limit?: number | undefined;
      },
      options?: CallOptions,
    ): Pages<ActivityLine>;
  };
  readonly settings: {
    /** Returns your name as customers see it, and the origins whose pages may use your keys. */
    get(options?: CallOptions): Promise<Settings>;
    /** Sets the list of origins whose pages may use your keys. It replaces the whole list. */
    update(
      body: {
        /** Origins; an empty list allows no page */
        readonly origins: readonly string[];
      },
      options?: CallOptions,
    ): Promise<Settings>;
  };
  readonly branding: {
    /** Returns display name, colours and logo of your hosted pages. */
    get(options?: CallOptions): Promise<Branding>;
    /** Sets display name, colours and logo of your hosted pages. A field that is left out keeps its value; null removes it. */
    update(
      body?: {
        /** Name on hosted pages */
        readonly displayName?: string | 'none' | undefined;
        /** Colour of links and buttons */
        readonly accent?: string | 'none' | undefined;
        /** Colour of links and buttons on a dark background */
        readonly accentDark?: string | 'none' | undefined;
        /** The logo */
        readonly logo?: string | 'none' | undefined;
      },
      options?: CallOptions,
    ): Promise<Branding>;
    /** Previews the colours of hosted pages with their contrast, without changing anything. */
    colours(
      query?: {
        /** Colour of links and buttons */
        readonly accent?: string | undefined;
        /** Colour of links and buttons on a dark background */
        readonly accentDark?: string | undefined;
      },
      options?: CallOptions,
    ): Promise<Colours>;
  };
  readonly statement: {
    /** Returns the totals of your orders and your earnings by day and market, newest day first. */
    get(
      query: {
        /** Only items of this time or later */
        readonly from: string;
        /** Only items before this time */
        readonly until: string;
      },
      options?: CallOptions,
    ): Promise<{
      /** All rows */
      readonly data: readonly StatementDay[];
    }>;
    /** Returns your statement from the operator’s books: volume, the fees that you earned, returned and were paid, and what you are owed. */
    books(
      query: {
        /** Only items of this time or later */
        readonly from: string;
        /** Only items before this time */
        readonly until: string;
      },
      options?: CallOptions,
    ): Promise<BookStatement>;
  };
  readonly controls: {
    /** Pays an order as its customer, on its chain or by bank. */
    pay(
      order: string,
      body?: {
        /** `exact` (the default), `under` (half), `over` (half more), `late` (after the deadline, which passes now), `twice`, `another_token` (on the same chain), `another_chain` (the same coin) */
        readonly how?: 'exact' | 'under' | 'over' | 'late' | 'twice' | 'another_token' | 'another_chain' | undefined;
        /** Amount to pay instead of the requested one, in the same currency */
        readonly amount?: string | undefined;
      },
      options?: CallOptions,
    ): Promise<Happened>;
    /** Credits our bank account for a purchase, with the payer’s reference and name as you choose them. */
    credit(
      order: string,
      body?: {
        /** Amount to pay instead of the requested one, in the same currency */
        readonly amount?: string | undefined;
        /** `right` (the default), `none`, `wrong` (one letter mistyped) */
        readonly payerReference?: 'right' | 'none' | 'wrong' | undefined;
        /** Payer’s name: `right` (the customer’s, the default), `wrong`, `none` */
        readonly payerName?: 'right' | 'wrong' | 'none' | undefined;
      },
      options?: CallOptions,
    ): Promise<Happened>;
    /** Recalls a bank credit, as the payer’s bank. */
    recall(order: string, options?: CallOptions): Promise<Happened>;
    /** Returns an order’s payout or refund to a bank account, before or after it arrived. */
    bounce(order: string, options?: CallOptions): Promise<Happened>;
    /** Makes screening hold an order as if its destination were denied, until a person releases it; or ends that. */
    screening(
      order: string,
      body: {
        /** `fail` holds it, `pass` ends that */
        readonly outcome: 'fail' | 'pass';
      },
      options?: CallOptions,
    ): Promise<Happened>;
    /** Moves your due times closer: deadlines, locked rates and quotes, waits, clearing, attempts of webhooks. */
    clock(
      body: {
        /** How far they move, at most 30 days, in seconds */
        readonly seconds: number;
      },
      options?: CallOptions,
    ): Promise<Happened>;
    /** Replaces the newest blocks of a chain with empty ones; transfers of ours and of simulated customers are sent again. */
    reorg(
      body: {
        /** Code of the chain: `matic20`, `erc20`, `bep20`, `arbitrum`, `base`, `optimism`, `trc20` */
        readonly chain: string;
        /** 1 to 12; a deeper reorg would replace final blocks and halt the chain */
        readonly blocks: number;
      },
      options?: CallOptions,
    ): Promise<Happened>;
    /** Makes the next calls of the bank fail. */
    bank(
      body: {
        /** `lose_request` (nothing is paid), `lose_answer` (it is paid), `delay_answer`, `reject`, `return` (paid, then returned), `no_status`, `statement_twice`, `statement_reordered`; `none` removes the remaining faults */
        readonly fault:
          | 'none'
          | 'lose_request'
          | 'lose_answer'
          | 'delay_answer'
          | 'reject'
          | 'return'
          | 'no_status'
          | 'statement_twice'
          | 'statement_reordered';
        /** How often; 1 by default */
        readonly times?: number | undefined;
      },
      options?: CallOptions,
    ): Promise<Happened>;
    /** Sets the price of a coin until you change it or the server restarts. */
    prices(
      body: {
        /** Code of the coin, such as `usdc` */
        readonly coin: string;
        /** Code of the currency, such as `inr` */
        readonly fiat: string;
        /** Fiat for one coin; without it, the price table applies again */
        readonly price?: string | undefined;
      },
      options?: CallOptions,
    ): Promise<Happened>;
    /** Empties the operator’s account or wallet of a currency (its money is set aside in the books), or fills it again. */
    treasury(
      body: {
        /** A fiat such as `inr`, or a coin with its `chain` */
        readonly currency: string;
        /** `dry` (empty) or `filled` */
        readonly level: 'dry' | 'filled';
        /** Chain of a coin */
        readonly chain?: string | undefined;
      },
      options?: CallOptions,
    ): Promise<Happened>;
    /** Makes deliveries fail as if every receiver were down, until you change it or the server restarts. */
    webhooks(
      body: {
        /** `drop` (they fail) or `deliver` */
        readonly deliveries: 'drop' | 'deliver';
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
  'statement.books': ['GET', '/statement/books', 'query', false],
  'controls.pay': ['POST', '/sandbox/orders/{order}/pay', 'body', false],
  'controls.credit': ['POST', '/sandbox/orders/{order}/credit', 'body', false],
  'controls.recall': ['POST', '/sandbox/orders/{order}/recall', 'none', false],
  'controls.bounce': ['POST', '/sandbox/orders/{order}/bounce', 'none', false],
  'controls.screening': ['POST', '/sandbox/orders/{order}/screening', 'body', false],
  'controls.clock': ['POST', '/sandbox/clock', 'body', false],
  'controls.reorg': ['POST', '/sandbox/reorg', 'body', false],
  'controls.bank': ['POST', '/sandbox/bank', 'body', false],
  'controls.prices': ['POST', '/sandbox/prices', 'body', false],
  'controls.treasury': ['POST', '/sandbox/treasury', 'body', false],
  'controls.webhooks': ['POST', '/sandbox/webhooks', 'body', false],
};

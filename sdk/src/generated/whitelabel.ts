/**
 * Generated from docs/openapi.json by sdk/generate.ts. Do not edit: change the declarations of the API.
 */

/** An endpoint without fields. */
export type Nothing = Readonly<Record<string, never>>;

/** In addition, the details of the account, under the names under which they were sent */
export interface Account {
  /** Number of the account */
  readonly fiatAccountId: string;
  /** Account number, or the IBAN */
  readonly fiatAccount: string;
  /** Currency of the account, in upper case */
  readonly currency: string;
  /** When it was added, ISO 8601 in UTC */
  readonly createdAt: string;
}

/** The time, the duration and the response of each attempt */
export type Attempt = Readonly<Record<string, unknown>>;

export interface CheckoutLink {
  /** Hosted page on which the customer confirms and pays */
  readonly link: string;
  /** Id of the link */
  readonly urlHash: string;
  /** Until when a transaction can be created with the link, ISO 8601 in UTC */
  readonly expiresAt: string;
}

export interface Coin {
  /** Number of the coin */
  readonly coinId: number;
  /** Picture, as a data URL */
  readonly coinIcon: string;
  /** Name */
  readonly coinName: string;
  /** Decimals with which a balance is shown */
  readonly balanceFloatPlaces: number;
}

export interface CreatedPurchase {
  /** Number of the transaction */
  readonly transactionId: string;
  /** When the transaction was created, UTC */
  readonly createdAt: string;
  /** Fiat to pay: a plain decimal */
  readonly fiatAmount: string;
  readonly fiatPaymentInstructions: PayInstructions;
}

export interface CreatedSale {
  /** Number of the transaction */
  readonly transactionId: string;
  /** When the transaction was created, UTC */
  readonly createdAt: string;
  /** Address to which the customer sends the coins */
  readonly depositAddress: string;
  /** Chain of that address */
  readonly chain: string;
  /** Coins to send: a plain decimal */
  readonly fromAmount: string;
  /** Fiat that will be paid: a plain decimal */
  readonly toAmount: string;
  /** Fiat for one coin: a plain decimal */
  readonly rate: string;
  /** Deadline for the coins to arrive, ISO 8601 in UTC */
  readonly expiresAt: string;
}

export interface CustomerWebhook {
  /** A person or a business */
  readonly eventType: 'KYC' | 'KYB';
  /** Verification status */
  readonly status: string;
  readonly metadata: {
    /** Position of the event; 0 for a sample */
    readonly eventId: number;
    /** When it happened, ISO 8601 in UTC */
    readonly eventCreatedAt: string;
    /** Position among the events of its subject */
    readonly sequence?: number | undefined;
    /** When this attempt was sent, in milliseconds since 1970 */
    readonly timestamp?: number | undefined;
    readonly sample?: true | undefined;
    /** Our id of the customer */
    readonly customerId: string;
    readonly clientCustomerId: string | null;
  };
}

export interface Delivery {
  /** Id of the event */
  readonly eventId: string;
  /** Type of the event */
  readonly type: string;
  /** What it is about */
  readonly subject: string;
  /** Position among the events of its subject */
  readonly sequence: number;
  /** waiting, delivered, dropped or dead */
  readonly state: string;
  /** Attempts so far */
  readonly attempts: number;
  readonly lastError: string | null;
  readonly endedAt: string | null;
}

/** id, type, time, and data about the subject */
export type Event = Readonly<Record<string, unknown>>;

export interface Events {
  readonly events: readonly Event[];
  /** Cursor of the next page */
  readonly next: string;
  readonly hasMore: boolean;
}

export interface Failure {
  readonly status: 0;
  /** The HTTP status */
  readonly code: number;
  /** The error as a sentence */
  readonly error: string;
  /** The same sentence */
  readonly message: string;
  /** Code of the reason, for programs */
  readonly reason: string;
  /** Which field is wrong, and the rule it breaks */
  readonly fields?: Readonly<Record<string, string>> | undefined;
  /** With customer_exists: the customer who has the phone number or the clientCustomerId */
  readonly customerId?: string | undefined;
  /** With login_required: a link for the customer to log in */
  readonly kycUrl?: string | undefined;
}

export interface FlatWebhook {
  /** Number of the transaction; 0 for a sample */
  readonly orderId: number;
  /** Buying or selling */
  readonly eventType: 'onramp' | 'offramp';
  /** Deposit address of a sale, destination address of a purchase */
  readonly walletAddress: string;
  /** Number of the coin */
  readonly coinId: number;
  /** Code of the coin */
  readonly coinCode: string;
  /** Number of the chain */
  readonly chainId: number;
  /** Code of the chain */
  readonly network: string;
  /** Number of the fiat */
  readonly fiatType: number;
  /** Amount of the fiat: exact to its last digit */
  readonly fiatAmount: number;
  /** 1: instant. 2: a bank transfer */
  readonly paymentType: number;
  /** Fiat for one coin: exact to its last digit */
  readonly expectedPrice: number;
  /** Amount of the coin: exact to its last digit */
  readonly expectedCryptoAmount: number;
  /** Fiat for one coin: exact to its last digit */
  readonly actualPrice: number;
  /** Amount of the coin that was transferred: exact to its last digit */
  readonly actualCryptoAmount: number;
  /** Fiat that was paid; only of a sale: exact to its last digit */
  readonly actualFiatAmount?: number | undefined;
  /** Coins that arrived; only of a sale: exact to its last digit */
  readonly actualQuantity?: number | undefined;
  /** SUCCESS; only of a sale */
  readonly statusDescription?: string | undefined;
  /** Always 0 */
  readonly kycNeeded: number;
  /** When the transaction was created, ISO 8601 in UTC */
  readonly createdAt: string;
  /** When it last changed, ISO 8601 in UTC */
  readonly updatedAt: string;
  /** Status number */
  readonly status: number;
  /** Bank reference */
  readonly referenceId: string;
  /** Fee of the operator: exact to its last digit */
  readonly onRampFee: number;
  /** Fee of the partner: exact to its last digit */
  readonly clientFee: number;
  /** Fee of the payment rail: exact to its last digit */
  readonly gatewayFee: number;
  /** Fee of the chain: exact to its last digit */
  readonly gasFee: number;
  /** Tax withheld; only if tax was withheld: exact to its last digit */
  readonly tdsFee?: number | undefined;
  /** Hash on the chain, in lower case; empty before there is one */
  readonly transactionHash: string;
  /** The partner’s own reference */
  readonly merchantRecognitionId: string;
  /** Which attempt this is, from 1 */
  readonly webhookTrials: number;
}

export interface KycLink {
  /** Page on which the customer logs in and is verified */
  readonly kycUrl: string;
  /** Our id of the customer */
  readonly customerId: string;
  /** The partner’s own id, in the type in which it was sent */
  readonly clientCustomerId: string | number;
  /** HMAC-SHA512 of kycUrl under the key’s secret, in hex */
  readonly signature: string;
}

export interface KycRequirements {
  readonly kycRequirementData: Requirements;
}

export interface KycStatus {
  /** Verification status: see the table of words */
  readonly status: string;
  /** When it last changed, UTC */
  readonly updatedAt: string;
  /** Country of the customer, two letters; `IN` also while it is unknown */
  readonly countryISO: string;
  /** Current step */
  readonly currentKycVerificationStep: string;
  /** Last completed step */
  readonly previousSuccessfulKycStep: string;
  /** Why verification failed */
  readonly failedReason?: string | undefined;
  /** The same as a code: see the table of reasons in the documentation of customers */
  readonly failedReasonCode?: string | undefined;
}

export interface NamedDestination {
  /** Number of the transaction */
  readonly transactionId: string;
  /** The address, as it was sent */
  readonly address?: string | undefined;
  /** The account, as it was sent */
  readonly fiatAccountId?: string | undefined;
}

export interface Network {
  /** Code of the chain */
  readonly chainSymbol: string;
  /** Name */
  readonly chainName: string;
  /** Pattern of an address */
  readonly addressRegex: string;
  /** Pattern of a memo; empty if there is none */
  readonly memoRegex: string;
  /** Network id of the chain; -1 if it has none */
  readonly networkId: number;
  /** Number of the native asset; -1 if it has no number */
  readonly nativeToken: number;
  readonly startingWith: readonly string[];
  /** URL of the explorer, without the hash at its end; empty if there is none */
  readonly hashLink: string;
  /** The same as nativeToken */
  readonly node: number;
}

export interface OrderWebhook {
  /** Number of the transaction; 0 for a sample */
  readonly referenceId: number;
  /** Buying or selling */
  readonly eventType: 'ONRAMP' | 'OFFRAMP';
  /** Each is sent once per transaction, in this order */
  readonly status:
    | 'ON_CHAIN_DEPOSIT_RECEIVED'
    | 'FIAT_DEPOSIT_RECEIVED'
    | 'TRADE_COMPLETED'
    | 'TRADE COMPLETED'
    | 'FIAT_TRANSFER_INITIATED'
    | 'ON_CHAIN_INITIATED'
    | 'FIAT_TRANSFER_COMPLETED'
    | 'ON_CHAIN_COMPLETED'
    | 'FAILED';
  readonly metadata: {
    /** Position of the event; 0 for a sample */
    readonly eventId: number;
    /** When it happened, ISO 8601 in UTC */
    readonly eventCreatedAt: string;
    /** Position among the events of its subject */
    readonly sequence?: number | undefined;
    /** When this attempt was sent, in milliseconds since 1970 */
    readonly timestamp?: number | undefined;
    readonly sample?: true | undefined;
    /** When unclaimed money becomes dormant; only if that was announced, ISO 8601 in UTC */
    readonly unclaimedFrom?: string | undefined;
    /** Amount received for the transaction and not reversed: a plain decimal */
    readonly receivedAmount?: string | undefined;
    /** Currency of the received amount */
    readonly receivedCurrency?: string | undefined;
    /** Why the transaction is unusual; empty if there is no reason */
    readonly reason?:
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
      | ''
      | undefined;
    /** Whether money waits until refundDestination names its destination */
    readonly needsDestination?: boolean | undefined;
    /** The newest refunds, in the order of their creation: 20 in transactions and events, as many as requested in refunds */
    readonly refunds?: readonly Refund[] | undefined;
    /** Number of refunds older than the first one here; only if there are any. The refunds call returns them with `before` */
    readonly olderRefunds?: number | undefined;
    /** The newest returned payouts, in the order of their return: 20 in transactions and events, 100 in refunds */
    readonly returnedPayouts?: readonly ReturnedPayout[] | undefined;
    /** Number of returned payouts that are not in the list; only if there are any */
    readonly olderReturnedPayouts?: number | undefined;
    /** Why it failed; only with FAILED */
    readonly failure_reasons?: string | undefined;
  };
}

export interface PayInstructions {
  /** Payment method */
  readonly type: string;
  readonly bank: {
    /** Holder of the account */
    readonly name: string;
    /** Account number, or the IBAN */
    readonly accountNumber: string;
    /** Bank code of an Indian account */
    readonly ifsc?: string | undefined;
    /** Type of the account */
    readonly type: string;
    /** Branch */
    readonly branch: string;
    /** Name of the bank */
    readonly bank: string;
    /** IBAN, if the account has one */
    readonly iban?: string | undefined;
    /** BIC, beside an IBAN */
    readonly bic?: string | undefined;
    /** Code of the bank, in countries with another kind of bank code */
    readonly bankCode?: string | undefined;
    /** Sort code, of a British account */
    readonly sortCode?: string | undefined;
    /** Routing number, of an American account */
    readonly routingNumber?: string | undefined;
  };
  readonly bankNotes: readonly {
    /** 1: what to do. -1: what not to do */
    readonly type: 1 | -1;
    /** A sentence for the customer */
    readonly msg: string;
  }[];
  /** Reference that the customer writes into the remarks of the transfer */
  readonly otp: string;
}

export interface PostBankAddFiatAccountRequest {
  /** Our id of the customer, as kyc/url returned it */
  readonly customerId: string;
  /** Account number */
  readonly fiatAccount?: string | undefined;
  /** Bank code of an Indian account */
  readonly ifsc?: string | undefined;
  /** IBAN, instead of an account number */
  readonly iban?: string | undefined;
  /** BIC of the bank */
  readonly swift?: string | undefined;
  /** Sort code of a British account */
  readonly sortCode?: string | undefined;
  /** Routing number of an American account */
  readonly routingNumber?: string | undefined;
  /** Code of the bank, in countries with another kind of bank code */
  readonly bankCode?: string | undefined;
  /** Name of the bank */
  readonly bankName?: string | undefined;
  /** Holder of the account */
  readonly accountHolder?: string | undefined;
  /** Fiat: its code or its number */
  readonly fiatType?: string | undefined;
  /** Country, two letters, instead of fiatType: selects the fiat of that country. If both are sent, they must agree */
  readonly countryCode?: string | undefined;
}

export interface PostBankAddFiatAccountUrlRequest {
  /** Our id of the customer, as kyc/url returned it */
  readonly customerId: string;
  /** Page to which the customer returns afterwards */
  readonly redirectUrl?: string | undefined;
  /** Fiat: its code or its number */
  readonly fiatType?: string | undefined;
  /** Country, two letters, instead of fiatType: selects the fiat of that country. If both are sent, they must agree */
  readonly countryCode?: string | undefined;
}

export interface PostBankBankDetailsRequest {
  /** Our id of the customer, as kyc/url returned it */
  readonly customerId: string;
  /** Number of a transaction */
  readonly transactionId: string;
  /** Currency given: a coin when selling, a fiat when buying */
  readonly fromCurrency?: string | undefined;
  /** Payment method, as fetchPaymentMethodType names it */
  readonly paymentMethodType?: string | undefined;
}

export interface PostBankFiatAccountsRequest {
  /** Our id of the customer, as kyc/url returned it */
  readonly customerId: string;
}

export interface PostCommonTransactionAllCoinLimitsRequest {
  /** Fiat: its code or its number */
  readonly fiatType?: string | undefined;
  /** Country, two letters, instead of fiatType: selects the fiat of that country. If both are sent, they must agree */
  readonly countryCode?: string | undefined;
}

export interface PostCommonTransactionGenerateLinkRequest {
  /** Code of the coin */
  readonly coinCode?: string | undefined;
  /** Number of the coin, instead of coinCode */
  readonly coinId?: string | undefined;
  /** Chain of the coin */
  readonly network?: string | undefined;
  /** Number of the chain, instead of network */
  readonly chainId?: string | undefined;
  /** Amount of the fiat */
  readonly fiatAmount?: string | undefined;
  /** Amount of the coin */
  readonly quantity?: string | undefined;
  /** Fiat: its code or its number */
  readonly fiatType?: string | undefined;
  /** Country, two letters, instead of fiatType: selects the fiat of that country. If both are sent, they must agree */
  readonly countryCode?: string | undefined;
  /** 1: buying. 2: selling */
  readonly type?: '1' | '2' | undefined;
  /** Older name of `type` */
  readonly flowType?: '1' | '2' | undefined;
  /** Address of the customer to which the coins are paid */
  readonly walletAddress?: string | undefined;
  /** Payment method: its name, or 1 for an instant method and 2 for a bank transfer */
  readonly paymentMethod?: string | undefined;
  /** Our id of the customer, as kyc/url returned it */
  readonly customerId?: string | undefined;
  /** Your own id of the customer; returned in the type in which it was sent */
  readonly clientCustomerId?: string | undefined;
  /** Phone number of the customer, with its country code. A phone number identifies one customer */
  readonly phoneNumber?: string | undefined;
  /** Your own reference for the transaction */
  readonly merchantRecognitionId?: string | undefined;
  /** Page to which the customer returns afterwards */
  readonly redirectUrl?: string | undefined;
}

export interface PostCommonTransactionLimitsRequest {
  /** 1: buying. 2: selling. 3: both */
  readonly type: '1' | '2' | '3';
}

export interface PostCommonTransactionOrderStatusRequest {
  /** Number of a transaction */
  readonly orderId: string;
  /** 1: buying. 2: selling */
  readonly type: '1' | '2';
}

export interface PostCommonTransactionPriceTickerRequest {
  /** 1: buying. 2: selling. 3: both */
  readonly type: '1' | '2' | '3';
  /** Fiat: its code or its number */
  readonly fiatType?: string | undefined;
  /** Country, two letters, instead of fiatType: selects the fiat of that country. If both are sent, they must agree */
  readonly countryCode?: string | undefined;
}

export interface PostCommonTransactionQuotesRequest {
  /** Code of the coin */
  readonly coinCode?: string | undefined;
  /** Number of the coin, instead of coinCode */
  readonly coinId?: string | undefined;
  /** Chain of the coin */
  readonly network?: string | undefined;
  /** Number of the chain, instead of network */
  readonly chainId?: string | undefined;
  /** Amount of the fiat */
  readonly fiatAmount?: string | undefined;
  /** Fiat: its code or its number */
  readonly fiatType?: string | undefined;
  /** Country, two letters, instead of fiatType: selects the fiat of that country. If both are sent, they must agree */
  readonly countryCode?: string | undefined;
  /** 1: buying. 2: selling */
  readonly type: '1' | '2';
  /** Amount of the coin */
  readonly quantity?: string | undefined;
}

export interface PostKybFilesRequest {
  /** Our id of the customer, as kyc/url returned it */
  readonly customerId: string;
  /** A submission of a business */
  readonly submissionId?: string | undefined;
  /** Country that selects the form, two letters, as in kyb/requirements */
  readonly country?: string | undefined;
}

export interface PostKybStatusRequest {
  /** Our id of the customer, as kyc/url returned it */
  readonly customerId: string;
  /** A submission of a business */
  readonly submissionId?: string | undefined;
  /** Country that selects the form, two letters, as in kyb/requirements */
  readonly country?: string | undefined;
}

export interface PostKybSubmitRequest {
  /** Our id of the customer, as kyc/url returned it */
  readonly customerId: string;
  /** A submission of a business */
  readonly submissionId?: string | undefined;
  /** Fiat: its code or its number */
  readonly fiatType?: string | undefined;
  /** Country, two letters, instead of fiatType: selects the fiat of that country. If both are sent, they must agree */
  readonly countryCode?: string | undefined;
  /** Country that selects the form, two letters, as in kyb/requirements */
  readonly country?: string | undefined;
  /** Number of the identity document */
  readonly identityNumber?: Readonly<Record<string, string>> | string | undefined;
  /** Answers of the group `details` */
  readonly details?: Readonly<Record<string, string>> | string | undefined;
  /** Answers of the group `address` */
  readonly address?: Readonly<Record<string, string>> | string | undefined;
  /** Name of the business */
  readonly entityName?: string | undefined;
  /** Legal form of the business */
  readonly legalEntityNature?: string | undefined;
  /** Owners: firstName, lastName, share in percent, and dob and country if known */
  readonly owners?: readonly Readonly<Record<string, string>>[] | string | undefined;
  /** Directors, with the same fields as owners except share */
  readonly directors?: readonly Readonly<Record<string, string>>[] | string | undefined;
}

export interface PostKycRequirementsRequest {
  /** Our id of the customer, as kyc/url returned it */
  readonly customerId: string;
  /** Fiat: its code or its number */
  readonly fiatType?: string | undefined;
  /** Country, two letters, instead of fiatType: selects the fiat of that country. If both are sent, they must agree */
  readonly countryCode?: string | undefined;
}

export interface PostKycStatusRequest {
  /** Our id of the customer, as kyc/url returned it */
  readonly customerId: string;
}

export interface PostKycSubmitDataRequest {
  /** Our id of the customer, as kyc/url returned it */
  readonly customerId: string;
  /** Fiat: its code or its number */
  readonly fiatType: string;
  /** Country, two letters, instead of fiatType: selects the fiat of that country. If both are sent, they must agree */
  readonly countryCode?: string | undefined;
  /** Number of the identity document */
  readonly identityNumber?: Readonly<Record<string, string>> | string | undefined;
  /** Answers of the group `details` */
  readonly details?: Readonly<Record<string, string>> | string | undefined;
  /** Answers of the group `address` */
  readonly address?: Readonly<Record<string, string>> | string | undefined;
}

export interface PostKycSubmitFilesRequest {
  /** Our id of the customer, as kyc/url returned it */
  readonly customerId: string;
  /** Fiat: its code or its number */
  readonly fiatType?: string | undefined;
  /** Country, two letters, instead of fiatType: selects the fiat of that country. If both are sent, they must agree */
  readonly countryCode?: string | undefined;
}

export interface PostKycSubmitRequest {
  /** Our id of the customer, as kyc/url returned it */
  readonly customerId: string;
  /** Fiat: its code or its number */
  readonly fiatType: string;
  /** Country, two letters, instead of fiatType: selects the fiat of that country. If both are sent, they must agree */
  readonly countryCode?: string | undefined;
  /** Number of the identity document */
  readonly identityNumber?: Readonly<Record<string, string>> | string | undefined;
  /** Answers of the group `details` */
  readonly details?: Readonly<Record<string, string>> | string | undefined;
  /** Answers of the group `address` */
  readonly address?: Readonly<Record<string, string>> | string | undefined;
}

export interface PostKycUrlRequest {
  /** Your own id of the customer; returned in the type in which it was sent */
  readonly clientCustomerId?: string | undefined;
  /** Phone number of the customer, with its country code. A phone number identifies one customer */
  readonly phoneNumber?: string | undefined;
  /** A person or a business */
  readonly type?: 'INDIVIDUAL' | 'BUSINESS' | undefined;
  /** E-mail address of the customer */
  readonly email?: string | undefined;
  /** Our id of the customer, as kyc/url returned it */
  readonly customerId?: string | undefined;
  /** Page to which the customer returns afterwards */
  readonly kycRedirectUrl?: string | undefined;
  /** Whether the page ends after the login, without asking for details */
  readonly closeAfterLogin?: boolean | undefined;
}

export interface PostMerchantResendWebhookRequest {
  /** Number of a transaction */
  readonly orderId: string;
}

export interface PostMerchantSendDummyWebhookRequest {
  /** Address that events are posted to */
  readonly webhookUrl?: string | undefined;
  /** Format of the body: see the page on webhooks */
  readonly format?: 'whitelabel' | 'flat' | undefined;
}

export interface PostMerchantSetWebhookUrlRequest {
  /** Address that events are posted to */
  readonly webhookUrl: string;
  /** Format of the body: see the page on webhooks */
  readonly format?: 'whitelabel' | 'flat' | undefined;
}

export interface PostOfframpAllTransactionRequest {
  /** Page, from 1 */
  readonly page: number;
  /** Rows per page */
  readonly pageSize: number;
}

export interface PostOfframpAllUserTransactionRequest {
  /** Our id of the customer, as kyc/url returned it */
  readonly customerId: string;
  /** Page, from 1 */
  readonly page: number;
  /** Rows per page */
  readonly pageSize: number;
}

export interface PostOfframpCreateTransactionRequest {
  /** Currency given: a coin when selling, a fiat when buying */
  readonly fromCurrency: string;
  /** Currency received: a fiat when selling, a coin when buying */
  readonly toCurrency: string;
  /** Chain of the coin */
  readonly chain: string;
  /** Amount given, in fromCurrency */
  readonly fromAmount: string;
  /** Amount received according to the quote, in toCurrency; if the price has changed, the request is declined */
  readonly toAmount?: string | undefined;
  /** Rate of the quote: fiat for one coin */
  readonly rate?: string | undefined;
  /** Our id of the customer, as kyc/url returned it */
  readonly customerId: string;
  /** Number of an account, as bank/addFiatAccount returned it */
  readonly fiatAccountId?: string | undefined;
  /** Your own reference for the transaction */
  readonly merchantRecognitionId?: string | undefined;
  /** Address to which coins are refunded, if necessary */
  readonly refundAddress?: string | undefined;
}

export interface PostOfframpQuoteRequest {
  /** Currency given: a coin when selling, a fiat when buying */
  readonly fromCurrency: string;
  /** Currency received: a fiat when selling, a coin when buying */
  readonly toCurrency: string;
  /** Amount given, in fromCurrency */
  readonly fromAmount: string;
  /** Chain of the coin */
  readonly chain?: string | undefined;
  /** Payment method, as fetchPaymentMethodType names it */
  readonly paymentMethodType?: string | undefined;
}

export interface PostOfframpRefundsRequest {
  /** Number of a transaction */
  readonly transactionId: string;
  /** Our id of the customer, as kyc/url returned it */
  readonly customerId: string;
  /** Cursor of the last row that was read */
  readonly before?: string | undefined;
  /** Maximum number of rows */
  readonly limit?: number | undefined;
}

export interface PostOfframpTransactionRequest {
  /** Number of a transaction */
  readonly transactionId: string;
  /** Our id of the customer, as kyc/url returned it */
  readonly customerId: string;
}

export interface PostOnrampAllTransactionRequest {
  /** Page, from 1 */
  readonly page: number;
  /** Rows per page */
  readonly pageSize: number;
}

export interface PostOnrampAllUserTransactionRequest {
  /** Our id of the customer, as kyc/url returned it */
  readonly customerId: string;
  /** Page, from 1 */
  readonly page: number;
  /** Rows per page */
  readonly pageSize: number;
}

export interface PostOnrampCreateTransactionRequest {
  /** Currency given: a coin when selling, a fiat when buying */
  readonly fromCurrency: string;
  /** Currency received: a fiat when selling, a coin when buying */
  readonly toCurrency: string;
  /** Amount given, in fromCurrency */
  readonly fromAmount: string;
  /** Chain of the coin */
  readonly chain: string;
  /** Our id of the customer, as kyc/url returned it */
  readonly customerId: string;
  /** Address of the customer to which the coins are paid */
  readonly depositAddress: string;
  /** Amount received according to the quote, in toCurrency; if the price has changed, the request is declined */
  readonly toAmount?: string | undefined;
  /** Rate of the quote: fiat for one coin */
  readonly rate?: string | undefined;
  /** Payment method, as fetchPaymentMethodType names it */
  readonly paymentMethodType: string;
  /** Your own reference for the transaction */
  readonly merchantRecognitionId?: string | undefined;
  /** Number of an account, as bank/addFiatAccount returned it */
  readonly fiatAccountId?: string | undefined;
}

export interface PostOnrampQuoteRequest {
  /** Currency given: a coin when selling, a fiat when buying */
  readonly fromCurrency: string;
  /** Currency received: a fiat when selling, a coin when buying */
  readonly toCurrency: string;
  /** Amount given, in fromCurrency */
  readonly fromAmount: string;
  /** Chain of the coin */
  readonly chain?: string | undefined;
  /** Payment method, as fetchPaymentMethodType names it */
  readonly paymentMethodType?: string | undefined;
}

export interface PostOnrampRefundsRequest {
  /** Number of a transaction */
  readonly transactionId: string;
  /** Our id of the customer, as kyc/url returned it */
  readonly customerId: string;
  /** Cursor of the last row that was read */
  readonly before?: string | undefined;
  /** Maximum number of rows */
  readonly limit?: number | undefined;
}

export interface PostOnrampTransactionRequest {
  /** Number of a transaction */
  readonly transactionId: string;
  /** Our id of the customer, as kyc/url returned it */
  readonly customerId: string;
}

export interface PostSandboxV1BankRequest {
  /** `lose_request` (nothing is paid), `lose_answer` (it is paid), `delay_answer`, `reject`, `return` (paid, then returned), `no_status`, `statement_twice`, `statement_reordered`; `none` removes the remaining faults */
  readonly fault:
    | 'NONE'
    | 'LOSE_REQUEST'
    | 'LOSE_ANSWER'
    | 'DELAY_ANSWER'
    | 'REJECT'
    | 'RETURN'
    | 'NO_STATUS'
    | 'STATEMENT_TWICE'
    | 'STATEMENT_REORDERED';
  /** how often; 1 by default */
  readonly times?: number | undefined;
  /** delay of `delay_answer`, in milliseconds; 8000 by default, which is longer than the server waits */
  readonly delayMs?: number | undefined;
}

export interface PostSandboxV1BounceRequest {
  /** number of one of your orders, with a payout or refund at the bank */
  readonly transactionId: string;
}

export interface PostSandboxV1ClockRequest {
  /** how far they move, at most 30 days: `90s`, `15m`, `2h`, `3d` */
  readonly advance: string;
}

export interface PostSandboxV1CreditRequest {
  /** number of one of your orders, a purchase */
  readonly transactionId: string;
  /** amount to pay instead of the requested one, in the same currency */
  readonly amount?: string | undefined;
  /** `right` (the default), `none`, `wrong` (one letter mistyped) */
  readonly reference?: 'RIGHT' | 'NONE' | 'WRONG' | undefined;
  /** payer’s name: `right` (the customer’s, the default), `wrong`, `none` */
  readonly name?: 'RIGHT' | 'WRONG' | 'NONE' | undefined;
}

export interface PostSandboxV1PayRequest {
  /** number of one of your orders */
  readonly transactionId: string;
  /** `exact` (the default), `under` (half), `over` (half more), `late` (after the deadline, which passes now), `twice`, `another_token` (on the same chain), `another_chain` (the same coin) */
  readonly how?: 'EXACT' | 'UNDER' | 'OVER' | 'LATE' | 'TWICE' | 'ANOTHER_TOKEN' | 'ANOTHER_CHAIN' | undefined;
  /** amount to pay instead of the requested one, in the same currency */
  readonly amount?: string | undefined;
}

export interface PostSandboxV1PricesRequest {
  /** code of the coin, such as `usdc` */
  readonly coin: string;
  /** code of the currency, such as `inr` */
  readonly fiat: string;
  /** fiat for one coin; without it, the price table applies again */
  readonly price?: string | undefined;
}

export interface PostSandboxV1RecallRequest {
  /** number of one of your orders: its last credit */
  readonly transactionId?: string | undefined;
  /** or the line that `credit` returned */
  readonly line?: string | undefined;
}

export interface PostSandboxV1ReorgRequest {
  /** code of the chain: `matic20`, `erc20`, `bep20`, `arbitrum`, `base`, `optimism`, `trc20` */
  readonly chain: string;
  /** 1 to 12; a deeper reorg would replace final blocks and halt the chain */
  readonly blocks: number;
}

export interface PostSandboxV1ScreeningRequest {
  /** number of one of your orders */
  readonly transactionId: string;
  /** `fail` holds it, `pass` ends that */
  readonly outcome: 'FAIL' | 'PASS';
}

export interface PostSandboxV1StatusRequest {
  /** number of one of your orders */
  readonly transactionId: string;
  /** the number, as in webhooks */
  readonly status: string;
}

export interface PostSandboxV1TreasuryRequest {
  /** a fiat such as `inr`, or a coin with its `chain` */
  readonly currency: string;
  /** `dry` (empty) or `filled` */
  readonly state: 'DRY' | 'FILLED';
  /** chain of a coin */
  readonly chain?: string | undefined;
  /** amount to fill with, in that currency; the initial amount by default */
  readonly amount?: string | undefined;
}

export interface PostSandboxV1WebhooksRequest {
  /** `drop` (they fail) or `deliver` */
  readonly deliveries: 'DROP' | 'DELIVER';
}

export interface PostTestChangeKybStatusRequest {
  /** Our id of the customer, as kyc/url returned it */
  readonly customerId: string;
  /** A submission of a business */
  readonly submissionId?: string | undefined;
  /** Verification status */
  readonly status: 'COMPLETED' | 'IN_REVIEW' | 'UPDATE_REQUIRED' | 'FAILED';
}

export interface PostTestChangeKycStatusRequest {
  /** Our id of the customer, as kyc/url returned it */
  readonly customerId: string;
  /** Verification status */
  readonly status:
    | 'LOGIN_REQUIRED'
    | 'OTP_COMPLETED'
    | 'BASIC_KYC_COMPLETED'
    | 'INTERMEDIATE_KYC_COMPLETED'
    | 'ADVANCE_KYC_COMPLETED'
    | 'EDD_COMPLETED'
    | 'COMPLETED'
    | 'IN_REVIEW'
    | 'TEMPORARY_FAILED'
    | 'PERMANENT_FAILED';
}

export interface PostTestChangeOfframpStatusRequest {
  /** Our id of the customer, as kyc/url returned it */
  readonly customerId: string;
  /** Number of a transaction */
  readonly transactionId: string;
  /** Status number, as in webhooks */
  readonly status: string;
}

export interface PostTestChangeOnrampStatusRequest {
  /** Our id of the customer, as kyc/url returned it */
  readonly customerId: string;
  /** Number of a transaction */
  readonly transactionId: string;
  /** Status number, as in webhooks */
  readonly status: string;
}

export interface PostTransactionMerchantHistoryRequest {
  /** Page, from 1 */
  readonly page?: number | undefined;
  /** Rows per page */
  readonly pageSize?: number | undefined;
  /** Only what was created at or after this time */
  readonly since?: string | undefined;
  /** ASC: oldest first. DESC: newest first */
  readonly order?: 'ASC' | 'DESC' | undefined;
  /** 1: buying. 2: selling */
  readonly type?: '1' | '2' | undefined;
  /** Fiat: its code or its number */
  readonly fiatType?: string | undefined;
  /** Country, two letters, instead of fiatType: selects the fiat of that country. If both are sent, they must agree */
  readonly countryCode?: string | undefined;
}

export interface PostV1WebhooksIdReplayRequest {
  /** Id of an event */
  readonly eventId?: string | undefined;
  /** Number of a transaction */
  readonly orderId?: string | undefined;
  /** Start of the period */
  readonly from?: string | undefined;
  /** End of the period */
  readonly to?: string | undefined;
}

export interface PostV1WebhooksIdRotateRequest {
  /** How long webhooks are also signed with the old secret */
  readonly overlapSeconds?: number | undefined;
}

export interface PostV1WebhooksRequest {
  /** Address that events are posted to */
  readonly url: string;
  /** Format of the body: see the page on webhooks */
  readonly format?: 'whitelabel' | 'flat' | 'standard' | undefined;
  /** Types of events; all if the list is empty */
  readonly events?: readonly string[] | undefined;
  /** Content of the payload header: the exact body in base64, or an object of the body and a time */
  readonly payloadForm?: 'body' | 'wrapped' | undefined;
}

export interface Purchase {
  /** Number of the transaction */
  readonly transactionId: string;
  /** When the transaction was created, ISO 8601 in UTC */
  readonly createdAt: string;
  /** When it last changed, ISO 8601 in UTC */
  readonly updatedAt: string;
  /** Amount to give: a plain decimal */
  readonly fromAmount: string;
  /** Amount to receive: a plain decimal */
  readonly toAmount: string;
  /** Currency given */
  readonly fromCurrency: string;
  /** Currency received */
  readonly toCurrency: string;
  /** Payment method */
  readonly paymentMethodType: string;
  /** Address to which the payout is sent */
  readonly depositAddress: string;
  /** Status number of the transaction, as text: see the table of statuses */
  readonly status: string;
  /** Hash of the payout, in lower case; empty before there is one */
  readonly transactionHash: string;
}

export interface PurchaseRow {
  /** Number of the transaction */
  readonly orderId: number;
  /** Our id of the customer */
  readonly customerId: string;
  /** Number of the coin */
  readonly coinId: number;
  /** Number of the chain */
  readonly chainId: number;
  /** Number of the fiat */
  readonly fiatType: number;
  /** 1: instant. 2: a bank transfer */
  readonly paymentType: number;
  /** Fiat for one coin when the transaction was created: exact to its last digit */
  readonly expectedPrice: number;
  /** The same after the trade; 0 before: exact to its last digit */
  readonly actualPrice: number;
  /** The partner’s own reference */
  readonly merchantRecognitionId: string;
  /** When the transaction was created, ISO 8601 in UTC */
  readonly createdAt: string;
  /** When it last changed, ISO 8601 in UTC */
  readonly updatedAt: string;
  /** Status number */
  readonly status: number;
  /** Fee of the partner: exact to its last digit */
  readonly clientFee: number;
  /** Fee of the payment rail: exact to its last digit */
  readonly gatewayFee: number;
  /** Fee of the chain: exact to its last digit */
  readonly gasFee: number;
  /** Tax withheld: exact to its last digit */
  readonly tdsFee: number;
  /** Deposit address of a sale, destination address of a purchase */
  readonly walletAddress: string;
  /** Hash on the chain, in lower case; empty before there is one */
  readonly transactionHash: string;
  /** Fiat to receive: exact to its last digit */
  readonly fiatAmount: number;
  /** Coins to pay: exact to its last digit */
  readonly expectedCryptoAmount: number;
  /** Coins paid: exact to its last digit */
  readonly actualCryptoAmount: number;
  /** Fee of the operator: exact to its last digit */
  readonly onRampFee: number;
  /** Always 0 */
  readonly kycNeeded: number;
  readonly referenceId: string | null;
}

export interface PutOfframpRefundDestinationRequest {
  /** Our id of the customer, as kyc/url returned it */
  readonly customerId: string;
  /** Number of a transaction */
  readonly transactionId: string;
  /** Address to which money is sent */
  readonly address?: string | undefined;
  /** Number of an account, as bank/addFiatAccount returned it */
  readonly fiatAccountId?: string | undefined;
}

export interface PutOnrampReferenceIdRequest {
  /** Our id of the customer, as kyc/url returned it */
  readonly customerId: string;
  /** Number of a transaction */
  readonly transactionId: string;
  /** Reference that the customer’s bank gave the transfer */
  readonly referenceId: string;
}

export interface PutOnrampRefundDestinationRequest {
  /** Our id of the customer, as kyc/url returned it */
  readonly customerId: string;
  /** Number of a transaction */
  readonly transactionId: string;
  /** Address to which money is sent */
  readonly address?: string | undefined;
  /** Number of an account, as bank/addFiatAccount returned it */
  readonly fiatAccountId?: string | undefined;
}

export interface PutV1WebhooksIdRequest {
  /** Address that events are posted to */
  readonly url?: string | undefined;
  /** Format of the body: see the page on webhooks */
  readonly format?: 'whitelabel' | 'flat' | 'standard' | undefined;
  /** Types of events; all if the list is empty */
  readonly events?: readonly string[] | undefined;
  /** Content of the payload header: the exact body in base64, or an object of the body and a time */
  readonly payloadForm?: 'body' | 'wrapped' | undefined;
  /** Whether events are sent */
  readonly enabled?: boolean | undefined;
  /** The key that signs this request; webhooks are signed with it from now on */
  readonly apiKey?: string | undefined;
}

/** A setting of the partner determines which of the two forms it receives */
export type Quote = QuoteWithRate | QuoteWithoutRate;

export interface QuoteNumbers {
  /** Fiat for one coin: exact to its last digit */
  readonly rate: number;
  /** Amount of the coin: exact to its last digit */
  readonly quantity: number;
  /** Amount of the fiat: exact to its last digit */
  readonly fiatAmount: number;
  /** Fee of the operator: exact to its last digit */
  readonly onrampFee: number;
  /** Fee of the partner: exact to its last digit */
  readonly clientFee: number;
  /** Fee of the payment rail: exact to its last digit */
  readonly gatewayFee: number;
  /** Fee of the chain: exact to its last digit */
  readonly gasFee: number;
  /** Tax withheld; only in a market that withholds tax: exact to its last digit */
  readonly tdsFee?: number | undefined;
}

export interface QuoteWithoutRate {
  /** Currency given, as it was sent */
  readonly fromCurrency: string;
  /** Currency received, as it was sent */
  readonly toCurrency: string;
  /** Amount received, after fees: a plain decimal */
  readonly toAmount: string;
  readonly fromAmount: '';
  /** Fees, in the fiat currency */
  readonly fees: readonly {
    readonly type: 'fiat';
    /** Fee of the operator: exact to its last digit */
    readonly onrampFee: number;
    /** Fee of the partner: exact to its last digit */
    readonly clientFee: number;
    /** Fee of the payment rail: exact to its last digit */
    readonly gatewayFee: number;
    /** Fee of the chain: exact to its last digit */
    readonly gasFee: number;
    /** Tax withheld; only in a market that withholds tax: exact to its last digit */
    readonly tdsFee?: number | undefined;
  }[];
}

export interface QuoteWithRate {
  /** Currency given, as it was sent */
  readonly fromCurrency: string;
  /** Currency received, as it was sent */
  readonly toCurrency: string;
  /** Amount given: a plain decimal */
  readonly fromAmount: string;
  /** Amount received, after fees: a plain decimal */
  readonly toAmount: string;
  /** Fiat for one coin: a plain decimal */
  readonly rate: string;
  /** Fees, in the fiat currency */
  readonly fees: readonly {
    readonly type: 'fiat';
    /** Fee of the operator: a plain decimal */
    readonly onrampFee: string;
    /** Fee of the partner: a plain decimal */
    readonly clientFee: string;
    /** Fee of the payment rail: a plain decimal */
    readonly gatewayFee: string;
    /** Fee of the chain: a plain decimal */
    readonly gasFee: string;
    /** Tax withheld; only in a market that withholds tax: a plain decimal */
    readonly tdsFee?: string | undefined;
  }[];
}

export interface Refund {
  /** Amount: a plain decimal */
  readonly amount: string;
  /** Coin or fiat, in upper case */
  readonly currency: string;
  /** Chain of a coin; empty for fiat */
  readonly chain: string;
  /** Number of the refund */
  readonly refundId: string;
  /** payout: a payout that came back and is paid again */
  readonly kind: 'refund' | 'payout';
  /** State of the refund */
  readonly status: string;
  /** Why it is paid; empty if there is no reason */
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
    | '';
  /** Address to which it is sent; empty for a bank account, or before one is named */
  readonly address: string;
  /** Account to which it is sent; empty for an address, or before one is named */
  readonly fiatAccountId: string;
  /** Hash or bank reference; empty before there is one */
  readonly reference: string;
  /** When it was created, ISO 8601 in UTC */
  readonly createdAt: string;
  /** When it last changed, ISO 8601 in UTC */
  readonly updatedAt: string;
}

export interface Refunds {
  /** Number of the transaction */
  readonly transactionId: string;
  /** When unclaimed money becomes dormant; only if that was announced, ISO 8601 in UTC */
  readonly unclaimedFrom?: string | undefined;
  /** Amount received for the transaction and not reversed: a plain decimal */
  readonly receivedAmount: string;
  /** Currency of the received amount */
  readonly receivedCurrency: string;
  /** Why the transaction is unusual; empty if there is no reason */
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
    | '';
  /** Whether money waits until refundDestination names its destination */
  readonly needsDestination: boolean;
  /** The newest refunds, in the order of their creation: 20 in transactions and events, as many as requested in refunds */
  readonly refunds: readonly Refund[];
  /** Number of refunds older than the first one here; only if there are any. The refunds call returns them with `before` */
  readonly olderRefunds?: number | undefined;
  /** The newest returned payouts, in the order of their return: 20 in transactions and events, 100 in refunds */
  readonly returnedPayouts: readonly ReturnedPayout[];
  /** Number of returned payouts that are not in the list; only if there are any */
  readonly olderReturnedPayouts?: number | undefined;
}

/** Groups of fields and documents: name, label, type, whether it is required, options */
export type Requirements = Readonly<Record<string, unknown>>;

export interface ReturnedPayout {
  /** Amount: a plain decimal */
  readonly amount: string;
  /** Coin or fiat, in upper case */
  readonly currency: string;
  /** Chain of a coin; empty for fiat */
  readonly chain: string;
  /** Reference of the bank */
  readonly reference: string;
  /** Why it came back; empty if there is no reason */
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
    | '';
  /** When it came back, ISO 8601 in UTC */
  readonly returnedAt: string;
}

export interface Sale {
  /** Number of the transaction */
  readonly transactionId: string;
  /** When the transaction was created, ISO 8601 in UTC */
  readonly createdAt: string;
  /** When it last changed, ISO 8601 in UTC */
  readonly updatedAt: string;
  /** Amount to give: a plain decimal */
  readonly fromAmount: string;
  /** Amount to receive: a plain decimal */
  readonly toAmount: string;
  /** Currency given */
  readonly fromCurrency: string;
  /** Currency received */
  readonly toCurrency: string;
  /** Chain of the coin */
  readonly chain: string;
  /** Account to which the payout is sent; empty if none is named */
  readonly fiatAccountId: string;
  /** Status number of the transaction, as text: see the table of statuses */
  readonly status: string;
  /** Hash of the deposit, in lower case; empty before there is one */
  readonly transactionHash: string;
}

export interface SaleDetail {
  /** Number of the transaction */
  readonly transactionId: string;
  /** When the transaction was created, ISO 8601 in UTC */
  readonly createdAt: string;
  /** When it last changed, ISO 8601 in UTC */
  readonly updatedAt: string;
  /** Amount to give: a plain decimal */
  readonly fromAmount: string;
  /** Amount to receive: a plain decimal */
  readonly toAmount: string;
  /** Currency given */
  readonly fromCurrency: string;
  /** Currency received */
  readonly toCurrency: string;
  /** Chain of the coin */
  readonly chain: string;
  /** Account to which the payout is sent; empty if none is named */
  readonly fiatAccountId: string;
  /** Status number of the transaction, as text: see the table of statuses */
  readonly status: string;
  /** Hash of the deposit, in lower case; empty before there is one */
  readonly transactionHash: string;
  /** Address to which the customer sends the coins */
  readonly depositAddress: string;
  /** Deadline for the coins to arrive, ISO 8601 in UTC */
  readonly expiresAt: string;
  /** When unclaimed money becomes dormant; only if that was announced, ISO 8601 in UTC */
  readonly unclaimedFrom?: string | undefined;
  /** Amount received for the transaction and not reversed: a plain decimal */
  readonly receivedAmount: string;
  /** Currency of the received amount */
  readonly receivedCurrency: string;
  /** Why the transaction is unusual; empty if there is no reason */
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
    | '';
  /** Whether money waits until refundDestination names its destination */
  readonly needsDestination: boolean;
  /** The newest refunds, in the order of their creation: 20 in transactions and events, as many as requested in refunds */
  readonly refunds: readonly Refund[];
  /** Number of refunds older than the first one here; only if there are any. The refunds call returns them with `before` */
  readonly olderRefunds?: number | undefined;
  /** The newest returned payouts, in the order of their return: 20 in transactions and events, 100 in refunds */
  readonly returnedPayouts: readonly ReturnedPayout[];
  /** Number of returned payouts that are not in the list; only if there are any */
  readonly olderReturnedPayouts?: number | undefined;
}

export interface SaleRow {
  /** Number of the transaction */
  readonly orderId: number;
  /** Our id of the customer */
  readonly customerId: string;
  /** Number of the coin */
  readonly coinId: number;
  /** Number of the chain */
  readonly chainId: number;
  /** Number of the fiat */
  readonly fiatType: number;
  /** 1: instant. 2: a bank transfer */
  readonly paymentType: number;
  /** Fiat for one coin when the transaction was created: exact to its last digit */
  readonly expectedPrice: number;
  /** The same after the trade; 0 before: exact to its last digit */
  readonly actualPrice: number;
  /** The partner’s own reference */
  readonly merchantRecognitionId: string;
  /** When the transaction was created, ISO 8601 in UTC */
  readonly createdAt: string;
  /** When it last changed, ISO 8601 in UTC */
  readonly updatedAt: string;
  /** Status number */
  readonly status: number;
  /** Fee of the partner: exact to its last digit */
  readonly clientFee: number;
  /** Fee of the payment rail: exact to its last digit */
  readonly gatewayFee: number;
  /** Fee of the chain: exact to its last digit */
  readonly gasFee: number;
  /** Tax withheld: exact to its last digit */
  readonly tdsFee: number;
  /** Deposit address of a sale, destination address of a purchase */
  readonly walletAddress: string;
  /** Hash on the chain, in lower case; empty before there is one */
  readonly transactionHash: string;
  /** Coins asked for: exact to its last digit */
  readonly expectedQuantity: number;
  /** Fiat to pay: exact to its last digit */
  readonly expectedFiatAmount: number;
  /** Coins received: exact to its last digit */
  readonly actualQuantity: number;
  /** Fiat paid: exact to its last digit */
  readonly actualFiatAmount: number;
  /** Fee of the operator: exact to its last digit */
  readonly onrampFee: number;
}

export interface StandardWebhook {
  /** Id of the event */
  readonly id: string;
  /** Type of the event, such as order.settled */
  readonly type: string;
  /** When it happened, ISO 8601 in UTC */
  readonly timestamp: string;
  /** What it is about, such as order:17 */
  readonly subject: string;
  /** Position among the events of its subject */
  readonly sequence: number;
  /** The resource at the time of the event */
  readonly data: Readonly<Record<string, unknown>>;
}

export interface Submission {
  /** Number of the submission */
  readonly submissionId: string;
  /** UPDATE_REQUIRED: supply what `reasons` names. COMPLETED and FAILED: the submission is over */
  readonly status: 'UPDATE_REQUIRED' | 'IN_REVIEW' | 'COMPLETED' | 'FAILED';
  /** Why a field must be sent, or sent again, by its name */
  readonly reasons?: Readonly<Record<string, string>> | undefined;
  /** What to do about each reason, by the same names */
  readonly remedies?: Readonly<Record<string, string>> | undefined;
  /** When it began, ISO 8601 in UTC */
  readonly createdAt: string;
  /** When it last changed, ISO 8601 in UTC */
  readonly updatedAt: string;
}

export interface Submitted {
  /** Number of the submission */
  readonly submissionId: string;
  /** UPDATE_REQUIRED: supply what `reasons` names. COMPLETED and FAILED: the submission is over */
  readonly status: 'UPDATE_REQUIRED' | 'IN_REVIEW' | 'COMPLETED' | 'FAILED';
  /** Why a field must be sent, or sent again, by its name */
  readonly reasons?: Readonly<Record<string, string>> | undefined;
  /** What to do about each reason, by the same names */
  readonly remedies?: Readonly<Record<string, string>> | undefined;
  /** When it began; only of a new submission, ISO 8601 in UTC */
  readonly createdAt?: string | undefined;
  /** When it changed; only of a submission that was added to, ISO 8601 in UTC */
  readonly updatedAt?: string | undefined;
}

export interface WebhookEndpoint {
  /** Id of the endpoint */
  readonly id: string;
  /** Address that events are posted to */
  readonly url: string;
  readonly format: 'whitelabel' | 'flat' | 'standard';
  /** Types of events it receives; all if the list is empty */
  readonly events: readonly string[];
  /** Content of the payload header */
  readonly payloadForm: 'body' | 'wrapped';
  /** Whether setWebhookUrl set it */
  readonly setByWire: boolean;
  readonly enabled: boolean;
  /** Key whose secret signs the webhooks */
  readonly apiKey: string;
  readonly madeByKey: string | null;
  /** Number of consecutive failed attempts */
  readonly failures: number;
  readonly pausedUntil: string | null;
  readonly failingSince: string | null;
  readonly switchedOffAt: string | null;
  readonly heldAt: string | null;
  readonly oldSecretUntil: string | null;
  /** When it was created, ISO 8601 in UTC */
  readonly createdAt: string;
  /** When it last changed, ISO 8601 in UTC */
  readonly updatedAt: string;
}

export interface WebhookEndpointWithSecret {
  /** Id of the endpoint */
  readonly id: string;
  /** Address that events are posted to */
  readonly url: string;
  readonly format: 'whitelabel' | 'flat' | 'standard';
  /** Types of events it receives; all if the list is empty */
  readonly events: readonly string[];
  /** Content of the payload header */
  readonly payloadForm: 'body' | 'wrapped';
  /** Whether setWebhookUrl set it */
  readonly setByWire: boolean;
  readonly enabled: boolean;
  /** Key whose secret signs the webhooks */
  readonly apiKey: string;
  readonly madeByKey: string | null;
  /** Number of consecutive failed attempts */
  readonly failures: number;
  readonly pausedUntil: string | null;
  readonly failingSince: string | null;
  readonly switchedOffAt: string | null;
  readonly heldAt: string | null;
  readonly oldSecretUntil: string | null;
  /** When it was created, ISO 8601 in UTC */
  readonly createdAt: string;
  /** When it last changed, ISO 8601 in UTC */
  readonly updatedAt: string;
  /** Secret that signs its webhooks; returned only in this reply */
  readonly secret: string;
}

export type WhitelabelWebhook = OrderWebhook | CustomerWebhook;

/** What each endpoint takes and gives, by method and path. */
export interface WhitelabelEndpoints {
  get: {
    /** Returns the form that a business must fill in to be verified; if the request is signed, the form of the calling partner. */
    'kyb/requirements': { takes: { readonly country?: string | undefined }; gives: Requirements };
    /** Lists the events of the partner in an order that never changes. */
    'v1/events': { takes: { readonly after?: string | undefined; readonly limit?: number | undefined }; gives: Events };
    /** Lists webhook endpoints. */
    'v1/webhooks': { takes: Nothing; gives: readonly WebhookEndpoint[] };
    /** Returns one webhook endpoint. */
    'v1/webhooks/{id}': { takes: { readonly id: string }; gives: WebhookEndpoint };
    /** Lists the deliveries of a webhook endpoint, past and pending, newest first. */
    'v1/webhooks/{id}/deliveries': {
      takes: { readonly id: string; readonly before?: string | undefined; readonly limit?: number | undefined };
      gives: {
        readonly deliveries: readonly Delivery[];
        readonly next: string | null;
      };
    };
    /** Lists the attempts to deliver one event. */
    'v1/webhooks/{id}/deliveries/{event}': {
      takes: { readonly id: string; readonly event: string };
      gives: readonly Attempt[];
    };
    /** Returns the supported fiats. */
    'public/listSupportedFiat': {
      takes: Nothing;
      gives: {
        /** Code of each fiat, by its number */
        readonly onramp: Readonly<Record<string, string>>;
        /** Code of each fiat, by its number */
        readonly offramp: Readonly<Record<string, string>>;
      };
    };
    /** Returns the payment methods of each fiat. */
    'common/public/fetchPaymentMethodType': {
      takes: Nothing;
      gives: Readonly<Record<string, Readonly<Record<string, number>>>>;
    };
    /** Returns the current time, for signing. */
    'common/public/currentTimestamp': { takes: Nothing; gives: number };
    /** Returns the fiats for buying and selling, with their payment methods. */
    'common/public/fetchAllCountryConfig': {
      takes: Nothing;
      gives: {
        /** By number of the fiat */
        readonly buy: Readonly<
          Record<
            string,
            {
              /** 1: supported */
              readonly isActive: number;
              /** Kind of each method: 1 instant, 2 a bank transfer */
              readonly paymentMethods: Readonly<Record<string, number>>;
            }
          >
        >;
        /** By number of the fiat */
        readonly sell: Readonly<
          Record<
            string,
            {
              /** 1: supported */
              readonly isActive: number;
              /** Kind of each method: 1 instant, 2 a bank transfer */
              readonly paymentMethods: Readonly<Record<string, number>>;
            }
          >
        >;
      };
    };
    /** Returns the supported coins. */
    'buy/public/listAllCoins': { takes: Nothing; gives: Readonly<Record<string, Coin>> };
    /** Returns the supported chains. */
    'buy/public/listAllNetworks': { takes: Nothing; gives: Readonly<Record<string, Network>> };
    /** Returns coins and chains with their details. */
    'sell/public/allConfig': {
      takes: Nothing;
      gives: {
        /** By code of the coin */
        readonly allCoinConfig: Readonly<
          Record<
            string,
            {
              /** Number of the coin */
              readonly coinId: number;
              /** Picture, as a data URL */
              readonly coinIcon: string;
              /** Name */
              readonly coinName: string;
              /** Decimals with which a balance is shown */
              readonly balanceFloatPlaces: number;
              /** Code of the coin */
              readonly coinCode: string;
              /** Decimals of a trade */
              readonly tradeFloatPlaces: number;
              readonly networks: readonly number[];
            }
          >
        >;
        /** By number of the chain */
        readonly networkConfig: Readonly<Record<string, Network>>;
      };
    };
    /** Returns what a withdrawal costs on each chain, with amounts as JSON numbers. */
    'public/allGasFee': {
      takes: Nothing;
      gives: {
        /** By number of the coin */
        readonly allGasFee: Readonly<
          Record<
            string,
            Readonly<
              Record<
                string,
                {
                  /** In the coin: exact to its last digit */
                  readonly withdrawalFee: number;
                  /** In the coin: exact to its last digit */
                  readonly minimumWithdrawal: number;
                  readonly nodeInSync: 1;
                }
              >
            >
          >
        >;
      };
    };
  };
  post: {
    /** Creates a link to a page on which a customer logs in and is verified. The first call creates the customer. */
    'kyc/url': { takes: PostKycUrlRequest; gives: KycLink };
    /** Returns the verification status of a customer. */
    'kyc/status': { takes: PostKycStatusRequest; gives: KycStatus };
    /** Returns the form that a person must fill in to be verified. */
    'kyc/requirements': { takes: PostKycRequirementsRequest; gives: KycRequirements };
    /** Submits the data with which a person is verified. */
    'kyc/submit': { takes: PostKycSubmitRequest; gives: Submitted };
    /** Submits the answers of a person, at once or in parts, before or after its files. `reasons` lists what is missing and what must be corrected. */
    'kyc/submitData': { takes: PostKycSubmitDataRequest; gives: Submitted };
    /** Submits the files of a person’s documents, as multipart/form-data, each named as in the requirements, before or after the answers: JPEG, PNG, WEBP or PDF of at most 5 MiB. */
    'kyc/submitFiles': { takes: PostKycSubmitFilesRequest; gives: Submitted };
    /** Submits the data with which a business is verified, at once or in parts. `reasons` lists what is missing and what must be corrected. */
    'kyb/submit': { takes: PostKybSubmitRequest; gives: Submitted };
    /** Submits the files of a business’s documents, as multipart/form-data, each named as in the requirements: JPEG, PNG, WEBP or PDF of at most 5 MiB. */
    'kyb/files': { takes: PostKybFilesRequest; gives: Submitted };
    /** Returns the status of a submission of a business: the one named, or the newest. */
    'kyb/status': { takes: PostKybStatusRequest; gives: Submission };
    /** Adds a bank account of a customer. */
    'bank/addFiatAccount': {
      takes: PostBankAddFiatAccountRequest;
      gives: {
        /** Number of the account */
        readonly fiatAccountId: string;
        /** Whether its holder is the customer by name: same, other or unknown. Absent without a holder */
        readonly holderMatch?: string | undefined;
      };
    };
    /** Creates a link to a page on which the customer adds a bank account. */
    'bank/addFiatAccountUrl': {
      takes: PostBankAddFiatAccountUrlRequest;
      gives: {
        /** Page on which the customer adds an account */
        readonly bankUrl: string;
        /** Number of this request */
        readonly referenceId: string;
      };
    };
    /** Lists the bank accounts of a customer. */
    'bank/fiatAccounts': { takes: PostBankFiatAccountsRequest; gives: readonly Account[] };
    /** Quotes a sale of coins. */
    'offramp/quote': { takes: PostOfframpQuoteRequest; gives: Quote };
    /** Creates a sale, once per request, and returns the address to which the customer sends the coins. */
    'offramp/createTransaction': { takes: PostOfframpCreateTransactionRequest; gives: CreatedSale };
    /** Returns one sale, with its refunds and the payouts that came back. */
    'offramp/transaction': { takes: PostOfframpTransactionRequest; gives: SaleDetail };
    /** Lists the sales of a customer, newest first. */
    'offramp/allUserTransaction': { takes: PostOfframpAllUserTransactionRequest; gives: readonly Sale[] };
    /** Lists all sales of the partner, newest first. */
    'offramp/allTransaction': { takes: PostOfframpAllTransactionRequest; gives: readonly Sale[] };
    /** Returns the money received for a sale, its refunds, and the payouts that came back. */
    'offramp/refunds': { takes: PostOfframpRefundsRequest; gives: Refunds };
    /** Quotes a purchase of coins. */
    'onramp/quote': { takes: PostOnrampQuoteRequest; gives: Quote };
    /** Creates a purchase, once per request, and returns how the customer pays. */
    'onramp/createTransaction': { takes: PostOnrampCreateTransactionRequest; gives: CreatedPurchase };
    /** Returns the money received for a purchase, its refunds, and the payouts that came back. */
    'onramp/refunds': { takes: PostOnrampRefundsRequest; gives: Refunds };
    /** Returns how the customer pays a purchase. */
    'bank/bankDetails': { takes: PostBankBankDetailsRequest; gives: PayInstructions };
    /** Returns one purchase. */
    'onramp/transaction': { takes: PostOnrampTransactionRequest; gives: Purchase };
    /** Lists the purchases of a customer, newest first. */
    'onramp/allUserTransaction': { takes: PostOnrampAllUserTransactionRequest; gives: readonly Purchase[] };
    /** Lists all purchases of the partner, newest first. */
    'onramp/allTransaction': { takes: PostOnrampAllTransactionRequest; gives: readonly Purchase[] };
    /** Returns the numbers of fiats, coins and chains. */
    'common/transaction/allConfigMapping': {
      takes: Nothing;
      gives: {
        /** Number of each fiat */
        readonly fiatSymbolMapping: Readonly<Record<string, number>>;
        /** Number of each coin */
        readonly coinSymbolMapping: Readonly<Record<string, number>>;
        /** Number of each chain */
        readonly chainSymbolMapping: Readonly<Record<string, number>>;
      };
    };
    /** Returns coins and chains with their details. */
    'common/transaction/allChainMapping': {
      takes: Nothing;
      gives: {
        /** By code of the coin */
        readonly allCoinConfig: Readonly<
          Record<
            string,
            {
              /** Number of the coin */
              readonly coinId: number;
              /** Picture, as a data URL */
              readonly coinIcon: string;
              /** Name */
              readonly coinName: string;
              /** Decimals with which a balance is shown */
              readonly balanceFloatPlaces: number;
              /** Code of the coin */
              readonly coinCode: string;
              /** Decimals of a trade */
              readonly tradeFloatPlaces: number;
              readonly networks: readonly number[];
            }
          >
        >;
        /** By number of the chain */
        readonly networkConfig: Readonly<Record<string, Network>>;
      };
    };
    /** Returns what a withdrawal costs on each chain. */
    'common/transaction/allGasFee': {
      takes: Nothing;
      gives: Readonly<
        Record<
          string,
          Readonly<
            Record<
              string,
              {
                /** In the coin: a plain decimal */
                readonly withdrawalFee: string;
                /** In the coin: a plain decimal */
                readonly minimumWithdrawal: string;
                readonly nodeInSync: 1;
                /** 1: customers can sell the coin */
                readonly depositEnable: number;
              }
            >
          >
        >
      >;
    };
    /** Returns the minimum and maximum amount of each fiat. */
    'common/transaction/limits': {
      takes: PostCommonTransactionLimitsRequest;
      gives: {
        /** By number of the fiat */
        readonly onramp?:
          | Readonly<
              Record<
                string,
                {
                  /** Minimum: exact to its last digit */
                  readonly min: number;
                  /** Maximum: exact to its last digit */
                  readonly max: number;
                }
              >
            >
          | undefined;
        /** By number of the fiat */
        readonly offramp?:
          | Readonly<
              Record<
                string,
                {
                  /** Minimum: exact to its last digit */
                  readonly min: number;
                  /** Maximum: exact to its last digit */
                  readonly max: number;
                }
              >
            >
          | undefined;
      };
    };
    /** Returns the minimum amount of a fiat for buying each coin. */
    'common/transaction/allCoinLimits': {
      takes: PostCommonTransactionAllCoinLimitsRequest;
      gives: Readonly<Record<string, Readonly<Record<string, number>>>>;
    };
    /** Returns the current prices in a fiat. */
    'common/transaction/priceTicker': {
      takes: PostCommonTransactionPriceTickerRequest;
      gives: {
        /** By number of the coin */
        readonly onramp?: Readonly<Record<string, number>> | undefined;
        /** By number of the coin */
        readonly offramp?: Readonly<Record<string, number>> | undefined;
      };
    };
    /** Returns the status number of a transaction. */
    'common/transaction/orderStatus': {
      takes: PostCommonTransactionOrderStatusRequest;
      gives: {
        /** Status number: see the table of statuses */
        readonly orderStatus: number;
      };
    };
    /** Quotes a sale or a purchase, with amounts as JSON numbers. */
    'common/transaction/quotes': { takes: PostCommonTransactionQuotesRequest; gives: QuoteNumbers };
    /** Creates a link to a hosted page on which a customer confirms and pays, once per request. */
    'common/transaction/generateLink': { takes: PostCommonTransactionGenerateLinkRequest; gives: CheckoutLink };
    /** Lists transactions as flat rows with amounts as JSON numbers, for accounting. */
    'transaction/merchantHistory': {
      takes: PostTransactionMerchantHistoryRequest;
      gives: readonly (SaleRow | PurchaseRow)[];
    };
    /** Sets the address that events are posted to. */
    'merchant/setWebhookUrl': { takes: PostMerchantSetWebhookUrlRequest; gives: string };
    /** Sends all webhooks of a transaction again, and waits for your server. */
    'merchant/resendWebhook': { takes: PostMerchantResendWebhookRequest; gives: 'Response received from your server' };
    /** Sends a sample transaction, and waits for your server. */
    'merchant/sendDummyWebhook': {
      takes: PostMerchantSendDummyWebhookRequest;
      gives: 'Response received from your server';
    };
    /** Adds a webhook endpoint, and returns its secret. */
    'v1/webhooks': { takes: PostV1WebhooksRequest; gives: WebhookEndpointWithSecret };
    /** Creates a new secret for a webhook endpoint, and returns it. */
    'v1/webhooks/{id}/rotate': {
      takes: { readonly id: string } & PostV1WebhooksIdRotateRequest;
      gives: WebhookEndpointWithSecret;
    };
    /** Resumes a held webhook endpoint, from the first event it missed. */
    'v1/webhooks/{id}/resume': { takes: { readonly id: string }; gives: WebhookEndpoint };
    /** Sends a test event to a webhook endpoint. */
    'v1/webhooks/{id}/test': {
      takes: { readonly id: string };
      gives: {
        readonly sent: true;
      };
    };
    /** Sends events again: one event, those of a transaction, or those of a period. */
    'v1/webhooks/{id}/replay': {
      takes: { readonly id: string } & PostV1WebhooksIdReplayRequest;
      gives: {
        /** Number of events that are sent again */
        readonly replayed: number;
        /** Whether there are more; repeat the request for them */
        readonly hasMore: boolean;
      };
    };
    /** Sandbox: sets the verification status of a person. */
    'test/changeKycStatus': {
      takes: PostTestChangeKycStatusRequest;
      gives: {
        readonly changeStatus: true;
        /** The status as a sentence */
        readonly message: string;
      };
    };
    /** Sandbox: sets the verification status of a business. */
    'test/changeKybStatus': {
      takes: PostTestChangeKybStatusRequest;
      gives: {
        readonly changeStatus: true;
        /** The status as a sentence */
        readonly message: string;
      };
    };
    /** Sandbox: drives a sale to a status, by causing the facts that lead there. */
    'test/changeOfframpStatus': {
      takes: PostTestChangeOfframpStatusRequest;
      gives: {
        readonly changeStatus: true;
        /** The status as a sentence */
        readonly message: string;
      };
    };
    /** Sandbox: drives a purchase to a status, by causing the facts that lead there. */
    'test/changeOnrampStatus': {
      takes: PostTestChangeOnrampStatusRequest;
      gives: {
        readonly changeStatus: true;
        /** The status as a sentence */
        readonly message: string;
      };
    };
    /** Sandbox: pays an order as its customer, on its chain or by bank. Requests with the same Idempotency-Key pay once. */
    'sandbox/v1/pay': {
      takes: PostSandboxV1PayRequest;
      gives: {
        /** Ids of the payments on the rail */
        readonly payments: readonly string[];
      };
    };
    /** Sandbox: credits our bank account for a purchase, with the payer’s reference and name as you choose them. Requests with the same Idempotency-Key pay once. */
    'sandbox/v1/credit': {
      takes: PostSandboxV1CreditRequest;
      gives: {
        /** Line of the bank statement */
        readonly line: string;
      };
    };
    /** Sandbox: recalls a bank credit, as the payer’s bank. */
    'sandbox/v1/recall': {
      takes: PostSandboxV1RecallRequest;
      gives: {
        /** Line of the bank statement that recalls the credit */
        readonly line: string;
      };
    };
    /** Sandbox: returns an order’s payout or refund to a bank account, before or after it arrived. */
    'sandbox/v1/bounce': {
      takes: PostSandboxV1BounceRequest;
      gives: {
        /** Payment that is returned */
        readonly payment: string;
      };
    };
    /** Sandbox: makes screening hold an order as if its destination were denied, until a person releases it; or ends that. */
    'sandbox/v1/screening': {
      takes: PostSandboxV1ScreeningRequest;
      gives: {
        /** List that holds the destination */
        readonly list: string;
      };
    };
    /** Sandbox: moves your due times closer: deadlines, locked rates and quotes, waits, clearing, attempts of webhooks. */
    'sandbox/v1/clock': {
      takes: PostSandboxV1ClockRequest;
      gives: {
        /** Orders whose due times moved */
        readonly orders: number;
        /** Quotes whose expiry moved */
        readonly quotes: number;
        /** Deliveries of webhooks whose next attempt moved */
        readonly deliveries: number;
      };
    };
    /** Sandbox: drives an order to a status by causing the facts that lead there; the order then continues automatically. */
    'sandbox/v1/status': {
      takes: PostSandboxV1StatusRequest;
      gives: {
        /** Number of the status to which the order is driven */
        readonly status: number;
        /** Name of the status */
        readonly word: string;
      };
    };
    /** Sandbox: replaces the newest blocks of a chain with empty ones; transfers of ours and of simulated customers are sent again. */
    'sandbox/v1/reorg': {
      takes: PostSandboxV1ReorgRequest;
      gives: {
        /** The chain */
        readonly chain: string;
        /** Blocks that were replaced */
        readonly blocks: number;
      };
    };
    /** Sandbox: makes the next calls of the bank fail. */
    'sandbox/v1/bank': {
      takes: PostSandboxV1BankRequest;
      gives: {
        /** The fault */
        readonly fault: string;
        /** How often */
        readonly times: number;
      };
    };
    /** Sandbox: sets the price of a coin until you change it or the server restarts. */
    'sandbox/v1/prices': {
      takes: PostSandboxV1PricesRequest;
      gives: {
        /** Coin and fiat */
        readonly pair: string;
        /** Fiat for one coin; null if the price table applies again */
        readonly price: string | null;
      };
    };
    /** Sandbox: empties the operator’s account or wallet of a currency (its money is set aside in the books), or fills it again. */
    'sandbox/v1/treasury': {
      takes: PostSandboxV1TreasuryRequest;
      gives: {
        /** Code of the asset */
        readonly asset: string;
        /** Amount available for payouts, in that currency */
        readonly available: string;
      };
    };
    /** Sandbox: makes deliveries fail as if every receiver were down, until you change it or the server restarts. */
    'sandbox/v1/webhooks': {
      takes: PostSandboxV1WebhooksRequest;
      gives: {
        /** Whether webhooks are dropped or delivered */
        readonly webhooks: 'dropped' | 'delivered';
      };
    };
  };
  put: {
    /** Names the destination of a refund of a sale, or of a payout that came back and is paid again. */
    'offramp/refundDestination': { takes: PutOfframpRefundDestinationRequest; gives: NamedDestination };
    /** Records the reference that the customer’s bank gave the transfer. */
    'onramp/referenceId': {
      takes: PutOnrampReferenceIdRequest;
      gives: {
        /** Number of the transaction */
        readonly transactionId: string;
        /** The reference, as it was sent */
        readonly referenceId: string;
      };
    };
    /** Names the destination of a refund of a purchase, or of a payout that came back and is paid again. */
    'onramp/refundDestination': { takes: PutOnrampRefundDestinationRequest; gives: NamedDestination };
    /** Changes a webhook endpoint. */
    'v1/webhooks/{id}': { takes: { readonly id: string } & PutV1WebhooksIdRequest; gives: WebhookEndpoint };
  };
  delete: {
    /** Removes a webhook endpoint. */
    'v1/webhooks/{id}': {
      takes: { readonly id: string };
      gives: {
        readonly removed: true;
      };
    };
  };
}

/** The full path; whether it may be repeated: it reads or replaces, or the server knows a repetition by its key, or neither. */
export const WHITELABEL: Record<string, Record<string, readonly [path: string, repeat: 'read' | 'once' | 'unsafe']>> = {
  get: {
    'kyb/requirements': ['/onramp/api/v2/whiteLabel/kyb/requirements', 'read'],
    'v1/events': ['/v1/events', 'read'],
    'v1/webhooks': ['/v1/webhooks', 'read'],
    'v1/webhooks/{id}': ['/v1/webhooks/{id}', 'read'],
    'v1/webhooks/{id}/deliveries': ['/v1/webhooks/{id}/deliveries', 'read'],
    'v1/webhooks/{id}/deliveries/{event}': ['/v1/webhooks/{id}/deliveries/{event}', 'read'],
    'public/listSupportedFiat': ['/onramp/api/v2/whiteLabel/public/listSupportedFiat', 'read'],
    'common/public/fetchPaymentMethodType': ['/onramp/api/v2/common/public/fetchPaymentMethodType', 'read'],
    'common/public/currentTimestamp': ['/onramp/api/v2/common/public/currentTimestamp', 'read'],
    'common/public/fetchAllCountryConfig': ['/onramp/api/v2/common/public/fetchAllCountryConfig', 'read'],
    'buy/public/listAllCoins': ['/onramp/api/v3/buy/public/listAllCoins', 'read'],
    'buy/public/listAllNetworks': ['/onramp/api/v3/buy/public/listAllNetworks', 'read'],
    'sell/public/allConfig': ['/onramp/api/v2/sell/public/allConfig', 'read'],
    'public/allGasFee': ['/onramp/api/v1/public/allGasFee', 'read'],
  },
  post: {
    'kyc/url': ['/onramp/api/v2/whiteLabel/kyc/url', 'unsafe'],
    'kyc/status': ['/onramp/api/v2/whiteLabel/kyc/status', 'read'],
    'kyc/requirements': ['/onramp/api/v2/whiteLabel/kyc/requirements', 'read'],
    'kyc/submit': ['/onramp/api/v2/whiteLabel/kyc/submit', 'once'],
    'kyc/submitData': ['/onramp/api/v2/whiteLabel/kyc/submitData', 'once'],
    'kyc/submitFiles': ['/onramp/api/v2/whiteLabel/kyc/submitFiles', 'once'],
    'kyb/submit': ['/onramp/api/v2/whiteLabel/kyb/submit', 'once'],
    'kyb/files': ['/onramp/api/v2/whiteLabel/kyb/files', 'once'],
    'kyb/status': ['/onramp/api/v2/whiteLabel/kyb/status', 'read'],
    'bank/addFiatAccount': ['/onramp/api/v2/whiteLabel/bank/addFiatAccount', 'unsafe'],
    'bank/addFiatAccountUrl': ['/onramp/api/v2/whiteLabel/bank/addFiatAccountUrl', 'unsafe'],
    'bank/fiatAccounts': ['/onramp/api/v2/whiteLabel/bank/fiatAccounts', 'unsafe'],
    'offramp/quote': ['/onramp/api/v2/whiteLabel/offramp/quote', 'unsafe'],
    'offramp/createTransaction': ['/onramp/api/v2/whiteLabel/offramp/createTransaction', 'once'],
    'offramp/transaction': ['/onramp/api/v2/whiteLabel/offramp/transaction', 'read'],
    'offramp/allUserTransaction': ['/onramp/api/v2/whiteLabel/offramp/allUserTransaction', 'read'],
    'offramp/allTransaction': ['/onramp/api/v2/whiteLabel/offramp/allTransaction', 'read'],
    'offramp/refunds': ['/onramp/api/v2/whiteLabel/offramp/refunds', 'read'],
    'onramp/quote': ['/onramp/api/v2/whiteLabel/onramp/quote', 'unsafe'],
    'onramp/createTransaction': ['/onramp/api/v2/whiteLabel/onramp/createTransaction', 'once'],
    'onramp/refunds': ['/onramp/api/v2/whiteLabel/onramp/refunds', 'read'],
    'bank/bankDetails': ['/onramp/api/v2/whiteLabel/bank/bankDetails', 'read'],
    'onramp/transaction': ['/onramp/api/v2/whiteLabel/onramp/transaction', 'read'],
    'onramp/allUserTransaction': ['/onramp/api/v2/whiteLabel/onramp/allUserTransaction', 'read'],
    'onramp/allTransaction': ['/onramp/api/v2/whiteLabel/onramp/allTransaction', 'read'],
    'common/transaction/allConfigMapping': ['/onramp/api/v2/common/transaction/allConfigMapping', 'read'],
    'common/transaction/allChainMapping': ['/onramp/api/v2/common/transaction/allChainMapping', 'read'],
    'common/transaction/allGasFee': ['/onramp/api/v2/common/transaction/allGasFee', 'read'],
    'common/transaction/limits': ['/onramp/api/v2/common/transaction/limits', 'read'],
    'common/transaction/allCoinLimits': ['/onramp/api/v2/common/transaction/allCoinLimits', 'read'],
    'common/transaction/priceTicker': ['/onramp/api/v2/common/transaction/priceTicker', 'read'],
    'common/transaction/orderStatus': ['/onramp/api/v2/common/transaction/orderStatus', 'read'],
    'common/transaction/quotes': ['/onramp/api/v2/common/transaction/quotes', 'unsafe'],
    'common/transaction/generateLink': ['/onramp/api/v2/common/transaction/generateLink', 'once'],
    'transaction/merchantHistory': ['/onramp/api/v1/transaction/merchantHistory', 'read'],
    'merchant/setWebhookUrl': ['/onramp/api/v1/merchant/setWebhookUrl', 'unsafe'],
    'merchant/resendWebhook': ['/onramp/api/v1/merchant/resendWebhook', 'unsafe'],
    'merchant/sendDummyWebhook': ['/onramp/api/v1/merchant/sendDummyWebhook', 'unsafe'],
    'v1/webhooks': ['/v1/webhooks', 'unsafe'],
    'v1/webhooks/{id}/rotate': ['/v1/webhooks/{id}/rotate', 'unsafe'],
    'v1/webhooks/{id}/resume': ['/v1/webhooks/{id}/resume', 'unsafe'],
    'v1/webhooks/{id}/test': ['/v1/webhooks/{id}/test', 'unsafe'],
    'v1/webhooks/{id}/replay': ['/v1/webhooks/{id}/replay', 'unsafe'],
    'test/changeKycStatus': ['/onramp/api/v2/whiteLabel/test/changeKycStatus', 'unsafe'],
    'test/changeKybStatus': ['/onramp/api/v2/whiteLabel/test/changeKybStatus', 'unsafe'],
    'test/changeOfframpStatus': ['/onramp/api/v2/whiteLabel/test/changeOfframpStatus', 'unsafe'],
    'test/changeOnrampStatus': ['/onramp/api/v2/whiteLabel/test/changeOnrampStatus', 'unsafe'],
    'sandbox/v1/pay': ['/sandbox/v1/pay', 'unsafe'],
    'sandbox/v1/credit': ['/sandbox/v1/credit', 'unsafe'],
    'sandbox/v1/recall': ['/sandbox/v1/recall', 'unsafe'],
    'sandbox/v1/bounce': ['/sandbox/v1/bounce', 'unsafe'],
    'sandbox/v1/screening': ['/sandbox/v1/screening', 'unsafe'],
    'sandbox/v1/clock': ['/sandbox/v1/clock', 'unsafe'],
    'sandbox/v1/status': ['/sandbox/v1/status', 'unsafe'],
    'sandbox/v1/reorg': ['/sandbox/v1/reorg', 'unsafe'],
    'sandbox/v1/bank': ['/sandbox/v1/bank', 'unsafe'],
    'sandbox/v1/prices': ['/sandbox/v1/prices', 'unsafe'],
    'sandbox/v1/treasury': ['/sandbox/v1/treasury', 'unsafe'],
    'sandbox/v1/webhooks': ['/sandbox/v1/webhooks', 'unsafe'],
  },
  put: {
    'offramp/refundDestination': ['/onramp/api/v2/whiteLabel/offramp/refundDestination', 'read'],
    'onramp/referenceId': ['/onramp/api/v2/whiteLabel/onramp/referenceId', 'read'],
    'onramp/refundDestination': ['/onramp/api/v2/whiteLabel/onramp/refundDestination', 'read'],
    'v1/webhooks/{id}': ['/v1/webhooks/{id}', 'read'],
  },
  delete: {
    'v1/webhooks/{id}': ['/v1/webhooks/{id}', 'read'],
  },
};

/** Makes something happen. In a sandbox only; elsewhere each ends in an ApiError of status 404. */
export interface SandboxControls {
  /** Sandbox: pays an order as its customer, on its chain or by bank. Requests with the same Idempotency-Key pay once. */
  pay(
    takes: PostSandboxV1PayRequest,
    options?: CallOptions,
  ): Promise<{
    /** Ids of the payments on the rail */
    readonly payments: readonly string[];
  }>;
  /** Sandbox: credits our bank account for a purchase, with the payer’s reference and name as you choose them. Requests with the same Idempotency-Key pay once. */
  credit(
    takes: PostSandboxV1CreditRequest,
    options?: CallOptions,
  ): Promise<{
    /** Line of the bank statement */
    readonly line: string;
  }>;
  /** Sandbox: recalls a bank credit, as the payer’s bank. */
  recall(
    takes: PostSandboxV1RecallRequest,
    options?: CallOptions,
  ): Promise<{
    /** Line of the bank statement that recalls the credit */
    readonly line: string;
  }>;
  /** Sandbox: returns an order’s payout or refund to a bank account, before or after it arrived. */
  bounce(
    takes: PostSandboxV1BounceRequest,
    options?: CallOptions,
  ): Promise<{
    /** Payment that is returned */
    readonly payment: string;
  }>;
  /** Sandbox: makes screening hold an order as if its destination were denied, until a person releases it; or ends that. */
  screening(
    takes: PostSandboxV1ScreeningRequest,
    options?: CallOptions,
  ): Promise<{
    /** List that holds the destination */
    readonly list: string;
  }>;
  /** Sandbox: moves your due times closer: deadlines, locked rates and quotes, waits, clearing, attempts of webhooks. */
  clock(
    takes: PostSandboxV1ClockRequest,
    options?: CallOptions,
  ): Promise<{
    /** Orders whose due times moved */
    readonly orders: number;
    /** Quotes whose expiry moved */
    readonly quotes: number;
    /** Deliveries of webhooks whose next attempt moved */
    readonly deliveries: number;
  }>;
  /** Sandbox: drives an order to a status by causing the facts that lead there; the order then continues automatically. */
  status(
    takes: PostSandboxV1StatusRequest,
    options?: CallOptions,
  ): Promise<{
    /** Number of the status to which the order is driven */
    readonly status: number;
    /** Name of the status */
    readonly word: string;
  }>;
  /** Sandbox: replaces the newest blocks of a chain with empty ones; transfers of ours and of simulated customers are sent again. */
  reorg(
    takes: PostSandboxV1ReorgRequest,
    options?: CallOptions,
  ): Promise<{
    /** The chain */
    readonly chain: string;
    /** Blocks that were replaced */
    readonly blocks: number;
  }>;
  /** Sandbox: makes the next calls of the bank fail. */
  bank(
    takes: PostSandboxV1BankRequest,
    options?: CallOptions,
  ): Promise<{
    /** The fault */
    readonly fault: string;
    /** How often */
    readonly times: number;
  }>;
  /** Sandbox: sets the price of a coin until you change it or the server restarts. */
  prices(
    takes: PostSandboxV1PricesRequest,
    options?: CallOptions,
  ): Promise<{
    /** Coin and fiat */
    readonly pair: string;
    /** Fiat for one coin; null if the price table applies again */
    readonly price: string | null;
  }>;
  /** Sandbox: empties the operator’s account or wallet of a currency (its money is set aside in the books), or fills it again. */
  treasury(
    takes: PostSandboxV1TreasuryRequest,
    options?: CallOptions,
  ): Promise<{
    /** Code of the asset */
    readonly asset: string;
    /** Amount available for payouts, in that currency */
    readonly available: string;
  }>;
  /** Sandbox: makes deliveries fail as if every receiver were down, until you change it or the server restarts. */
  webhooks(
    takes: PostSandboxV1WebhooksRequest,
    options?: CallOptions,
  ): Promise<{
    /** Whether webhooks are dropped or delivered */
    readonly webhooks: 'dropped' | 'delivered';
  }>;
}

import type { CallOptions } from '../http.ts';

/**
 * Generated from docs/openapi.json by sdk/generate.ts. Do not edit: change the declarations of the API.
 */

/** An endpoint without fields. */
export type Nothing = Readonly<Record<string, never>>;

/** Beside these: the details that were given, under the names they were given by */
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

/** When, how long it took, and what came back */
export type Attempt = Readonly<Record<string, unknown>>;

export interface CheckoutLink {
  /** Hosted page on which the customer confirms and pays */
  readonly link: string;
  /** Id of the link */
  readonly urlHash: string;
  /** Until when a transaction can be created on it, ISO 8601 in UTC */
  readonly expiresAt: string;
}

export interface Coin {
  /** Number of the coin */
  readonly coinId: number;
  /** Picture, as a data URL */
  readonly coinIcon: string;
  /** Name */
  readonly coinName: string;
  /** Decimals shown of a balance */
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
  /** Address that the customer sends the coins to */
  readonly depositAddress: string;
  /** Chain of that address */
  readonly chain: string;
  /** Coins to send: a plain decimal */
  readonly fromAmount: string;
  /** Fiat that will be paid: a plain decimal */
  readonly toAmount: string;
  /** Fiat for one coin: a plain decimal */
  readonly rate: string;
  /** Until when the coins must have arrived, ISO 8601 in UTC */
  readonly expiresAt: string;
}

export interface CustomerWebhook {
  /** A person or a business */
  readonly eventType: 'KYC' | 'KYB';
  /** Word of verification */
  readonly status: string;
  readonly metadata: {
    /** Position of the event; 0 of a sample */
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
  /** Cursor to go on from */
  readonly next: string;
  readonly hasMore: boolean;
}

export interface Failure {
  readonly status: 0;
  /** The HTTP status */
  readonly code: number;
  /** A sentence */
  readonly error: string;
  /** The same sentence */
  readonly message: string;
  /** The word to branch on */
  readonly reason: string;
  /** Which field is wrong, and the rule it breaks */
  readonly fields?: Readonly<Record<string, string>> | undefined;
  /** With customer_exists: whose the phone or the clientCustomerId is */
  readonly customerId?: string | undefined;
  /** With login_required: a link for the customer to log in */
  readonly kycUrl?: string | undefined;
}

export interface FlatWebhook {
  /** Number of the transaction; 0 of a sample */
  readonly orderId: number;
  /** Buying or selling */
  readonly eventType: 'onramp' | 'offramp';
  /** Deposit address of a sale, paid address of a purchase */
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
  /** Amount of the coin that moved: exact to its last digit */
  readonly actualCryptoAmount: number;
  /** Fiat that was paid; of a sale: exact to its last digit */
  readonly actualFiatAmount?: number | undefined;
  /** Coins that came; of a sale: exact to its last digit */
  readonly actualQuantity?: number | undefined;
  /** SUCCESS; of a sale */
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
  /** Tax withheld; only where some was: exact to its last digit */
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
  /** The partner’s own id, in the type it was sent in */
  readonly clientCustomerId: string | number;
  /** HMAC-SHA512 of kycUrl under the key’s secret, in hex */
  readonly signature: string;
}

export interface KycRequirements {
  readonly kycRequirementData: Requirements;
}

export interface KycStatus {
  /** Where verification stands: see the table of words */
  readonly status: string;
  /** When it last changed, UTC */
  readonly updatedAt: string;
  /** Country of the customer, two letters */
  readonly countryISO: string;
  /** Step that is reached */
  readonly currentKycVerificationStep: string;
  /** Step that was passed last */
  readonly previousSuccessfulKycStep: string;
  /** Why verification failed */
  readonly failedReason?: string | undefined;
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
  /** What an address looks like */
  readonly addressRegex: string;
  /** What a memo looks like; empty where there is none */
  readonly memoRegex: string;
  /** Number by which the chain calls itself; -1 where it has none */
  readonly networkId: number;
  /** Number of the native coin; -1 where we have none */
  readonly nativeToken: number;
  readonly startingWith: readonly string[];
  /** Explorer, to be followed by a hash; empty where there is none */
  readonly hashLink: string;
  /** The same as nativeToken */
  readonly node: number;
}

export interface OrderWebhook {
  /** Number of the transaction; 0 of a sample */
  readonly referenceId: number;
  /** Buying or selling */
  readonly eventType: 'ONRAMP' | 'OFFRAMP';
  /** Each is said once of a transaction, in this order */
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
    /** Position of the event; 0 of a sample */
    readonly eventId: number;
    /** When it happened, ISO 8601 in UTC */
    readonly eventCreatedAt: string;
    /** Position among the events of its subject */
    readonly sequence?: number | undefined;
    /** When this attempt was sent, in milliseconds since 1970 */
    readonly timestamp?: number | undefined;
    readonly sample?: true | undefined;
    /** From when money that nobody claims is dormant; only where that was announced, ISO 8601 in UTC */
    readonly unclaimedFrom?: string | undefined;
    /** What has come in for the transaction and was not reversed: a plain decimal */
    readonly receivedAmount?: string | undefined;
    /** Currency of that */
    readonly receivedCurrency?: string | undefined;
    /** Why the transaction is not as usual; empty where there is nothing to say */
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
    /** Money waits until refundDestination names where it goes */
    readonly needsDestination?: boolean | undefined;
    /** The newest, the oldest of them first: 20 in transactions and events, as many as asked for in refunds */
    readonly refunds?: readonly Refund[] | undefined;
    /** How many refunds are older than the first one here; only where there are any. The refunds call gives them by before */
    readonly olderRefunds?: number | undefined;
    /** The newest, the oldest of them first: 20 in transactions and events, 100 in refunds */
    readonly returnedPayouts?: readonly ReturnedPayout[] | undefined;
    /** How many payouts that came back are not among them; only where there are any */
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
    /** IBAN, of an account that has one */
    readonly iban?: string | undefined;
    /** BIC, beside an IBAN */
    readonly bic?: string | undefined;
    /** Code of the bank, where the country has one of its own */
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
  /** Our id of the customer, as kyc/url answered it */
  readonly customerId: string;
  /** Account number */
  readonly fiatAccount?: string | undefined;
  /** Bank code of an Indian account */
  readonly ifsc?: string | undefined;
  /** IBAN, instead of a number */
  readonly iban?: string | undefined;
  /** BIC of the bank */
  readonly swift?: string | undefined;
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
  /** Fiat: its code or its number */
  readonly fiatType?: string | undefined;
  /** Country, two letters, instead of fiatType: stands for the fiat of that country. Where both are sent, they must agree */
  readonly countryCode?: string | undefined;
}

export interface PostBankAddFiatAccountUrlRequest {
  /** Our id of the customer, as kyc/url answered it */
  readonly customerId: string;
  /** Page the customer goes back to afterwards */
  readonly redirectUrl?: string | undefined;
  /** Fiat: its code or its number */
  readonly fiatType?: string | undefined;
  /** Country, two letters, instead of fiatType: stands for the fiat of that country. Where both are sent, they must agree */
  readonly countryCode?: string | undefined;
}

export interface PostBankBankDetailsRequest {
  /** Our id of the customer, as kyc/url answered it */
  readonly customerId: string;
  /** Number of a transaction */
  readonly transactionId: string;
  /** Currency given: a coin when selling, a fiat when buying */
  readonly fromCurrency?: string | undefined;
  /** Payment method, as fetchPaymentMethodType names it */
  readonly paymentMethodType?: string | undefined;
}

export interface PostBankFiatAccountsRequest {
  /** Our id of the customer, as kyc/url answered it */
  readonly customerId: string;
}

export interface PostCommonTransactionAllCoinLimitsRequest {
  /** Fiat: its code or its number */
  readonly fiatType?: string | undefined;
  /** Country, two letters, instead of fiatType: stands for the fiat of that country. Where both are sent, they must agree */
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
  /** Country, two letters, instead of fiatType: stands for the fiat of that country. Where both are sent, they must agree */
  readonly countryCode?: string | undefined;
  /** 1: buying. 2: selling */
  readonly type?: '1' | '2' | undefined;
  /** The same as type, under its older name */
  readonly flowType?: '1' | '2' | undefined;
  /** Address of the customer that is paid */
  readonly walletAddress?: string | undefined;
  /** Payment method: its name, or 1 for an instant one and 2 for a bank transfer */
  readonly paymentMethod?: string | undefined;
  /** Our id of the customer, as kyc/url answered it */
  readonly customerId?: string | undefined;
  /** Your own id of the customer; answered in the type it was sent in */
  readonly clientCustomerId?: string | undefined;
  /** Phone number of the customer, with its country code: one phone is one customer */
  readonly phoneNumber?: string | undefined;
  /** Your own reference for the transaction */
  readonly merchantRecognitionId?: string | undefined;
  /** Page the customer goes back to afterwards */
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
  /** Country, two letters, instead of fiatType: stands for the fiat of that country. Where both are sent, they must agree */
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
  /** Country, two letters, instead of fiatType: stands for the fiat of that country. Where both are sent, they must agree */
  readonly countryCode?: string | undefined;
  /** 1: buying. 2: selling */
  readonly type: '1' | '2';
  /** Amount of the coin */
  readonly quantity?: string | undefined;
}

export interface PostKybFilesRequest {
  /** Our id of the customer, as kyc/url answered it */
  readonly customerId: string;
  /** A submission of a business */
  readonly submissionId?: string | undefined;
  /** Country whose form is meant, two letters: as in kyb/requirements */
  readonly country?: string | undefined;
}

export interface PostKybStatusRequest {
  /** Our id of the customer, as kyc/url answered it */
  readonly customerId: string;
  /** A submission of a business */
  readonly submissionId?: string | undefined;
  /** Country whose form is meant, two letters: as in kyb/requirements */
  readonly country?: string | undefined;
}

export interface PostKybSubmitRequest {
  /** Our id of the customer, as kyc/url answered it */
  readonly customerId: string;
  /** A submission of a business */
  readonly submissionId?: string | undefined;
  /** Fiat: its code or its number */
  readonly fiatType?: string | undefined;
  /** Country, two letters, instead of fiatType: stands for the fiat of that country. Where both are sent, they must agree */
  readonly countryCode?: string | undefined;
  /** Country whose form is meant, two letters: as in kyb/requirements */
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
  /** Owners: firstName, lastName, share in percent, and dob and country where known */
  readonly owners?: readonly Readonly<Record<string, string>>[] | string | undefined;
  /** Directors, as owners but without a share */
  readonly directors?: readonly Readonly<Record<string, string>>[] | string | undefined;
}

export interface PostKycRequirementsRequest {
  /** Our id of the customer, as kyc/url answered it */
  readonly customerId: string;
  /** Fiat: its code or its number */
  readonly fiatType?: string | undefined;
  /** Country, two letters, instead of fiatType: stands for the fiat of that country. Where both are sent, they must agree */
  readonly countryCode?: string | undefined;
}

export interface PostKycStatusRequest {
  /** Our id of the customer, as kyc/url answered it */
  readonly customerId: string;
}

export interface PostKycSubmitDataRequest {
  /** Our id of the customer, as kyc/url answered it */
  readonly customerId: string;
  /** Fiat: its code or its number */
  readonly fiatType: string;
  /** Country, two letters, instead of fiatType: stands for the fiat of that country. Where both are sent, they must agree */
  readonly countryCode?: string | undefined;
  /** Number of the identity document */
  readonly identityNumber?: Readonly<Record<string, string>> | string | undefined;
  /** Answers of the group `details` */
  readonly details?: Readonly<Record<string, string>> | string | undefined;
  /** Answers of the group `address` */
  readonly address?: Readonly<Record<string, string>> | string | undefined;
}

export interface PostKycSubmitFilesRequest {
  /** Our id of the customer, as kyc/url answered it */
  readonly customerId: string;
  /** Fiat: its code or its number */
  readonly fiatType?: string | undefined;
  /** Country, two letters, instead of fiatType: stands for the fiat of that country. Where both are sent, they must agree */
  readonly countryCode?: string | undefined;
}

export interface PostKycSubmitRequest {
  /** Our id of the customer, as kyc/url answered it */
  readonly customerId: string;
  /** Fiat: its code or its number */
  readonly fiatType: string;
  /** Country, two letters, instead of fiatType: stands for the fiat of that country. Where both are sent, they must agree */
  readonly countryCode?: string | undefined;
  /** Number of the identity document */
  readonly identityNumber?: Readonly<Record<string, string>> | string | undefined;
  /** Answers of the group `details` */
  readonly details?: Readonly<Record<string, string>> | string | undefined;
  /** Answers of the group `address` */
  readonly address?: Readonly<Record<string, string>> | string | undefined;
}

export interface PostKycUrlRequest {
  /** Your own id of the customer; answered in the type it was sent in */
  readonly clientCustomerId?: string | undefined;
  /** Phone number of the customer, with its country code: one phone is one customer */
  readonly phoneNumber?: string | undefined;
  /** A person or a business */
  readonly type?: 'INDIVIDUAL' | 'BUSINESS' | undefined;
  /** E-mail address of the customer */
  readonly email?: string | undefined;
  /** Our id of the customer, as kyc/url answered it */
  readonly customerId?: string | undefined;
  /** Page the customer goes back to afterwards */
  readonly kycRedirectUrl?: string | undefined;
  /** The page ends with the login, and asks for no details */
  readonly closeAfterLogin?: boolean | undefined;
}

export interface PostMerchantResendWebhookRequest {
  /** Number of a transaction */
  readonly orderId: string;
}

export interface PostMerchantSendDummyWebhookRequest {
  /** Address that events are posted to */
  readonly webhookUrl?: string | undefined;
  /** Form of the body: see the page on webhooks */
  readonly format?: 'whitelabel' | 'flat' | undefined;
}

export interface PostMerchantSetWebhookUrlRequest {
  /** Address that events are posted to */
  readonly webhookUrl: string;
  /** Form of the body: see the page on webhooks */
  readonly format?: 'whitelabel' | 'flat' | undefined;
}

export interface PostOfframpAllTransactionRequest {
  /** Page, from 1 */
  readonly page: number;
  /** Rows of a page */
  readonly pageSize: number;
}

export interface PostOfframpAllUserTransactionRequest {
  /** Our id of the customer, as kyc/url answered it */
  readonly customerId: string;
  /** Page, from 1 */
  readonly page: number;
  /** Rows of a page */
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
  /** Amount received that the quote promised, in toCurrency; where the price has moved, the request is declined */
  readonly toAmount?: string | undefined;
  /** Rate that the quote promised: fiat for one coin */
  readonly rate?: string | undefined;
  /** Our id of the customer, as kyc/url answered it */
  readonly customerId: string;
  /** Number of an account, as bank/addFiatAccount answered it */
  readonly fiatAccountId?: string | undefined;
  /** Your own reference for the transaction */
  readonly merchantRecognitionId?: string | undefined;
  /** Address that coins go back to, should they have to */
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
  /** Our id of the customer, as kyc/url answered it */
  readonly customerId: string;
  /** Cursor of the last row that was read */
  readonly before?: string | undefined;
  /** Rows at most */
  readonly limit?: number | undefined;
}

export interface PostOfframpTransactionRequest {
  /** Number of a transaction */
  readonly transactionId: string;
  /** Our id of the customer, as kyc/url answered it */
  readonly customerId: string;
}

export interface PostOnrampAllTransactionRequest {
  /** Page, from 1 */
  readonly page: number;
  /** Rows of a page */
  readonly pageSize: number;
}

export interface PostOnrampAllUserTransactionRequest {
  /** Our id of the customer, as kyc/url answered it */
  readonly customerId: string;
  /** Page, from 1 */
  readonly page: number;
  /** Rows of a page */
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
  /** Our id of the customer, as kyc/url answered it */
  readonly customerId: string;
  /** Address of the customer that is paid */
  readonly depositAddress: string;
  /** Amount received that the quote promised, in toCurrency; where the price has moved, the request is declined */
  readonly toAmount?: string | undefined;
  /** Rate that the quote promised: fiat for one coin */
  readonly rate?: string | undefined;
  /** Payment method, as fetchPaymentMethodType names it */
  readonly paymentMethodType: string;
  /** Your own reference for the transaction */
  readonly merchantRecognitionId?: string | undefined;
  /** Number of an account, as bank/addFiatAccount answered it */
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
  /** Our id of the customer, as kyc/url answered it */
  readonly customerId: string;
  /** Cursor of the last row that was read */
  readonly before?: string | undefined;
  /** Rows at most */
  readonly limit?: number | undefined;
}

export interface PostOnrampTransactionRequest {
  /** Number of a transaction */
  readonly transactionId: string;
  /** Our id of the customer, as kyc/url answered it */
  readonly customerId: string;
}

export interface PostSandboxV1BankRequest {
  /** `lose_request` (nothing is paid), `lose_answer` (it is paid), `delay_answer`, `refuse`, `return` (paid, and comes back), `no_status`, `statement_twice`, `statement_reordered`; `none` ends what is left */
  readonly fault:
    | 'NONE'
    | 'LOSE_REQUEST'
    | 'LOSE_ANSWER'
    | 'DELAY_ANSWER'
    | 'REFUSE'
    | 'RETURN'
    | 'NO_STATUS'
    | 'STATEMENT_TWICE'
    | 'STATEMENT_REORDERED';
  /** how often; 1 if nothing is said */
  readonly times?: number | undefined;
  /** of `delay_answer`, in milliseconds: 8000 if nothing is said, which is longer than we wait */
  readonly delayMs?: number | undefined;
}

export interface PostSandboxV1BounceRequest {
  /** number of one of your orders, with a payout or refund at the bank */
  readonly transactionId: string;
}

export interface PostSandboxV1ClockRequest {
  /** `90s`, `15m`, `2h`, `3d`; at most 30 days */
  readonly advance: string;
}

export interface PostSandboxV1CreditRequest {
  /** number of one of your orders, a purchase */
  readonly transactionId: string;
  /** instead of the amount asked for, in the same currency */
  readonly amount?: string | undefined;
  /** `right` (if nothing is said), `none`, `wrong` (one letter mistyped) */
  readonly reference?: 'RIGHT' | 'NONE' | 'WRONG' | undefined;
  /** payer's name: `right` (the customer's, if nothing is said), `wrong`, `none` */
  readonly name?: 'RIGHT' | 'WRONG' | 'NONE' | undefined;
}

export interface PostSandboxV1PayRequest {
  /** number of one of your orders */
  readonly transactionId: string;
  /** `exact` (if nothing is said), `under` (half), `over` (half more), `late` (after the deadline, which passes now), `twice`, `another_token` (on the same chain), `another_chain` (the same coin) */
  readonly how?: 'EXACT' | 'UNDER' | 'OVER' | 'LATE' | 'TWICE' | 'ANOTHER_TOKEN' | 'ANOTHER_CHAIN' | undefined;
  /** instead of the amount asked for, in the same currency */
  readonly amount?: string | undefined;
}

export interface PostSandboxV1PricesRequest {
  /** `usdc` */
  readonly coin: string;
  /** `inr` */
  readonly fiat: string;
  /** fiat for one coin; without it, the table's again */
  readonly price?: string | undefined;
}

export interface PostSandboxV1RecallRequest {
  /** number of one of your orders: its last credit */
  readonly transactionId?: string | undefined;
  /** or the line that `credit` answered */
  readonly line?: string | undefined;
}

export interface PostSandboxV1ReorgRequest {
  /** `matic20`, `erc20`, `bep20`, `arbitrum`, `base`, `optimism`, `trc20` */
  readonly chain: string;
  /** 1 to 12; more would be deeper than final and halt the chain */
  readonly blocks: number;
}

export interface PostSandboxV1ScreeningRequest {
  /** number of one of your orders */
  readonly transactionId: string;
  /** `fail`, `pass` */
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
  /** `dry`, `filled` */
  readonly state: 'DRY' | 'FILLED';
  /** of a coin */
  readonly chain?: string | undefined;
  /** how much is brought, in that currency; as much as at the beginning if nothing is said */
  readonly amount?: string | undefined;
}

export interface PostSandboxV1WebhooksRequest {
  /** `drop`, `deliver` */
  readonly deliveries: 'DROP' | 'DELIVER';
}

export interface PostTestChangeKybStatusRequest {
  /** Our id of the customer, as kyc/url answered it */
  readonly customerId: string;
  /** A submission of a business */
  readonly submissionId?: string | undefined;
  /** A word of verification */
  readonly status: 'COMPLETED' | 'IN_REVIEW' | 'UPDATE_REQUIRED' | 'FAILED';
}

export interface PostTestChangeKycStatusRequest {
  /** Our id of the customer, as kyc/url answered it */
  readonly customerId: string;
  /** A word of verification */
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
  /** Our id of the customer, as kyc/url answered it */
  readonly customerId: string;
  /** Number of a transaction */
  readonly transactionId: string;
  /** Status number, as in webhooks */
  readonly status: string;
}

export interface PostTestChangeOnrampStatusRequest {
  /** Our id of the customer, as kyc/url answered it */
  readonly customerId: string;
  /** Number of a transaction */
  readonly transactionId: string;
  /** Status number, as in webhooks */
  readonly status: string;
}

export interface PostTransactionMerchantHistoryRequest {
  /** Page, from 1 */
  readonly page?: number | undefined;
  /** Rows of a page */
  readonly pageSize?: number | undefined;
  /** Only what was created at or after this time */
  readonly since?: string | undefined;
  /** ASC: oldest first. DESC: newest first */
  readonly order?: 'ASC' | 'DESC' | undefined;
  /** 1: buying. 2: selling */
  readonly type?: '1' | '2' | undefined;
  /** Fiat: its code or its number */
  readonly fiatType?: string | undefined;
  /** Country, two letters, instead of fiatType: stands for the fiat of that country. Where both are sent, they must agree */
  readonly countryCode?: string | undefined;
}

export interface PostV1WebhooksIdReplayRequest {
  /** Id of an event */
  readonly eventId?: string | undefined;
  /** Number of a transaction */
  readonly orderId?: string | undefined;
  /** First moment */
  readonly from?: string | undefined;
  /** Last moment */
  readonly to?: string | undefined;
}

export interface PostV1WebhooksIdRotateRequest {
  /** How long the old secret signs as well */
  readonly overlapSeconds?: number | undefined;
}

export interface PostV1WebhooksRequest {
  /** Address that events are posted to */
  readonly url: string;
  /** Form of the body: see the page on webhooks */
  readonly format?: 'whitelabel' | 'flat' | 'standard' | undefined;
  /** Types of events; none: all */
  readonly events?: readonly string[] | undefined;
  /** What the payload header holds: the exact body in base64, or the body wrapped with a time */
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
  /** Address that is paid */
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
  /** The same once the trade was made; 0 before: exact to its last digit */
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
  /** Deposit address of a sale, paid address of a purchase */
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
  /** Our id of the customer, as kyc/url answered it */
  readonly customerId: string;
  /** Number of a transaction */
  readonly transactionId: string;
  /** Address that money goes to */
  readonly address?: string | undefined;
  /** Number of an account, as bank/addFiatAccount answered it */
  readonly fiatAccountId?: string | undefined;
}

export interface PutOnrampReferenceIdRequest {
  /** Our id of the customer, as kyc/url answered it */
  readonly customerId: string;
  /** Number of a transaction */
  readonly transactionId: string;
  /** Reference that the customer’s bank gave the transfer */
  readonly referenceId: string;
}

export interface PutOnrampRefundDestinationRequest {
  /** Our id of the customer, as kyc/url answered it */
  readonly customerId: string;
  /** Number of a transaction */
  readonly transactionId: string;
  /** Address that money goes to */
  readonly address?: string | undefined;
  /** Number of an account, as bank/addFiatAccount answered it */
  readonly fiatAccountId?: string | undefined;
}

export interface PutV1WebhooksIdRequest {
  /** Address that events are posted to */
  readonly url?: string | undefined;
  /** Form of the body: see the page on webhooks */
  readonly format?: 'whitelabel' | 'flat' | 'standard' | undefined;
  /** Types of events; none: all */
  readonly events?: readonly string[] | undefined;
  /** What the payload header holds: the exact body in base64, or the body wrapped with a time */
  readonly payloadForm?: 'body' | 'wrapped' | undefined;
  /** Whether events are sent */
  readonly enabled?: boolean | undefined;
  /** The key that signs this request: it signs the webhooks from now on */
  readonly apiKey?: string | undefined;
}

/** Which of the two forms a partner gets is a setting of the partner */
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
  /** payout: a payout that came back, paid again */
  readonly kind: 'refund' | 'payout';
  /** State of the refund */
  readonly status: string;
  /** Why it is paid; empty where there is nothing to say */
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
  /** Address it goes to; empty for a bank account, or before one is named */
  readonly address: string;
  /** Account it goes to; empty for an address, or before one is named */
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
  /** From when money that nobody claims is dormant; only where that was announced, ISO 8601 in UTC */
  readonly unclaimedFrom?: string | undefined;
  /** What has come in for the transaction and was not reversed: a plain decimal */
  readonly receivedAmount: string;
  /** Currency of that */
  readonly receivedCurrency: string;
  /** Why the transaction is not as usual; empty where there is nothing to say */
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
  /** Money waits until refundDestination names where it goes */
  readonly needsDestination: boolean;
  /** The newest, the oldest of them first: 20 in transactions and events, as many as asked for in refunds */
  readonly refunds: readonly Refund[];
  /** How many refunds are older than the first one here; only where there are any. The refunds call gives them by before */
  readonly olderRefunds?: number | undefined;
  /** The newest, the oldest of them first: 20 in transactions and events, 100 in refunds */
  readonly returnedPayouts: readonly ReturnedPayout[];
  /** How many payouts that came back are not among them; only where there are any */
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
  /** Why it came back; empty where there is nothing to say */
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
  /** Account that is paid; empty where none is named */
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
  /** Account that is paid; empty where none is named */
  readonly fiatAccountId: string;
  /** Status number of the transaction, as text: see the table of statuses */
  readonly status: string;
  /** Hash of the deposit, in lower case; empty before there is one */
  readonly transactionHash: string;
  /** Address that the customer sends the coins to */
  readonly depositAddress: string;
  /** Until when the coins must have arrived, ISO 8601 in UTC */
  readonly expiresAt: string;
  /** From when money that nobody claims is dormant; only where that was announced, ISO 8601 in UTC */
  readonly unclaimedFrom?: string | undefined;
  /** What has come in for the transaction and was not reversed: a plain decimal */
  readonly receivedAmount: string;
  /** Currency of that */
  readonly receivedCurrency: string;
  /** Why the transaction is not as usual; empty where there is nothing to say */
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
  /** Money waits until refundDestination names where it goes */
  readonly needsDestination: boolean;
  /** The newest, the oldest of them first: 20 in transactions and events, as many as asked for in refunds */
  readonly refunds: readonly Refund[];
  /** How many refunds are older than the first one here; only where there are any. The refunds call gives them by before */
  readonly olderRefunds?: number | undefined;
  /** The newest, the oldest of them first: 20 in transactions and events, 100 in refunds */
  readonly returnedPayouts: readonly ReturnedPayout[];
  /** How many payouts that came back are not among them; only where there are any */
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
  /** The same once the trade was made; 0 before: exact to its last digit */
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
  /** Deposit address of a sale, paid address of a purchase */
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
  /** The resource as it is then */
  readonly data: Readonly<Record<string, unknown>>;
}

export interface Submission {
  /** Number of the submission */
  readonly submissionId: string;
  /** UPDATE_REQUIRED: give what `reasons` names. COMPLETED and FAILED: over */
  readonly status: 'UPDATE_REQUIRED' | 'IN_REVIEW' | 'COMPLETED' | 'FAILED';
  /** Why a field must be given, or given again, by its name */
  readonly reasons?: Readonly<Record<string, string>> | undefined;
  /** When it began, ISO 8601 in UTC */
  readonly createdAt: string;
  /** When it last changed, ISO 8601 in UTC */
  readonly updatedAt: string;
}

export interface Submitted {
  /** Number of the submission */
  readonly submissionId: string;
  /** UPDATE_REQUIRED: give what `reasons` names. COMPLETED and FAILED: over */
  readonly status: 'UPDATE_REQUIRED' | 'IN_REVIEW' | 'COMPLETED' | 'FAILED';
  /** Why a field must be given, or given again, by its name */
  readonly reasons?: Readonly<Record<string, string>> | undefined;
  /** When it began: of a new one, ISO 8601 in UTC */
  readonly createdAt?: string | undefined;
  /** When it changed: of one that was added to, ISO 8601 in UTC */
  readonly updatedAt?: string | undefined;
}

export interface WebhookEndpoint {
  /** Id of the endpoint */
  readonly id: string;
  /** Address that events are posted to */
  readonly url: string;
  readonly format: 'whitelabel' | 'flat' | 'standard';
  /** Types of events it hears of; none: all */
  readonly events: readonly string[];
  /** What the payload header holds */
  readonly payloadForm: 'body' | 'wrapped';
  /** Set by setWebhookUrl */
  readonly setByWire: boolean;
  readonly enabled: boolean;
  /** Key whose secret signs */
  readonly apiKey: string;
  readonly madeByKey: string | null;
  /** Attempts that failed in a row */
  readonly failures: number;
  readonly pausedUntil: string | null;
  readonly failingSince: string | null;
  readonly switchedOffAt: string | null;
  readonly heldAt: string | null;
  readonly oldSecretUntil: string | null;
  /** When it was made, ISO 8601 in UTC */
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
  /** Types of events it hears of; none: all */
  readonly events: readonly string[];
  /** What the payload header holds */
  readonly payloadForm: 'body' | 'wrapped';
  /** Set by setWebhookUrl */
  readonly setByWire: boolean;
  readonly enabled: boolean;
  /** Key whose secret signs */
  readonly apiKey: string;
  readonly madeByKey: string | null;
  /** Attempts that failed in a row */
  readonly failures: number;
  readonly pausedUntil: string | null;
  readonly failingSince: string | null;
  readonly switchedOffAt: string | null;
  readonly heldAt: string | null;
  readonly oldSecretUntil: string | null;
  /** When it was made, ISO 8601 in UTC */
  readonly createdAt: string;
  /** When it last changed, ISO 8601 in UTC */
  readonly updatedAt: string;
  /** Signs its webhooks; said in this reply alone */
  readonly secret: string;
}

export type WhitelabelWebhook = OrderWebhook | CustomerWebhook;

/** What each endpoint takes and gives, by method and path. */
export interface WhitelabelEndpoints {
  get: {
    /** Tells what a business must supply to be verified; signed, the form of the calling partner. */
    'kyb/requirements': { takes: Nothing; gives: Requirements };
    /** Lists the events of the partner in an order that never changes. */
    'v1/events': { takes: { readonly after?: string | undefined; readonly limit?: number | undefined }; gives: Events };
    /** Lists webhook endpoints. */
    'v1/webhooks': { takes: Nothing; gives: readonly WebhookEndpoint[] };
    /** Answers one webhook endpoint. */
    'v1/webhooks/{id}': { takes: { readonly id: string }; gives: WebhookEndpoint };
    /** Lists what was and is to be delivered, newest first. */
    'v1/webhooks/{id}/deliveries': {
      takes: { readonly id: string; readonly before?: string | undefined; readonly limit?: number | undefined };
      gives: {
        readonly deliveries: readonly Delivery[];
        readonly next: string | null;
      };
    };
    /** Lists the attempts at one event. */
    'v1/webhooks/{id}/deliveries/{event}': {
      takes: { readonly id: string; readonly event: string };
      gives: readonly Attempt[];
    };
    /** Answers the fiats on offer. */
    'public/listSupportedFiat': {
      takes: Nothing;
      gives: {
        /** Code of each fiat, by its number */
        readonly onramp: Readonly<Record<string, string>>;
        /** Code of each fiat, by its number */
        readonly offramp: Readonly<Record<string, string>>;
      };
    };
    /** Answers the payment methods of each fiat. */
    'common/public/fetchPaymentMethodType': {
      takes: Nothing;
      gives: Readonly<Record<string, Readonly<Record<string, number>>>>;
    };
    /** Answers the time, for signing. */
    'common/public/currentTimestamp': { takes: Nothing; gives: number };
    /** Answers which fiats are bought and sold with which methods. */
    'common/public/fetchAllCountryConfig': {
      takes: Nothing;
      gives: {
        /** By number of the fiat */
        readonly buy: Readonly<
          Record<
            string,
            {
              /** 1: on offer */
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
              /** 1: on offer */
              readonly isActive: number;
              /** Kind of each method: 1 instant, 2 a bank transfer */
              readonly paymentMethods: Readonly<Record<string, number>>;
            }
          >
        >;
      };
    };
    /** Answers the coins on offer. */
    'buy/public/listAllCoins': { takes: Nothing; gives: Readonly<Record<string, Coin>> };
    /** Answers the chains on offer. */
    'buy/public/listAllNetworks': { takes: Nothing; gives: Readonly<Record<string, Network>> };
    /** Answers coins and chains with their details. */
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
              /** Decimals shown of a balance */
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
    /** Answers what a withdrawal costs on each chain, in numbers. */
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
    /** Makes a link by which a customer logs in and is verified; the first time, it enrols the customer. */
    'kyc/url': { takes: PostKycUrlRequest; gives: KycLink };
    /** Tells how far the verification of a customer has come. */
    'kyc/status': { takes: PostKycStatusRequest; gives: KycStatus };
    /** Tells what a person must supply to be verified. */
    'kyc/requirements': { takes: PostKycRequirementsRequest; gives: KycRequirements };
    /** Submits what a person must supply, by which the verifier verifies it. */
    'kyc/submit': { takes: PostKycSubmitRequest; gives: Submitted };
    /** Submits the answers of a person, at once or in parts, before or after its files: what is missing still, and what must be corrected, is in `reasons`. */
    'kyc/submitData': { takes: PostKycSubmitDataRequest; gives: Submitted };
    /** Takes the files of documents of a person, as multipart/form-data, each named as in the requirements, before or after its answers: JPEG, PNG, WEBP or PDF of at most 5 MiB. */
    'kyc/submitFiles': { takes: PostKycSubmitFilesRequest; gives: Submitted };
    /** Submits what a business must supply, at once or in parts: what is missing still, and what must be corrected, is in `reasons`. */
    'kyb/submit': { takes: PostKybSubmitRequest; gives: Submitted };
    /** Takes the files of documents of a business, as multipart/form-data, each named as in the requirements: JPEG, PNG, WEBP or PDF of at most 5 MiB. */
    'kyb/files': { takes: PostKybFilesRequest; gives: Submitted };
    /** Tells what became of a submission of a business: the one named, or the newest. */
    'kyb/status': { takes: PostKybStatusRequest; gives: Submission };
    /** Adds a bank account of a customer. */
    'bank/addFiatAccount': {
      takes: PostBankAddFiatAccountRequest;
      gives: {
        /** Number of the account */
        readonly fiatAccountId: string;
      };
    };
    /** Makes a link to a page on which the customer adds a bank account. */
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
    /** Creates a sale, once per request, and answers the address that the customer sends the coins to. */
    'offramp/createTransaction': { takes: PostOfframpCreateTransactionRequest; gives: CreatedSale };
    /** Answers one sale, and what has come of its money. */
    'offramp/transaction': { takes: PostOfframpTransactionRequest; gives: SaleDetail };
    /** Lists the sales of a customer, newest first. */
    'offramp/allUserTransaction': { takes: PostOfframpAllUserTransactionRequest; gives: readonly Sale[] };
    /** Lists all sales of the partner, newest first. */
    'offramp/allTransaction': { takes: PostOfframpAllTransactionRequest; gives: readonly Sale[] };
    /** Answers what came in for a sale, what goes back of it, and which payouts came back. */
    'offramp/refunds': { takes: PostOfframpRefundsRequest; gives: Refunds };
    /** Quotes a purchase of coins. */
    'onramp/quote': { takes: PostOnrampQuoteRequest; gives: Quote };
    /** Creates a purchase, once per request, and answers how the customer pays. */
    'onramp/createTransaction': { takes: PostOnrampCreateTransactionRequest; gives: CreatedPurchase };
    /** Answers what came in for a purchase, what goes back of it, and which payouts came back. */
    'onramp/refunds': { takes: PostOnrampRefundsRequest; gives: Refunds };
    /** Answers how the customer pays a purchase. */
    'bank/bankDetails': { takes: PostBankBankDetailsRequest; gives: PayInstructions };
    /** Answers one purchase. */
    'onramp/transaction': { takes: PostOnrampTransactionRequest; gives: Purchase };
    /** Lists the purchases of a customer, newest first. */
    'onramp/allUserTransaction': { takes: PostOnrampAllUserTransactionRequest; gives: readonly Purchase[] };
    /** Lists all purchases of the partner, newest first. */
    'onramp/allTransaction': { takes: PostOnrampAllTransactionRequest; gives: readonly Purchase[] };
    /** Answers the numbers of fiats, coins and chains. */
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
    /** Answers coins and chains with their details. */
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
              /** Decimals shown of a balance */
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
    /** Answers what a withdrawal costs on each chain. */
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
                /** 1: the coin is bought from customers */
                readonly depositEnable: number;
              }
            >
          >
        >
      >;
    };
    /** Answers the least and the most of each fiat. */
    'common/transaction/limits': {
      takes: PostCommonTransactionLimitsRequest;
      gives: {
        /** By number of the fiat */
        readonly onramp?:
          | Readonly<
              Record<
                string,
                {
                  /** Least: exact to its last digit */
                  readonly min: number;
                  /** Most: exact to its last digit */
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
                  /** Least: exact to its last digit */
                  readonly min: number;
                  /** Most: exact to its last digit */
                  readonly max: number;
                }
              >
            >
          | undefined;
      };
    };
    /** Answers the least of a fiat that buys each coin. */
    'common/transaction/allCoinLimits': {
      takes: PostCommonTransactionAllCoinLimitsRequest;
      gives: Readonly<Record<string, Readonly<Record<string, number>>>>;
    };
    /** Answers the present prices in a fiat. */
    'common/transaction/priceTicker': {
      takes: PostCommonTransactionPriceTickerRequest;
      gives: {
        /** By number of the coin */
        readonly onramp?: Readonly<Record<string, number>> | undefined;
        /** By number of the coin */
        readonly offramp?: Readonly<Record<string, number>> | undefined;
      };
    };
    /** Answers the status number of a transaction. */
    'common/transaction/orderStatus': {
      takes: PostCommonTransactionOrderStatusRequest;
      gives: {
        /** Status number: see the table of statuses */
        readonly orderStatus: number;
      };
    };
    /** Quotes a sale or a purchase, in numbers. */
    'common/transaction/quotes': { takes: PostCommonTransactionQuotesRequest; gives: QuoteNumbers };
    /** Makes a link to a hosted page on which a customer confirms and pays, once per request. */
    'common/transaction/generateLink': { takes: PostCommonTransactionGenerateLinkRequest; gives: CheckoutLink };
    /** Lists transactions as flat rows of numbers, for accounting. */
    'transaction/merchantHistory': {
      takes: PostTransactionMerchantHistoryRequest;
      gives: readonly (SaleRow | PurchaseRow)[];
    };
    /** Sets the address that events are posted to. */
    'merchant/setWebhookUrl': { takes: PostMerchantSetWebhookUrlRequest; gives: string };
    /** Sends everything that was said of a transaction once more, and waits for your server. */
    'merchant/resendWebhook': { takes: PostMerchantResendWebhookRequest; gives: 'Response received from your server' };
    /** Sends a sample transaction, and waits for your server. */
    'merchant/sendDummyWebhook': {
      takes: PostMerchantSendDummyWebhookRequest;
      gives: 'Response received from your server';
    };
    /** Adds a webhook endpoint, and answers its secret. */
    'v1/webhooks': { takes: PostV1WebhooksRequest; gives: WebhookEndpointWithSecret };
    /** Gives a webhook endpoint a new secret. */
    'v1/webhooks/{id}/rotate': {
      takes: { readonly id: string } & PostV1WebhooksIdRotateRequest;
      gives: WebhookEndpointWithSecret;
    };
    /** Sends to a held webhook endpoint again, from the first event it missed. */
    'v1/webhooks/{id}/resume': { takes: { readonly id: string }; gives: WebhookEndpoint };
    /** Sends a test event to a webhook endpoint. */
    'v1/webhooks/{id}/test': {
      takes: { readonly id: string };
      gives: {
        readonly sent: true;
      };
    };
    /** Sends events again: one, those of a transaction, or those of a span of time. */
    'v1/webhooks/{id}/replay': {
      takes: { readonly id: string } & PostV1WebhooksIdReplayRequest;
      gives: {
        /** Events that go out again */
        readonly replayed: number;
        /** There are more: ask again */
        readonly hasMore: boolean;
      };
    };
    /** Sandbox: brings the verification of a person to a status. */
    'test/changeKycStatus': {
      takes: PostTestChangeKycStatusRequest;
      gives: {
        readonly changeStatus: true;
        /** A sentence that names the status */
        readonly message: string;
      };
    };
    /** Sandbox: brings the verification of a business to a status. */
    'test/changeKybStatus': {
      takes: PostTestChangeKybStatusRequest;
      gives: {
        readonly changeStatus: true;
        /** A sentence that names the status */
        readonly message: string;
      };
    };
    /** Sandbox: drives a sale to a status, by causing the facts that lead there. */
    'test/changeOfframpStatus': {
      takes: PostTestChangeOfframpStatusRequest;
      gives: {
        readonly changeStatus: true;
        /** A sentence that names the status */
        readonly message: string;
      };
    };
    /** Sandbox: drives a purchase to a status, by causing the facts that lead there. */
    'test/changeOnrampStatus': {
      takes: PostTestChangeOnrampStatusRequest;
      gives: {
        readonly changeStatus: true;
        /** A sentence that names the status */
        readonly message: string;
      };
    };
    /** Sandbox: the customer pays an order, on its chain or by bank. The same Idempotency-Key pays once. */
    'sandbox/v1/pay': {
      takes: PostSandboxV1PayRequest;
      gives: {
        /** What the rail calls each payment */
        readonly payments: readonly string[];
      };
    };
    /** Sandbox: money comes to our bank for an order, as its payer wrote it. The same Idempotency-Key pays once. */
    'sandbox/v1/credit': {
      takes: PostSandboxV1CreditRequest;
      gives: {
        /** Line at the bank */
        readonly line: string;
      };
    };
    /** Sandbox: the payer's bank takes a credit back. */
    'sandbox/v1/recall': {
      takes: PostSandboxV1RecallRequest;
      gives: {
        /** Line at the bank by which the credit is taken back */
        readonly line: string;
      };
    };
    /** Sandbox: what was paid to an account comes back, before or after it arrived. */
    'sandbox/v1/bounce': {
      takes: PostSandboxV1BounceRequest;
      gives: {
        /** Payment that comes back */
        readonly payment: string;
      };
    };
    /** Sandbox: drives an order to a status by causing the facts that lead there; it runs on by itself. */
    'sandbox/v1/status': {
      takes: PostSandboxV1StatusRequest;
      gives: {
        /** Number of the status that the order is driven to */
        readonly status: number;
        /** Its word */
        readonly word: string;
      };
    };
    /** Sandbox: screening holds the order as if its destination were denied, until a person releases it; or no longer. */
    'sandbox/v1/screening': {
      takes: PostSandboxV1ScreeningRequest;
      gives: {
        /** List that holds the destination */
        readonly list: string;
      };
    };
    /** Sandbox: your due times come nearer: deadlines, locked rates and quotes, waits, clearing, attempts of webhooks. */
    'sandbox/v1/clock': {
      takes: PostSandboxV1ClockRequest;
      gives: {
        /** Orders whose due times moved */
        readonly orders: number;
        /** Quotes whose end moved */
        readonly quotes: number;
        /** Deliveries of webhooks whose next attempt moved */
        readonly deliveries: number;
      };
    };
    /** Sandbox: the newest blocks of a chain are replaced by empty ones; transfers of ours and of simulated customers are sent again. */
    'sandbox/v1/reorg': {
      takes: PostSandboxV1ReorgRequest;
      gives: {
        /** The chain */
        readonly chain: string;
        /** Blocks that were replaced */
        readonly blocks: number;
      };
    };
    /** Sandbox: the bank's next calls go wrong. */
    'sandbox/v1/bank': {
      takes: PostSandboxV1BankRequest;
      gives: {
        /** What goes wrong */
        readonly fault: string;
        /** How often */
        readonly times: number;
      };
    };
    /** Sandbox: the price of a coin is what you say, until you say otherwise or the server restarts. */
    'sandbox/v1/prices': {
      takes: PostSandboxV1PricesRequest;
      gives: {
        /** Coin and fiat */
        readonly pair: string;
        /** Fiat for one coin; null where the table decides again */
        readonly price: string | null;
      };
    };
    /** Sandbox: the operator's money of a currency runs dry (it is set aside in the books), or is brought anew. */
    'sandbox/v1/treasury': {
      takes: PostSandboxV1TreasuryRequest;
      gives: {
        /** Code of the asset */
        readonly asset: string;
        /** What may be paid out, in that currency */
        readonly available: string;
      };
    };
    /** Sandbox: deliveries fail as if every receiver were down, until you say otherwise or the server restarts. */
    'sandbox/v1/webhooks': {
      takes: PostSandboxV1WebhooksRequest;
      gives: {
        /** What becomes of deliveries */
        readonly webhooks: 'dropped' | 'delivered';
      };
    };
  };
  put: {
    /** Names where money of a sale goes back to, or where a payout that came back is paid again. */
    'offramp/refundDestination': { takes: PutOfframpRefundDestinationRequest; gives: NamedDestination };
    /** Keeps the reference that the customer’s bank gave the transfer. */
    'onramp/referenceId': {
      takes: PutOnrampReferenceIdRequest;
      gives: {
        /** Number of the transaction */
        readonly transactionId: string;
        /** The reference, as it was sent */
        readonly referenceId: string;
      };
    };
    /** Names where money of a purchase goes back to, or where a payout that came back is paid again. */
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
    'sandbox/v1/status': ['/sandbox/v1/status', 'unsafe'],
    'sandbox/v1/screening': ['/sandbox/v1/screening', 'unsafe'],
    'sandbox/v1/clock': ['/sandbox/v1/clock', 'unsafe'],
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
  /** Sandbox: the customer pays an order, on its chain or by bank. The same Idempotency-Key pays once. */
  pay(
    takes: PostSandboxV1PayRequest,
    options?: CallOptions,
  ): Promise<{
    /** What the rail calls each payment */
    readonly payments: readonly string[];
  }>;
  /** Sandbox: money comes to our bank for an order, as its payer wrote it. The same Idempotency-Key pays once. */
  credit(
    takes: PostSandboxV1CreditRequest,
    options?: CallOptions,
  ): Promise<{
    /** Line at the bank */
    readonly line: string;
  }>;
  /** Sandbox: the payer's bank takes a credit back. */
  recall(
    takes: PostSandboxV1RecallRequest,
    options?: CallOptions,
  ): Promise<{
    /** Line at the bank by which the credit is taken back */
    readonly line: string;
  }>;
  /** Sandbox: what was paid to an account comes back, before or after it arrived. */
  bounce(
    takes: PostSandboxV1BounceRequest,
    options?: CallOptions,
  ): Promise<{
    /** Payment that comes back */
    readonly payment: string;
  }>;
  /** Sandbox: drives an order to a status by causing the facts that lead there; it runs on by itself. */
  status(
    takes: PostSandboxV1StatusRequest,
    options?: CallOptions,
  ): Promise<{
    /** Number of the status that the order is driven to */
    readonly status: number;
    /** Its word */
    readonly word: string;
  }>;
  /** Sandbox: screening holds the order as if its destination were denied, until a person releases it; or no longer. */
  screening(
    takes: PostSandboxV1ScreeningRequest,
    options?: CallOptions,
  ): Promise<{
    /** List that holds the destination */
    readonly list: string;
  }>;
  /** Sandbox: your due times come nearer: deadlines, locked rates and quotes, waits, clearing, attempts of webhooks. */
  clock(
    takes: PostSandboxV1ClockRequest,
    options?: CallOptions,
  ): Promise<{
    /** Orders whose due times moved */
    readonly orders: number;
    /** Quotes whose end moved */
    readonly quotes: number;
    /** Deliveries of webhooks whose next attempt moved */
    readonly deliveries: number;
  }>;
  /** Sandbox: the newest blocks of a chain are replaced by empty ones; transfers of ours and of simulated customers are sent again. */
  reorg(
    takes: PostSandboxV1ReorgRequest,
    options?: CallOptions,
  ): Promise<{
    /** The chain */
    readonly chain: string;
    /** Blocks that were replaced */
    readonly blocks: number;
  }>;
  /** Sandbox: the bank's next calls go wrong. */
  bank(
    takes: PostSandboxV1BankRequest,
    options?: CallOptions,
  ): Promise<{
    /** What goes wrong */
    readonly fault: string;
    /** How often */
    readonly times: number;
  }>;
  /** Sandbox: the price of a coin is what you say, until you say otherwise or the server restarts. */
  prices(
    takes: PostSandboxV1PricesRequest,
    options?: CallOptions,
  ): Promise<{
    /** Coin and fiat */
    readonly pair: string;
    /** Fiat for one coin; null where the table decides again */
    readonly price: string | null;
  }>;
  /** Sandbox: the operator's money of a currency runs dry (it is set aside in the books), or is brought anew. */
  treasury(
    takes: PostSandboxV1TreasuryRequest,
    options?: CallOptions,
  ): Promise<{
    /** Code of the asset */
    readonly asset: string;
    /** What may be paid out, in that currency */
    readonly available: string;
  }>;
  /** Sandbox: deliveries fail as if every receiver were down, until you say otherwise or the server restarts. */
  webhooks(
    takes: PostSandboxV1WebhooksRequest,
    options?: CallOptions,
  ): Promise<{
    /** What becomes of deliveries */
    readonly webhooks: 'dropped' | 'delivered';
  }>;
}

import type { CallOptions } from '../http.ts';

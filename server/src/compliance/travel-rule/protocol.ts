/**
 * The contract of a travel rule protocol: how two providers tell each other who sends coins and who receives them. Each is one
 * folder in protocols/ with its adapter (base/adapter.ts), and one line in registry.ts (docs/adding-a-travel-rule-protocol.md).
 *
 * Three messages: an inquiry from the provider that sends the coins, its resolution by the one that receives them, and a
 * confirmation once the coins have moved. A protocol writes and reads them and makes single requests; it keeps no state and
 * decides nothing (exchange.ts, inbound.ts do). Its errors contain no part of a message and no secret URL.
 */
import type { Http } from '../../base/http.ts';
import type { Ivms } from './ivms.ts';

export interface Inquiry {
  /** Our code of the asset. */
  readonly asset: string;
  /** In whole coins, as decimal text. */
  readonly amount: string;
  /** Where the resolution is sent, unless it is in the response. */
  readonly callback: string;
  readonly ivms: Ivms;
}

export type Resolution =
  /** The other provider decides later, and posts to the callback. */
  | { readonly outcome: 'pending' }
  /** @param callback where the confirmation is sent */
  | { readonly outcome: 'approved'; readonly address: string; readonly callback: string }
  | { readonly outcome: 'rejected'; readonly reason: string };

/** The transfer's id on its chain, or why there is no transfer. */
export type Confirmation = { readonly tx: string } | { readonly canceled: string };

/** An inbound request. */
export interface Call {
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: Buffer;
}

export interface Message {
  readonly url: string;
  /** The same for all messages about one transfer. */
  readonly requestId: string;
  readonly body: string;
}

/** What is wrong with a message, as a sentence that quotes none of its content. */
export class Misread extends Error {
  override name = 'Misread';
}

export interface TravelProtocol {
  /** Stored in rows and part of our addresses, so it never changes. */
  readonly code: string;
  /** Whether the protocol has a name for this asset. */
  names(asset: string): boolean;
  /** The travel address that a customer passes on, made from one of our URLs. */
  addressOf(url: string): string;
  /** The URL of a travel address; undefined for any other text. */
  urlOf(address: string): string | undefined;

  writeInquiry(inquiry: Inquiry): string;
  writeResolution(resolution: Exclude<Resolution, { outcome: 'pending' }>): string;
  writeConfirmation(confirmation: Confirmation): string;
  /** @throws Misread */
  readInquiry(call: Call): Inquiry & { readonly requestId: string };
  /** @throws Misread */
  readResolution(call: Call): Resolution;
  /** @throws Misread */
  readConfirmation(call: Call): Confirmation;
  /** Headers of our reply to a call, and its body when we decide later. */
  replyTo(call: Call): { readonly headers: Readonly<Record<string, string>>; readonly pending: string };

  /** Sends an inquiry to another provider. @throws Unavailable also for an unreadable answer */
  inquire(message: Message): Promise<Resolution>;
  /** Sends a resolution or a confirmation. @returns false when the other provider knows of no such transfer. @throws Unavailable */
  tell(message: Message): Promise<boolean>;
}

/** What an installation passes to a protocol besides its settings. */
export interface TravelContext {
  readonly ask: Http;
  /** Maximum time to wait for an answer. */
  readonly deadlineMs: number;
  /** True in a sandbox: addresses of this machine are called without TLS. */
  readonly plain: boolean;
}

/**
 * The contract of a travel rule protocol: how two providers tell each other who sends coins and who receives them. Each is one
 * folder in protocols/ with its adapter (base/adapter.ts), and one line in registry.ts (docs/adding-a-travel-rule-protocol.md).
 *
 * Three messages: an inquiry from the provider that sends the coins, its resolution by the one that receives them, and a
 * confirmation once the coins have moved. A protocol writes and reads them and makes one request; it keeps no state and decides
 * nothing (exchange.ts, inbound.ts). No error of it contains a byte of a message, or an address that is a secret.
 */
import type { Http } from '../../base/http.ts';
import type { Ivms } from './ivms.ts';

export interface Inquiry {
  /** Our code of the asset. */
  readonly asset: string;
  /** In whole coins, as decimal text. */
  readonly amount: string;
  /** Where the resolution is sent to, unless it is the answer. */
  readonly callback: string;
  readonly ivms: Ivms;
}

export type Resolution =
  /** It is decided later, and sent to the callback. */
  | { readonly outcome: 'pending' }
  /** @param callback where the confirmation is sent to */
  | { readonly outcome: 'approved'; readonly address: string; readonly callback: string }
  | { readonly outcome: 'rejected'; readonly reason: string };

/** The transfer's name on its chain, or why there is none. */
export type Confirmation = { readonly tx: string } | { readonly canceled: string };

/** A request that came in. */
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

/** What is wrong with a message, as a sentence without any of its content. */
export class Misread extends Error {
  override name = 'Misread';
}

export interface TravelProtocol {
  /** Stored in rows and part of our addresses, so it never changes. */
  readonly code: string;
  /** Whether it has a name for this asset. */
  names(asset: string): boolean;
  /** The address that a customer passes on, of a URL of ours. */
  addressOf(url: string): string;
  /** The URL to ask; undefined for another text. */
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
  /** Of our reply to a call, and its body when we decide later. */
  replyTo(call: Call): { readonly headers: Readonly<Record<string, string>>; readonly pending: string };

  /** Asks another provider. @throws Unavailable also for an answer that cannot be read */
  inquire(message: Message): Promise<Resolution>;
  /** Sends a resolution or a confirmation. @returns false when the other provider knows of no such transfer. @throws Unavailable */
  tell(message: Message): Promise<boolean>;
}

/** What an installation gives to a protocol beside its settings. */
export interface TravelContext {
  readonly ask: Http;
  /** How long it waits for an answer. */
  readonly deadlineMs: number;
  /** In a sandbox, addresses of this machine are called without TLS. */
  readonly plain: boolean;
}

/** Formats: how an event is represented for a receiver. A format turns data into a message; it sends nothing. */
import type { Vault } from '../base/crypto.ts';
import { openTexts } from '../base/texts.ts';
import type { EventRow } from './store.ts';

/** An event as formats see it. */
export interface Happened {
  /** Our id, which never changes: the same in every attempt, every replay and in the feed. */
  readonly id: string;
  readonly partnerId: bigint;
  /** Position among the partner's events, from 1. */
  readonly position: bigint;
  readonly type: string;
  readonly subject: string;
  /** Position among the subject's events, from 1. */
  readonly sequence: number;
  readonly body: Readonly<Record<string, unknown>>;
  readonly at: Date;
}

export interface Message {
  readonly headers: Readonly<Record<string, string>>;
  /** JSON text. */
  readonly body: string;
}

/** Signing data of an endpoint. Secrets are decrypted only for signing. */
export interface Signing {
  /** The endpoint's own secrets, newest first: two during a rotation. */
  readonly secrets: readonly string[];
  readonly apiKey: string;
  /** Number of earlier attempts of this delivery. */
  readonly attempt: number;
  /** Real time, not the movable clock's: a receiver compares it with its own. */
  readonly sentAt: Date;
  /** How a signed header carries the body, in the formats that have one. */
  readonly payloadForm: PayloadForm;
}

export interface Format {
  /** Whether the format has a message for this event, given the subject's earlier events, oldest first. */
  concerns(event: Happened, earlier: readonly Happened[]): boolean;
  /** @returns 'no_word' if the format has no message for such an event, 'no_key' if the API key that signs is gone */
  message(event: Happened, signing: Signing): Promise<Message | 'no_word' | 'no_key'>;
}

export type FormatName = 'whitelabel' | 'flat' | 'standard';
/** `body`: base64 of the exact body. `wrapped`: base64 of `{timestamp, body}`, for receivers written for that. */
export type PayloadForm = 'body' | 'wrapped';
export type Formats = Readonly<Record<FormatName, Format>>;

/** An event of this type goes only to the endpoint that is its subject. */
export const TEST_EVENT = 'webhook.test';
/** Sent to a partner's other endpoints when one was switched off. */
export const OFF_EVENT = 'webhook.switched_off';
export const endpointSubject = (endpointId: string): string => `webhook:${endpointId}`;

export const eventIdOf = (e: { partnerId: bigint; position: bigint }): string => `evt_${e.partnerId}_${e.position}`;

export const happened = (row: EventRow): Happened => ({
  id: eventIdOf(row),
  partnerId: row.partnerId,
  position: row.position,
  type: row.type,
  subject: row.subject,
  sequence: row.subjectSeq,
  body: row.body,
  at: row.at,
});

/** The event with the partner's texts decrypted. To be sent only to that partner. */
export const opened = (vault: Vault, event: Happened): Happened => ({
  ...event,
  body: openTexts(vault, event.partnerId, event.body),
});

/** `order.settled` matches the filters `order.settled` and `order.*`, and an empty filter. */
export const wanted = (filter: readonly string[], type: string): boolean =>
  filter.length === 0 ||
  filter.some((one) => one === type || (one.endsWith('.*') && type.startsWith(one.slice(0, -1))));

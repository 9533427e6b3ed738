/**
 * Code senders: how a one-time code reaches a phone. The sandbox's code is known; production passes codes to the operator's
 * text message provider (sender.webhook.ts), and does not start without one. registry.ts lists the senders.
 */
import { randomInt } from 'node:crypto';
import { adapter } from '../../base/adapter.ts';
import { Unavailable } from '../../base/errors.ts';

export interface CodeSender {
  /** Creates the next code, six digits. Absent for random codes; only the sandbox uses fixed ones. */
  readonly nextCode?: () => string;
  /** The code, shown on the page if it is not secret. */
  readonly hint?: string;
  /** @throws Unavailable when the message could not be submitted */
  sendCode(phone: string, code: string): Promise<void>;
}

/** Six digits, each of the million equally likely. */
export const randomCode = (): string => String(randomInt(1_000_000)).padStart(6, '0');

export const SANDBOX_CODE = '123456';
/** The sandbox cannot reach a phone number with this ending. */
export const SANDBOX_DEAD_PHONE = '000404';

/** Sends nothing: the code is known. Production never uses it. */
export const sandboxSender: CodeSender = {
  nextCode: () => SANDBOX_CODE,
  hint: SANDBOX_CODE,
  async sendCode(phone) {
    if (phone.replaceAll(/[^0-9]/g, '').endsWith(SANDBOX_DEAD_PHONE))
      throw new Unavailable('sandbox phones', 'this number cannot be reached');
  },
};

export const knownCodes = adapter({
  code: 'known',
  about: 'Sends nothing: every code is 123456, and the page says so',
  sandboxOnly: 'its codes are public',
  settings: {},
  create: () => sandboxSender,
});

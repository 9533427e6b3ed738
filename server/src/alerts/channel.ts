/**
 * Channel: a way to notify people, declared as an adapter (base/adapter.ts) and listed in registry.ts.
 *
 * It sends the content of the message's row only: ids, kinds, times and a link. It sends once; the caller retries under the same
 * id. A channel whose receiver recognises that id shows a repeated message once.
 */
import { Unavailable } from '../base/errors.ts';
import { ask, NoAnswer } from '../base/http.ts';

export interface Message {
  /** The same at every attempt. */
  readonly id: string;
  readonly title: string;
  readonly lines: readonly string[];
  /** Page of the console; null when its address is not known. */
  readonly link: string | null;
  /** Whether it should wake someone up; a digest and a test do not. */
  readonly isUrgent: boolean;
}

export interface Channel {
  readonly code: string;
  /**
   * @throws Unavailable when the message was not accepted. The error text contains nothing of the answer, the address or a
   * secret
   */
  send(message: Message): Promise<void>;
}

/** What an installation passes to a channel besides its settings. */
export interface ChannelContext {
  /** Maximum time to wait for the receiver. */
  readonly deadlineMs: number;
}

/** One POST of JSON; any 2xx means accepted. @throws Unavailable */
export async function post(
  source: string,
  request: { url: string; body: string; headers?: Readonly<Record<string, string>>; deadlineMs: number },
): Promise<void> {
  let status: number;
  try {
    const answer = await ask({
      url: request.url,
      method: 'POST',
      headers: { 'content-type': 'application/json', ...request.headers },
      body: request.body,
      deadline: AbortSignal.timeout(request.deadlineMs),
      longestBytes: 0,
      wants: () => 'none',
    });
    status = answer.status;
  } catch (error) {
    throw new Unavailable(source, error instanceof NoAnswer ? error.message : 'it did not answer');
  }
  if (status < 200 || status > 299) throw new Unavailable(source, `it answered ${status}`);
}

/** The message as plain text. */
export const textOf = ({ lines, link }: Message): string => [...lines, ...(link === null ? [] : ['', link])].join('\n');

/** One HTTP call to a bank, in JSON, with the guarantees of base/http.ts: above all, no layer sends a request twice by itself. */
import { defined } from '../base/defined.ts';
import { Unavailable } from '../base/errors.ts';
import { ask, NoAnswer } from '../base/http.ts';

const LONGEST_ANSWER = 4 * 1024 * 1024;

export interface Call {
  method: 'GET' | 'POST';
  url: string;
  headers?: Readonly<Record<string, string>>;
  /** Sent as JSON. */
  body?: unknown;
  deadlineMs: number;
}

export interface Answer {
  status: number;
  body: unknown;
}

/**
 * @param source name of the bank in errors: the rail's code
 * @throws Unavailable without a complete, readable answer: the call may or may not have had an effect
 */
export async function callOnce(source: string, call: Call): Promise<Answer> {
  const deadline = AbortSignal.timeout(Math.max(1, Math.floor(call.deadlineMs)));
  const body = call.body === undefined ? undefined : JSON.stringify(call.body);
  try {
    const answer = await ask({
      url: call.url,
      method: call.method,
      headers: {
        accept: 'application/json',
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...call.headers,
      },
      ...defined({ body }),
      deadline,
      longestBytes: LONGEST_ANSWER,
    });
    const text = answer.body.toString('utf8');
    return { status: answer.status, body: text === '' ? undefined : JSON.parse(text) };
  } catch (error) {
    throw new Unavailable(source, whyNot(error, call.deadlineMs), { cause: error });
  }
}

/** Only the kind of the error, because messages of parsers quote what they parsed. */
function whyNot(error: unknown, deadlineMs: number): string {
  if (!(error instanceof NoAnswer)) return 'answer is not JSON';
  if (error.why === 'late') return `no answer within ${Math.floor(deadlineMs)} ms`;
  return error.code ?? error.message;
}

/**
 * One call to a bank over HTTP, in JSON: what base/http.ts promises, above all that nothing underneath ever sends a request a
 * second time on its own.
 */
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
 * @param source how errors call the other side: the rail's code
 * @throws Unavailable whenever there is no whole, readable answer: whether the call had an effect is then not known
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
      ...(body === undefined ? {} : { body }),
      deadline,
      longestBytes: LONGEST_ANSWER,
    });
    const text = answer.body.toString('utf8');
    return { status: answer.status, body: text === '' ? undefined : JSON.parse(text) };
  } catch (error) {
    throw new Unavailable(source, whyNot(error, call.deadlineMs), { cause: error });
  }
}

/** Of what went wrong, only the kind: messages of parsers quote what they parsed. */
function whyNot(error: unknown, deadlineMs: number): string {
  if (!(error instanceof NoAnswer)) return 'answer is not JSON';
  if (error.why === 'late') return `no answer within ${Math.floor(deadlineMs)} ms`;
  return error.code ?? error.message;
}

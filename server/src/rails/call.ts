/**
 * One call to a bank over HTTP: one try, one deadline for all of it, a bound on the answer, no redirects.
 *
 * Made on node:http and not on fetch, because of the one promise that matters for payments: nothing underneath ever sends
 * a request a second time on its own.
 */
import { request as httpRequest } from 'node:http';
import { request as httpsRequest } from 'node:https';
import { Unavailable } from '../base/errors.ts';

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
  const signal = AbortSignal.timeout(Math.max(1, Math.floor(call.deadlineMs)));
  const body = call.body === undefined ? undefined : Buffer.from(JSON.stringify(call.body));
  try {
    const { status, text } = await exchange(call, body, signal);
    return { status, body: text === '' ? undefined : JSON.parse(text) };
  } catch (error) {
    const why = signal.aborted ? `no answer within ${Math.floor(call.deadlineMs)} ms` : codeOf(error);
    throw new Unavailable(source, why, { cause: error });
  }
}

function exchange(
  call: Call,
  body: Buffer | undefined,
  signal: AbortSignal,
): Promise<{ status: number; text: string }> {
  const send = new URL(call.url).protocol === 'https:' ? httpsRequest : httpRequest;
  const headers = {
    accept: 'application/json',
    ...(body === undefined ? {} : { 'content-type': 'application/json', 'content-length': body.length }),
    ...call.headers,
  };
  return new Promise((resolve, reject) => {
    const request = send(call.url, { method: call.method, headers, signal }, (response) => {
      const chunks: Buffer[] = [];
      let size = 0;
      response.on('data', (chunk: Buffer) => {
        size += chunk.length;
        if (size > LONGEST_ANSWER) response.destroy(new Error('answer too long'));
        else chunks.push(chunk);
      });
      response.on('error', reject);
      response.on('end', () => {
        // A connection cut in the middle ends as `aborted`, which `error` tells; a length not kept is not complete.
        if (response.complete)
          resolve({ status: response.statusCode ?? 0, text: Buffer.concat(chunks).toString('utf8') });
        else reject(new Error('answer cut short'));
      });
    });
    request.on('error', reject);
    request.end(body);
  });
}

/** Of what went wrong, only the kind: messages of parsers quote what they parsed. */
function codeOf(error: unknown): string {
  const { code, message } = error as { code?: string; message?: string };
  if (error instanceof SyntaxError) return 'answer is not JSON';
  return code ?? message ?? 'call failed';
}

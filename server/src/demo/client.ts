/**
 * A minimal partner program: signs, calls, unwraps. It imports nothing of the server.
 *
 * While the server restarts it waits; an order is created under one idempotency key, so after a lost reply the request is
 * repeated without making a second order.
 */
import { createHmac, randomUUID } from 'node:crypto';

export interface Partner {
  name: string;
  apiKey: string;
  apiSecret: string;
}

const PATIENCE_MS = 60_000;
const DEADLINE_MS = 15_000;

export function partnerClient(baseUrl: string, partner: Partner) {
  return async function call<T = Record<string, string>>(
    path: string,
    body: Record<string, string>,
    method: 'POST' | 'GET' | 'DELETE' = 'POST',
  ): Promise<T> {
    const idempotencyKey = randomUUID();
    const giveUpAt = Date.now() + PATIENCE_MS;
    for (;;) {
      try {
        return await once<T>(method, path, body, idempotencyKey);
      } catch (error) {
        const passing = !(error instanceof WireError) || error.code >= 500 || error.code === 409;
        if (!passing || Date.now() > giveUpAt) throw error;
        await new Promise((wake) => setTimeout(wake, 250));
      }
    }
  };

  async function once<T>(
    method: string,
    path: string,
    body: Record<string, string>,
    idempotencyKey: string,
  ): Promise<T> {
    const payload = Buffer.from(JSON.stringify({ body, timestamp: String(Date.now()) })).toString('base64');
    const signature = createHmac('sha512', partner.apiSecret).update(payload).digest('hex');
    const response = await fetch(baseUrl + path, {
      method,
      headers: {
        'content-type': 'application/json',
        'x-onramp-apikey': partner.apiKey,
        'x-onramp-payload': payload,
        'x-onramp-signature': signature,
        'idempotency-key': idempotencyKey,
      },
      ...(method === 'GET' ? {} : { body: JSON.stringify(body) }),
      signal: AbortSignal.timeout(DEADLINE_MS),
    });
    const reply = (await response.json()) as { data: T; code: number; error?: string };
    if (!response.ok) throw new WireError(path, response.status, reply.error ?? 'no sentence');
    return reply.data;
  }
}

export class WireError extends Error {
  readonly code: number;
  constructor(path: string, code: number, sentence: string) {
    super(`${path} answered ${code}: ${sentence}`);
    this.code = code;
  }
}

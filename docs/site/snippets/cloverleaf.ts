// call(method, path, body): signs a request, sends it and answers its `data`. No packages. Node 22.18 or newer runs it as it is.
import { createHmac } from 'node:crypto';

const { CLOVERLEAF_URL = '', CLOVERLEAF_KEY = '', CLOVERLEAF_SECRET = '' } = process.env;

type Data = Record<string, string>;

export async function call<T = Data>(method: string, path: string, body: Record<string, unknown> = {}): Promise<T> {
  // A GET has no body: it is signed over {}.
  const signed = JSON.stringify({ body: method === 'GET' ? {} : body, timestamp: String(Date.now()) });
  const payload = Buffer.from(signed).toString('base64');
  const signature = createHmac('sha512', CLOVERLEAF_SECRET).update(payload).digest('hex');
  const response = await fetch(CLOVERLEAF_URL + path, {
    method,
    headers: { 'content-type': 'application/json', apiKey: CLOVERLEAF_KEY, payload, signature },
    ...(method === 'GET' ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(30_000),
  });
  const reply = (await response.json()) as { code: number; reason: string; error: string; data: T };
  if (!response.ok) throw new Error(`${path}: ${reply.code} ${reply.reason}: ${reply.error}`);
  return reply.data;
}

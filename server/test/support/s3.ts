/**
 * A store that speaks as much of the S3 protocol as the program needs, in memory, and strictly: it computes each signature from the
 * request as it came, and refuses one that is wrong, late, or does not cover its body.
 *
 * https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html,
 * https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html
 */
import { createHash, createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export const S3_KEYS = { accessKey: 'AKIDTEST', secretKey: 'secret/of+the test' };
const REGION = 'eu-test-1';
const LATE_MS = 15 * 60_000;

export interface TestS3 {
  bucket: { endpoint: string; region: string; bucket: string; prefix: string; accessKey: string; secretKey: string };
  objects: Map<string, { body: Buffer; at: Date }>;
  /** Names a page of a listing has at most. */
  pageSize: number;
  /** Answers the next requests instead, one each. */
  instead: { status: number; body: string }[];
  how: 'right' | 'dark';
  stop(): Promise<void>;
}

export async function startS3(): Promise<TestS3> {
  const objects: TestS3['objects'] = new Map();
  const server = createServer((request, response) => {
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      if (here.how === 'dark') return;
      const body = Buffer.concat(parts);
      const other = here.instead.shift();
      const { status, body: said } = other ?? answer(request.method ?? '', request.url ?? '', request.headers, body);
      response.writeHead(status, { 'content-type': 'application/xml' }).end(said);
    });
  });
  await new Promise<void>((up) => server.listen(0, '127.0.0.1', up));
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const error = (status: number, code: string) => ({
    status,
    body: `<Error><Code>${code}</Code></Error>` as string | Buffer,
  });

  function answer(
    method: string,
    url: string,
    headers: Readonly<Record<string, string | string[] | undefined>>,
    body: Buffer,
  ): { status: number; body: string | Buffer } {
    const fault = faultOf(method, url, headers, body);
    if (fault !== undefined) return error(403, fault);
    const { pathname, searchParams } = new URL(url, endpoint);
    const [, bucket, ...rest] = pathname.split('/').map(decodeURIComponent);
    if (bucket !== here.bucket.bucket) return error(404, 'NoSuchBucket');
    const name = rest.join('/');
    if (name === '' && method === 'GET' && searchParams.get('list-type') === '2')
      return { status: 200, body: page(searchParams) };
    if (name === '') return error(400, 'InvalidRequest');
    if (method === 'PUT') objects.set(name, { body, at: new Date() });
    if (method === 'PUT') return { status: 200, body: '' };
    if (method === 'DELETE') objects.delete(name);
    if (method === 'DELETE') return { status: 204, body: '' };
    const found = objects.get(name);
    return found === undefined ? error(404, 'NoSuchKey') : { status: 200, body: found.body };
  }

  function page(asked: URLSearchParams): string {
    const names = [...objects.keys()].filter((name) => name.startsWith(asked.get('prefix') ?? '')).sort();
    const from = Number(asked.get('continuation-token') ?? 0);
    const shown = names.slice(from, from + here.pageSize);
    const isMore = from + here.pageSize < names.length;
    return `<?xml version="1.0" encoding="UTF-8"?>
<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/"><Name>${here.bucket.bucket}</Name><Prefix/><KeyCount>${shown.length}</KeyCount>
<IsTruncated>${isMore}</IsTruncated>${isMore ? `<NextContinuationToken>${from + here.pageSize}</NextContinuationToken>` : ''}
${shown.map((name) => `<Contents><Key>${name}</Key><LastModified>${objects.get(name)?.at.toISOString()}</LastModified><ETag>&quot;x&quot;</ETag><Size>1</Size></Contents>`).join('')}
</ListBucketResult>`;
  }

  const here: TestS3 = {
    bucket: { endpoint, region: REGION, bucket: 'kept-files', prefix: 'a shop/', ...S3_KEYS },
    ...{ objects, pageSize: 1_000, instead: [], how: 'right' as const },
    async stop() {
      server.closeAllConnections();
      await new Promise((down) => server.close(down));
    },
  };
  return here;
}

const sha256 = (bytes: Buffer | string): string => createHash('sha256').update(bytes).digest('hex');
const hmac = (key: Buffer | string, text: string): Buffer => createHmac('sha256', key).update(text).digest();

/** From the request as it came on the wire. */
function faultOf(
  method: string,
  url: string,
  headers: Readonly<Record<string, string | string[] | undefined>>,
  body: Buffer,
): string | undefined {
  const form =
    /^AWS4-HMAC-SHA256 Credential=([^/]+)\/(\d{8})\/([^/]+)\/s3\/aws4_request, ?SignedHeaders=([a-z0-9;-]+), ?Signature=([0-9a-f]{64})$/;
  const [, key, day = '', region = '', names = '', signature] = form.exec(String(headers.authorization)) ?? [];
  const stamp = String(headers['x-amz-date']);
  const time = Date.parse(stamp.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/, '$1-$2-$3T$4:$5:$6Z'));
  if (key !== S3_KEYS.accessKey) return 'InvalidAccessKeyId';
  if (region !== REGION || !stamp.startsWith(day)) return 'AuthorizationHeaderMalformed';
  if (!(Math.abs(Date.now() - time) < LATE_MS)) return 'RequestTimeTooSkewed';
  if (!['host', 'x-amz-content-sha256', 'x-amz-date'].every((one) => names.split(';').includes(one)))
    return 'AccessDenied';
  if (headers['x-amz-content-sha256'] !== sha256(body)) return 'XAmzContentSHA256Mismatch';
  const [path = '', query = ''] = url.split('?');
  const canonical = [
    ...[method, path, query.split('&').sort().join('&')],
    ...names.split(';').map((name) => `${name}:${headers[name]}`),
    ...['', names, sha256(body)],
  ].join('\n');
  const scope = `${day}/${region}/s3/aws4_request`;
  const signing = hmac(hmac(hmac(hmac(`AWS4${S3_KEYS.secretKey}`, day), region), 's3'), 'aws4_request');
  const right = hmac(signing, `AWS4-HMAC-SHA256\n${stamp}\n${scope}\n${sha256(canonical)}`).toString('hex');
  return signature === right ? undefined : 'SignatureDoesNotMatch';
}

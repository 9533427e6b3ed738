/**
 * S3: blobs and the erasure list in a bucket of any store that speaks the S3 protocol, instead of a folder.
 *
 * Four requests are needed: PUT, GET, DELETE of an object, and ListObjectsV2. Each is signed by Signature Version 4 with the hash
 * of its body. The bucket is in the path, which every compatible store accepts. Each is tried once, with a deadline: the caller
 * knows whether a retry is harmless. No answer or an undocumented one throws Unavailable; the message has the status and no key.
 *
 * There is no SDK here, because the smallest one has some forty packages, its own retries and its own HTTP client. The signature
 * is tested with examples that AWS publishes.
 *
 * Surprise: a bucket with versioning keeps removed objects. Their content is encrypted with a key per customer that an erasure
 * deletes, so it cannot be read; but such a bucket grows until its own rules expire old versions.
 *
 * Sources: https://docs.aws.amazon.com/AmazonS3/latest/API/sig-v4-header-based-auth.html,
 * https://docs.aws.amazon.com/AmazonS3/latest/API/API_ListObjectsV2.html Not yet run against AWS itself.
 */
import { createHash, createHmac } from 'node:crypto';
import { SaxesParser } from 'saxes';
import { BLOB_ID, type Blobs } from './blobs.ts';
import { defined } from './defined.ts';
import { CUSTOMER_ID, type ErasureList } from './erasurelist.ts';
import { assert, Unavailable } from './errors.ts';
import { ask } from './http.ts';

export interface Bucket {
  /** Endpoint without the bucket, such as https://s3.eu-central-1.amazonaws.com */
  endpoint: string;
  region: string;
  bucket: string;
  /** Prefix of each object's name, such as `cloverleaf/`; may be empty. */
  prefix: string;
  accessKey: string;
  secretKey: string;
  deadlineMs?: number;
  /** Real time, whatever a sandbox's clock shows: a store rejects signatures with a wrong time. */
  realNow?: () => Date;
}

const CODE = 'files';
const DEADLINE_MS = 20_000;
/** The largest file is 5 MiB, and slightly more when encrypted. */
const LONGEST_OBJECT = 8 * 1024 * 1024;
/** A page of a thousand names is about 400 kB. */
const LONGEST_PAGE = 4 * 1024 * 1024;
/** Maximum pages of one listing: ten million objects. A store whose listing does not end is broken. */
const MOST_PAGES = 10_000;

type Method = 'GET' | 'PUT' | 'DELETE';

/** Customers' files in a bucket. */
export function openS3Blobs(bucket: Bucket): Blobs {
  const store = openStore(bucket);
  const nameOf = (id: string): string => {
    assert(BLOB_ID.test(id), 'the id of a blob is malformed');
    return `blobs/${id}`;
  };
  return {
    write: async (id, bytes) => await store.put(nameOf(id), bytes),
    read: async (id) => await store.get(nameOf(id)),
    async *olderThan(time, notBefore) {
      for await (const page of store.list('blobs/')) {
        const old = page.filter(({ at }) => at < time && (notBefore === undefined || at >= notBefore));
        const ids = old.map(({ name }) => name.slice('blobs/'.length)).filter((id) => BLOB_ID.test(id));
        if (ids.length > 0) yield ids;
      }
    },
    remove: async (id) => await store.remove(nameOf(id)),
  };
}

/** Ids of erased customers, each as an empty object: shared by all servers, and not touched by a restore. */
export function openS3List(bucket: Bucket): ErasureList {
  const store = openStore(bucket);
  return {
    async add(customerId) {
      assert(CUSTOMER_ID.test(customerId), 'the id of an erased customer is malformed');
      await store.put(`erased/${customerId}`, Buffer.alloc(0));
    },
    async all() {
      const ids: string[] = [];
      for await (const page of store.list('erased/')) ids.push(...page.map(({ name }) => name.slice('erased/'.length)));
      return ids.filter((id) => CUSTOMER_ID.test(id));
    },
  };
}

function openStore(bucket: Bucket) {
  const { prefix, deadlineMs = DEADLINE_MS, realNow = () => new Date() } = bucket;
  async function call(c: {
    method: Method;
    name?: string;
    query?: Readonly<Record<string, string>>;
    body?: Buffer;
    expects: readonly number[];
    longestBytes?: number;
  }): Promise<{ status: number; body: Buffer }> {
    const { method, query = {}, body = Buffer.alloc(0), expects, longestBytes = LONGEST_OBJECT } = c;
    const path = c.name === undefined ? `/${bucket.bucket}` : `/${bucket.bucket}/${prefix}${c.name}`;
    const { url, headers } = signed(bucket, { method, path, query, body, at: realNow() });
    const answer = await ask({
      ...{ url, method, headers, longestBytes, deadline: AbortSignal.timeout(deadlineMs) },
      ...(method === 'PUT' && { body }),
    }).catch(() => {
      throw new Unavailable(CODE, 'the store did not answer');
    });
    if (!expects.includes(answer.status)) throw new Unavailable(CODE, `the store answered ${answer.status}`);
    return answer;
  }
  return {
    async put(name: string, body: Buffer): Promise<void> {
      await call({ method: 'PUT', name, body, expects: [200] });
    },
    async get(name: string): Promise<Buffer | undefined> {
      const { status, body } = await call({ method: 'GET', name, expects: [200, 404] });
      if (status === 200) return body;
      // A missing bucket answers 404, too. That does not prove that the file is gone.
      if (body.includes('NoSuchBucket')) throw new Unavailable(CODE, 'the store has no such bucket');
      return undefined;
    },
    async remove(name: string): Promise<void> {
      await call({ method: 'DELETE', name, expects: [200, 204, 404] });
    },
    /** Names without the prefix, with their last modification, page by page. */
    async *list(under: string): AsyncIterable<{ name: string; at: Date }[]> {
      let token: string | undefined;
      for (let pages = 0; pages < MOST_PAGES; pages += 1) {
        const query = {
          ...{ 'list-type': '2', prefix: `${prefix}${under}` },
          ...defined({ 'continuation-token': token }),
        };
        const { body } = await call({ method: 'GET', query, expects: [200], longestBytes: LONGEST_PAGE });
        const page = readPage(body);
        yield page.objects
          .filter(({ name }) => name.startsWith(prefix))
          .map(({ name, at }) => ({ name: name.slice(prefix.length), at }));
        if (page.next === undefined) return;
        token = page.next;
      }
      throw new Unavailable(CODE, 'the store never ends a listing');
    },
  };
}

/** All or nothing: a page that cannot be parsed completely is rejected, because files are removed according to it. */
function readPage(body: Buffer): { objects: { name: string; at: Date }[]; next: string | undefined } {
  const objects: { name: string; at: Date }[] = [];
  const path: string[] = [];
  let [key, modified, text, next, truncated]: (string | undefined)[] = [];
  const parser = new SaxesParser();
  const bad = () => new Unavailable(CODE, 'the answer of the store is no listing');
  parser.on('error', () => {
    throw bad();
  });
  parser.on('doctype', () => {
    throw bad();
  });
  parser.on('opentag', ({ name }) => {
    path.push(name);
    text = '';
  });
  parser.on('text', (more) => (text = (text ?? '') + more));
  parser.on('closetag', () => {
    const at = path.join('/');
    if (at === 'ListBucketResult/Contents/Key') key = text;
    if (at === 'ListBucketResult/Contents/LastModified') modified = text;
    if (at === 'ListBucketResult/IsTruncated') truncated = text;
    if (at === 'ListBucketResult/NextContinuationToken') next = text;
    if (at === 'ListBucketResult/Contents') {
      const time = new Date(modified ?? '');
      if (key === undefined || Number.isNaN(time.getTime())) throw bad();
      objects.push({ name: key, at: time });
      key = undefined;
      modified = undefined;
    }
    path.pop();
  });
  parser.write(body.toString('utf8')).close();
  if (truncated !== 'true' && truncated !== 'false') throw bad();
  if (truncated === 'true' && (next === undefined || next === '')) throw bad();
  return { objects, next: truncated === 'true' ? next : undefined };
}

const sha256 = (bytes: Buffer | string): string => createHash('sha256').update(bytes).digest('hex');
const hmac = (key: Buffer | string, text: string): Buffer => createHmac('sha256', key).update(text).digest();
/** Percent-encoding of RFC 3986, which escapes more than encodeURIComponent. */
const escaped = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);

/** A request signed with Signature Version 4. Exported for a test with the examples that AWS publishes. */
export function signed(
  bucket: Pick<Bucket, 'endpoint' | 'region' | 'accessKey' | 'secretKey'>,
  r: {
    method: Method;
    path: string;
    query?: Readonly<Record<string, string>>;
    body: Buffer;
    at: Date;
    more?: Readonly<Record<string, string>>;
  },
): { url: string; headers: Record<string, string> } {
  const { host } = new URL(bucket.endpoint);
  const stamp = r.at.toISOString().replace(/[-:]|\.\d{3}/g, '');
  const day = stamp.slice(0, 8);
  const path = r.path.split('/').map(escaped).join('/');
  const query = Object.entries(r.query ?? {})
    .map(([name, value]) => `${escaped(name)}=${escaped(value)}`)
    .sort()
    .join('&');
  const headers: Record<string, string> = {
    ...r.more,
    host,
    'x-amz-content-sha256': sha256(r.body),
    'x-amz-date': stamp,
  };
  const names = Object.keys(headers).sort();
  const canonical = [
    ...[r.method, path, query],
    ...names.map((name) => `${name}:${headers[name]?.trim()}`),
    ...['', names.join(';'), headers['x-amz-content-sha256']],
  ].join('\n');
  const scope = `${day}/${bucket.region}/s3/aws4_request`;
  const key = ['s3', 'aws4_request'].reduce(
    (made, part) => hmac(made, part),
    hmac(hmac(`AWS4${bucket.secretKey}`, day), bucket.region),
  );
  const signature = hmac(key, ['AWS4-HMAC-SHA256', stamp, scope, sha256(canonical)].join('\n')).toString('hex');
  const authorization = `AWS4-HMAC-SHA256 Credential=${bucket.accessKey}/${scope},SignedHeaders=${names.join(';')},Signature=${signature}`;
  const { host: _said, ...sent } = headers;
  const url = `${bucket.endpoint}${path}${query === '' ? '' : `?${query}`}`;
  return { url, headers: { ...sent, authorization } };
}

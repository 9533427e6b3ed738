/**
 * A production installation as an operator sets it up before the first start, on loopback: chains file, bank file, limits of the
 * signer, and the environment that names them. Each test may change the part whose refusal it tests.
 */
import { createHmac, randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { randomHex } from '../../src/base/ids.ts';
import { keysOf, newPhrase, publicOf } from '../../src/signer/keys.ts';
import { freshFolder } from './folder.ts';
import type { SignerProcess } from './signer.ts';

export const PUBLIC_URL = 'https://ramp.example';
/** Fictitious account numbers with valid check digits. */
export const OWN_IBAN = 'DE89370400440532013000';
export const FUNDING_IBAN = 'FR1420041010050500013M02606';

type Json = Record<string, unknown>;

export const chainFile = (chain: Json): Json => ({
  code: 'base',
  chainId: '8453',
  native: 'eth',
  rpcUrls: ['https://node.example/v2/key'],
  finality: 3,
  maxGasPrice: '500000000000',
  tokens: [
    {
      coin: 'usdc',
      contract: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
      decimals: 6,
      confirmations: [{ fromUnits: '0', confirmations: 1 }],
      sweepFromUnits: '1000000',
    },
  ],
  ...chain,
});

export const bankFile = (): Json => ({
  accounts: [
    {
      asset: 'eur',
      currency: 'EUR',
      holder: 'Ramp Ltd',
      bank: 'Example Bank',
      iban: OWN_IBAN,
      bic: 'EXMPDEFF',
      payoutFile: 'csv',
      fundingAccounts: [FUNDING_IBAN],
      csv: {
        date: 'YYYY-MM-DD',
        columns: {
          bookedOn: 'day',
          amount: 'amount',
          text: ['text'],
          name: 'name',
          account: 'account',
          reference: 'id',
          balance: 'balance',
        },
      },
    },
  ],
});

/** An installation that can start, except for the changes of a test. `chain` and `bank` are the contents of the files. */
export function installation(change: { chain?: Json; bank?: Json; env?: NodeJS.ProcessEnv; folder?: string } = {}) {
  const folder = change.folder ?? freshFolder('production');
  const keys = keysOf(newPhrase());
  if (keys === undefined) throw new Error('a new phrase is a phrase');
  const { wallets, xpub } = publicOf(keys);
  const file = (name: string, content: unknown): string => {
    const path = join(folder, name);
    writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content), { mode: 0o600 });
    return path;
  };
  const chain = chainFile({ hotWallet: wallets.hot, xpub, ...change.chain });
  const env: NodeJS.ProcessEnv = {
    PROFILE: 'production',
    PORT: '0',
    DATA_DIR: join(folder, 'data'),
    DATABASE_URL: 'postgres://ramp@127.0.0.1:5432/ramp',
    MASTER_KEY_FILE: file('master.key', randomHex(32)),
    OPERATOR_TOKEN: randomHex(32),
    PUBLIC_URL,
    TRUSTED_PROXIES: '127.0.0.1',
    CHAINS_FILE: file('chains.json', { chains: [chain] }),
    MANUAL_BANK_FILE: file('bank.json', change.bank ?? bankFile()),
    SIGNER_ADDRESS: '/run/cloverleaf/signer.sock',
    SIGNER_SECRET: randomHex(32),
    SANCTIONS_LISTS: 'none',
    CODE_SENDER_URL: 'https://codes.example/send',
    CODE_SENDER_SECRET: randomHex(32),
    ...change.env,
  };
  return { folder, env, file };
}

/** The operator's cold wallet. */
export const COLD = `0x${'c0'.repeat(20)}`;

/** All pairs of a price in euro: they are requested in one call, and one that is not listed would fail the others. */
export const EURO_PRICES = {
  USDCEUR: { bid: '0.90', ask: '0.90' },
  USDCUSD: { bid: '1.0', ask: '1.0' },
  USDTZUSD: { bid: '1.0', ask: '1.0' },
  XETHZUSD: { bid: '3000', ask: '3000' },
  XETHZEUR: { bid: '2700', ask: '2700' },
};

/** The surroundings of an installation that really run on this machine: one chain with one token. */
export function onThisMachine(w: {
  database: { adminUrl: string };
  anvil: { chainId: bigint; url: string };
  token: string;
  signer: SignerProcess;
  hosts: { baseUrl: string };
  codes: CodeHost;
}) {
  const { database, anvil, token, signer, hosts, codes } = w;
  const confirmations = [{ fromUnits: '0', confirmations: 1 }];
  return {
    chain: {
      chainId: String(anvil.chainId),
      rpcUrls: [anvil.url],
      hotWallet: signer.expected.wallets.hot,
      xpub: signer.expected.xpub,
      fundedFrom: { cold: COLD },
      tokens: [{ coin: 'usdc', contract: token, decimals: 6, confirmations, sweepFromUnits: '1000000' }],
    },
    env: {
      DATABASE_URL: database.adminUrl,
      ALLOW_LOCAL_CHAINS: String(anvil.chainId),
      SIGNER_ADDRESS: signer.socket,
      SIGNER_SECRET: signer.secret,
      CODE_SENDER_URL: codes.url,
      CODE_SENDER_SECRET: codes.secret,
      PRICE_SOURCES: 'kraken',
      PRICE_KRAKEN_URL: hosts.baseUrl,
    },
  };
}

export interface CodeHost {
  url: string;
  secret: string;
  sent: { phone: string; code: string }[];
  server: Server;
}

/** The operator's sender of text messages. */
export async function codeHost(): Promise<CodeHost> {
  const secret = randomBytes(32).toString('hex');
  const sent: CodeHost['sent'] = [];
  const host = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (part) => (body += part));
    request.on('end', () => {
      const proof = createHmac('sha256', secret).update(body).digest('hex');
      const isOurs = request.headers['x-cloverleaf-signature'] === proof;
      if (isOurs) sent.push(JSON.parse(body));
      response.writeHead(isOurs ? 202 : 401).end();
    });
  });
  await new Promise<void>((up) => host.listen(0, '127.0.0.1', up));
  return { url: `http://127.0.0.1:${(host.address() as AddressInfo).port}/send`, secret, sent, server: host };
}

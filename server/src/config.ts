/**
 * Config: the environment, read once into one frozen typed object. `npm run config` prints every setting with its meaning
 * and value (secrets only as set or not set).
 */
import { resolve } from 'node:path';
import {
  addresses,
  integer,
  oneOf,
  type Read,
  readSettings,
  type Setting,
  SettingError,
  secret,
  someNumbers,
  someOf,
  text,
  webAddress,
} from './base/env.ts';

const SETTINGS = {
  profile: oneOf(
    'PROFILE',
    'sandbox brings local chains, a simulated bank and test controls; production refuses them',
    ['sandbox', 'production'],
    'sandbox',
  ),
  port: integer('PORT', 'HTTP port of the API; 0 takes a free one', 8080, { min: 0, max: 65_535 }),
  host: text('HOST', 'address the API listens on', '127.0.0.1'),
  metricsPort: integer('METRICS_PORT', 'port of /metrics, on the same address; 0 takes a free one', 0, {
    min: 0,
    max: 65_535,
  }),
  trustedProxies: addresses(
    'TRUSTED_PROXIES',
    'addresses or networks of proxies in front, with commas, whose X-Forwarded-For is believed; none for none',
  ),
  publicUrl: text('PUBLIC_URL', 'address under which browsers reach this server, for links to hosted pages', undefined),
  dataDir: text('DATA_DIR', 'folder for the embedded database, local chains and sandbox.json', 'data'),
  databaseUrl: secret(
    'DATABASE_URL',
    'PostgreSQL 15 to 18 to use instead of the embedded one; a role that may create schemas and roles',
  ),
  walArchiveDir: text(
    'WAL_ARCHIVE_DIR',
    'folder, best on another disk, where the embedded database keeps its log, so that a backup can be brought forward',
    undefined,
  ),
  masterKey: secret('MASTER_KEY', '64 hex digits; all sealing keys derive from it. The sandbox makes one in DATA_DIR'),
  logLevel: oneOf('LOG_LEVEL', 'least severe log line written', ['silent', 'error', 'warn', 'info', 'debug'], 'warn'),
  logRequests: oneOf('LOG_REQUESTS', '1 writes a line per request (costs a third of the throughput)', ['0', '1'], '0'),
  bankDeduplicates: oneOf(
    'SANDBOX_BANK_DEDUPLICATES',
    'whether the simulated bank takes a payment key once',
    ['0', '1'],
    '1',
  ),
  priceDriftBps: integer('SANDBOX_PRICE_DRIFT_BPS', 'how far sandbox prices drift from the table, in basis points', 0, {
    min: 0,
    max: 1_000,
  }),
  chainsFile: text('CHAINS_FILE', 'production: JSON file of chains, nodes, wallets and tokens', undefined),
  localChains: someNumbers(
    'ALLOW_LOCAL_CHAINS',
    'production: chain ids of local test nodes that are meant all the same',
  ),
  signerAddress: text('SIGNER_ADDRESS', 'production: unix socket or port of this machine of the signer', undefined),
  signerSecret: secret('SIGNER_SECRET', 'production: shared with the signer, at least 32 characters'),
  manualBankFile: text('MANUAL_BANK_FILE', 'production: JSON file of the accounts at a bank without an API', undefined),
  codeSenderUrl: text('CODE_SENDER_URL', 'production: where login codes are posted to, to be sent on', undefined),
  codeSenderSecret: secret('CODE_SENDER_SECRET', 'production: signs what is posted there, at least 32 characters'),
  operatorToken: secret('OPERATOR_TOKEN', 'opens the operator view, at least 32 characters. The sandbox makes one'),
  priceSources: someOf(
    'PRICE_SOURCES',
    'where prices come from; unset is fixed in the sandbox, all the others in production. Each market names those it uses',
    ['fixed', 'binance', 'coinbase', 'kraken', 'bitstamp', 'ecb'],
  ),
  binanceUrl: webAddress('PRICE_BINANCE_URL', 'Binance, its public REST API', 'https://api.binance.com'),
  coinbaseUrl: webAddress('PRICE_COINBASE_URL', 'Coinbase Exchange', 'https://api.exchange.coinbase.com'),
  krakenUrl: webAddress('PRICE_KRAKEN_URL', 'Kraken, its public REST API', 'https://api.kraken.com'),
  bitstampUrl: webAddress('PRICE_BITSTAMP_URL', 'Bitstamp', 'https://www.bitstamp.net'),
  ecbUrl: webAddress('PRICE_ECB_URL', 'European Central Bank, daily reference rates', 'https://www.ecb.europa.eu'),
} as const satisfies Record<string, Setting<unknown>>;

export type Config = Readonly<Read<typeof SETTINGS>>;

/** @throws SettingError naming the setting and its rule */
export function readConfig(env: NodeJS.ProcessEnv): Config {
  const config: Config = readSettings(SETTINGS, env);
  if (config.databaseUrl !== undefined && !/^postgres(ql)?:\/\//.test(config.databaseUrl))
    throw new SettingError('DATABASE_URL must begin with postgres:// or postgresql://');
  return Object.freeze({ ...config, dataDir: resolve(config.dataDir) });
}

export function printConfig(config: Config): string {
  return Object.entries(SETTINGS)
    .map(([name, setting]: [string, Setting<unknown>]) => {
      const value = config[name as keyof Config];
      const shown = setting.secret ? (value === undefined ? '(not set)' : '(set)') : (value ?? '(not set)');
      return `${setting.name.padEnd(28)} ${String(shown).padEnd(24)} ${setting.about}`;
    })
    .join('\n');
}

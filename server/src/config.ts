/**
 * Config: the environment, read once into one frozen typed object. `npm run config` prints every setting with its meaning
 * and value (secrets only as set or not set); docs/settings.md has the same list.
 *
 * Settings of an adapter are declared by it and found by registry.ts; here are those of the installation.
 */
import { resolve } from 'node:path';
import type { Adapter, Values } from './base/adapter.ts';
import {
  addresses,
  integer,
  oneOf,
  type Read,
  readSettings,
  type Setting,
  SettingError,
  secret,
  sharedSecret,
  someNumbers,
  someOf,
  text,
  webAddress,
} from './base/env.ts';
import { listSources, THRESHOLDS, USUAL_THRESHOLD } from './compliance/index.ts';
import { LISTS, type Lists } from './registry.ts';

/**
 * What a process does. `api` answers all requests; it runs no job, follows no chain, reads no bank and delivers no webhook.
 * `worker` does these, and answers only /healthz, /readyz and /metrics. `all` is both. Processes of all roles run beside each
 * other on one database, and what one needs of another goes through rows and their notifications.
 */
export const ROLES = ['api', 'worker', 'all'] as const;
export const answersRequests = ({ role }: Pick<Config, 'role'>): boolean => role !== 'worker';
export const doesWork = ({ role }: Pick<Config, 'role'>): boolean => role !== 'api';

/** The process, and where it listens. */
const SERVER = {
  profile: oneOf(
    'PROFILE',
    'sandbox has local chains, a simulated bank and test controls; production refuses to start with them',
    ['sandbox', 'production'],
    'sandbox',
  ),
  role: oneOf(
    'ROLE',
    'what this process does: api answers requests and does no other work; worker does the work and answers no requests; all does both. The sandbox is always all',
    ROLES,
    'all',
  ),
  port: integer('PORT', 'HTTP port of the API; 0 selects a free port', 8080, { min: 0, max: 65_535 }),
  host: text('HOST', 'address the API listens on', '127.0.0.1'),
  metricsPort: integer('METRICS_PORT', 'port of /metrics, on the same address; 0 selects a free port', 0, {
    min: 0,
    max: 65_535,
  }),
  trustedProxies: addresses(
    'TRUSTED_PROXIES',
    'addresses or networks of reverse proxies whose X-Forwarded-For is trusted, separated by commas; unset trusts no proxy',
  ),
  publicUrl: text(
    'PUBLIC_URL',
    'base URL under which browsers reach this server, for links to hosted pages',
    undefined,
  ),
};

/** The database, the keys of what it encrypts, and how long data is kept. */
const DATA = {
  dataDir: text('DATA_DIR', 'folder for the embedded database, local chains and sandbox.json', 'data'),
  databaseUrl: secret(
    'DATABASE_URL',
    'PostgreSQL 15 to 18 to use instead of the embedded one; a role that may create schemas and roles',
  ),
  databasePoolUrl: poolerAddress(
    'DATABASE_POOL_URL',
    'address of a PgBouncer in transaction mode, postgres://host:port, without a login: transactions go through it, and LISTEN and session locks to DATABASE_URL',
  ),
  databaseFailover: oneOf(
    'DATABASE_FAILOVER',
    'which standbys may be promoted. synchronous: only one that has every commit; the server continues after a failover. any: one may lack the last commits, so a promoted database is marked as restored and its payouts are switched off',
    ['any', 'synchronous'],
    'any',
  ),
  walArchiveDir: text(
    'WAL_ARCHIVE_DIR',
    'folder, best on another disk, for the write-ahead log of the embedded database: a restore replays it to a time after the backup',
    undefined,
  ),
  masterKey: secret(
    'MASTER_KEY',
    '64 hex digits; all encryption keys are derived from it. The sandbox creates one in DATA_DIR',
  ),
  oldMasterKey: secret(
    'OLD_MASTER_KEY',
    'the previous master key, while npm run rotate-master-key replaces it: data that it encrypted can still be read',
  ),
  eraseAfterDays: integer(
    'ERASE_AFTER_DAYS',
    'days after the last order until a customer may be erased: set it to the legal retention period',
    1_827,
    { min: 0, max: 36_500 },
  ),
  backupsKeptDays: integer(
    'BACKUPS_KEPT_DAYS',
    'days for which you keep a backup and its archived log; after that no backup contains erased data',
    90,
    { min: 0, max: 36_500 },
  ),
};

/** What it logs and serves, its chains, and the signer. */
const CHAINS = {
  logLevel: oneOf('LOG_LEVEL', 'least severe log line written', ['silent', 'error', 'warn', 'info', 'debug'], 'warn'),
  docs: oneOf('DOCS', '1 serves the docs for partners at /docs; 0 leaves them out', ['0', '1'], '1'),
  logRequests: oneOf('LOG_REQUESTS', '1 writes a line per request (costs a third of the throughput)', ['0', '1'], '0'),
  sweepBatches: oneOf(
    'SWEEP_BATCHES',
    'sandbox: 1 sweeps deposits of its EVM chains in batches, through our contract, which has not been audited. Production names that contract in CHAINS_FILE, or sweeps each deposit alone',
    ['0', '1'],
    '0',
  ),
  chainsFile: text('CHAINS_FILE', 'production: JSON file of chains, nodes, wallets and tokens', undefined),
  localChains: someNumbers('ALLOW_LOCAL_CHAINS', 'production: chain ids of local test nodes that are allowed'),
  signerAddress: text(
    'SIGNER_ADDRESS',
    'production: unix socket, or port on this machine, on which the signer listens',
    undefined,
  ),
  signerSecret: sharedSecret('SIGNER_SECRET', 'production: shared with the signer, at least 32 characters'),
};

/** Operators and customers: who they are, and how they sign in. */
const PEOPLE = {
  operatorToken: sharedSecret(
    'OPERATOR_TOKEN',
    'token of the first operator, at least 32 characters. The sandbox creates one',
  ),
  operators: oneOf(
    'OPERATORS',
    'one: a single person operates this installation, and a delay replaces the second person; two: at least two do. Unset is one in the sandbox, else two',
    ['one', 'two'],
    undefined,
  ),
  operatorDelayS: integer(
    'OPERATOR_DELAY_S',
    'with one operator: seconds before an action that takes two people can be confirmed; unset is 0 in the sandbox, else 86400',
    undefined,
    { min: 0, max: 2_592_000 },
  ),
  destinationCoolingOffS: integer(
    'DESTINATION_COOLING_OFF_S',
    'seconds before money may go to a destination that a partner’s program added and the customer has not confirmed, or to an own address that operators registered; unset is 0 in the sandbox, else 86400',
    undefined,
    { min: 0, max: 2_592_000 },
  ),
  documentNoticeDays: integer(
    'DOCUMENT_NOTICE_DAYS',
    'days before an accepted document expires at which its customer is asked to replace it',
    30,
    { min: 0, max: 3_650 },
  ),
  phoneIdleDays: integer(
    'PHONE_IDLE_DAYS',
    'days without a login after which a login code alone no longer signs in a customer who is identified by the phone number, also one whose id its partner was told because of it; 0 disables the check',
    180,
    { min: 0, max: 36_500 },
  ),
  operatorNetworks: addresses(
    'OPERATOR_NETWORKS',
    'addresses or networks from which operators may connect, separated by commas; unset or none allows any',
  ),
  oidcIssuer: issuerAddress(
    'OIDC_ISSUER',
    'identity provider at which operators can sign in to the console: its issuer, exactly as the provider writes it',
  ),
  oidcClientId: text('OIDC_CLIENT_ID', 'id of this installation at that provider', undefined),
  oidcClientSecret: secret('OIDC_CLIENT_SECRET', 'client secret at that provider; unset for a public client'),
  oidcName: text('OIDC_NAME', 'name of the provider on the sign-in page', 'single sign-on'),
  oidcStrong: proofs(
    'OIDC_STRONG',
    'claims of a login that prove more than a password, such as amr=hwk or acr=phr, separated by commas; without one of them, the login also requires a passkey',
  ),
  oidcStepUp: oneOf(
    'OIDC_STEP_UP',
    'how actions over money are confirmed after such a login: by passkey, or by provider, where a login there with a claim of OIDC_STRONG in the last ten minutes suffices',
    ['passkey', 'provider'],
    'passkey',
  ),
};

/** Prices, and the checks of customers and of where money goes. */
const checksOf = ({ priceSources, verifiers, addressRisks, travelProtocols }: Lists) => ({
  priceSources: someOf(
    'PRICE_SOURCES',
    'price sources, separated by commas; unset is fixed in the sandbox, all others in production. Each market names the ones it uses',
    priceSources.map(codeOf),
  ),
  verifier: oneOf(
    'VERIFIER',
    'who verifies the identity of customers; unset is simulated in the sandbox, manual in production',
    verifiers.map(codeOf),
    undefined,
  ),
  verificationOverdueS: integer(
    'VERIFICATION_OVERDUE_S',
    'how long a customer may wait for the verifier before a case opens, in seconds',
    86_400,
    { min: 10, max: 2_592_000 },
  ),
  screeningMaxAgeS: integer(
    'SCREENING_MAX_AGE_S',
    'maximum age of a screening result when money leaves, in seconds; if it is older, the money waits while it is screened again',
    86_400,
    { min: 60, max: 2_592_000 },
  ),
  sanctionsLists: sanctionsLists(
    'SANCTIONS_LISTS',
    'sanctions lists with which names and addresses are compared, separated by commas: ofac, un, eu or uk, then = and a file or an https address, which may end with #sha256= and its checksum; none disables the comparison; production requires this setting',
  ),
  sanctionsMaxAgeS: integer(
    'SANCTIONS_MAX_AGE_S',
    'maximum age of a sanctions list in seconds; if one is older, no money is sent. Unset is ten years in the sandbox, else 172800',
    undefined,
    { min: 60, max: 315_360_000 },
  ),
  sanctionsThreshold: integer(
    'SANCTIONS_THRESHOLD',
    'minimum similarity at which a name is a hit in a sanctions list, in ten-thousandths',
    USUAL_THRESHOLD,
    { min: 5_000, max: 10_000 },
  ),
  addressRisk: oneOf(
    'ADDRESS_RISK',
    'provider of risk ratings for chain addresses; unset uses none',
    addressRisks.map(codeOf),
    undefined,
  ),
  travelProtocol: oneOf(
    'TRAVEL_PROTOCOL',
    'protocol by which travel rule data is exchanged with other providers; unset exchanges none',
    travelProtocols.map(codeOf),
    undefined,
  ),
  addressRiskHit: oneOf(
    'ADDRESS_RISK_HIT',
    'minimum risk at which an address is a hit: its money is held until operators have decided',
    THRESHOLDS,
    'high',
  ),
  addressRiskMaxAgeS: integer(
    'ADDRESS_RISK_MAX_AGE_S',
    "maximum age of the provider's answer about an address in seconds; if it is older, the money waits for a new answer",
    86_400,
    { min: 60, max: 2_592_000 },
  ),
});

/** The store of customers' files. */
const FILES = {
  filesS3Url: webAddress(
    'FILES_S3_URL',
    "address of an S3 store for customers' files, without the bucket; unset stores them in DATA_DIR/documents",
    undefined,
  ),
  filesS3Bucket: text('FILES_S3_BUCKET', 'existing bucket of the S3 store', undefined),
  filesS3Region: text('FILES_S3_REGION', 'region of the S3 store', 'us-east-1'),
  filesS3Prefix: text('FILES_S3_PREFIX', 'prefix of the object names, such as cloverleaf/', ''),
  filesS3AccessKey: secret('FILES_S3_ACCESS_KEY', 'access key of the S3 store'),
  filesS3SecretKey: secret('FILES_S3_SECRET_KEY', 'secret key of the S3 store'),
};

/** The ways out: payouts, login codes and alerts. */
const waysOf = ({ codeSenders, banks, alertChannels }: Lists) => ({
  accountNames: oneOf(
    'ACCOUNT_NAMES',
    'what happens to a payout if the account holder has another name than the customer',
    ['pay', 'hold'],
    'pay',
  ),
  codeSender: oneOf(
    'CODE_SENDER',
    'how login codes reach phones; unset is known in the sandbox, webhook in production',
    codeSenders.map(codeOf),
    undefined,
  ),
  banks: someOf(
    'BANKS',
    'production: the connected banks, separated by commas; unset is manual. The sandbox has its own',
    banks.map(codeOf),
  ),
  alertChannels: someOf(
    'ALERT_CHANNELS',
    'channels that notify people about cases, separated by commas; unset notifies no one. Rules decide what is sent (alert set)',
    alertChannels.map(codeOf),
  ),
});

/** All settings, in the order in which docs/settings.md lists them. */
const settingsFor = (lists: Lists) => ({
  ...SERVER,
  ...DATA,
  ...CHAINS,
  ...PEOPLE,
  ...checksOf(lists),
  ...FILES,
  ...waysOf(lists),
});

/** Its login is the server's own, whose password no setting has. */
function poolerAddress(name: string, about: string): Setting<string | undefined> {
  return {
    ...text(name, about, undefined),
    read(value) {
      if (value === undefined || value === '') return undefined;
      const url = URL.canParse(value) ? new URL(value) : undefined;
      if (url === undefined || !/^postgres(ql)?:$/.test(url.protocol) || `${url.username}${url.password}` !== '')
        throw new SettingError(`${name} must be postgres://host:port, without a login`);
      return value;
    },
  };
}

/** Kept as it is spelt: tokens have it letter by letter. */
function issuerAddress(name: string, about: string): Setting<string | undefined> {
  const safe = webAddress(name, about, undefined);
  return { ...safe, read: (value) => (safe.read(value) === undefined ? undefined : value) };
}

function proofs(name: string, about: string): Setting<readonly string[]> {
  return {
    ...text(name, about, undefined),
    read(value) {
      const all = (value ?? '').split(',').map((one) => one.trim());
      const named = all.filter((one) => one !== '');
      if (named.length > 20 || named.some((one) => !/^(acr|amr)=[\x21-\x7e]{1,200}$/.test(one)))
        throw new SettingError(`${name} must be at most 20 of acr=… and amr=…, with commas between them`);
      return named;
    },
  };
}

/** Stored unchanged once it parses: its content is data. */
function sanctionsLists(name: string, about: string): Setting<string | undefined> {
  return {
    ...text(name, about, undefined),
    read(value) {
      if (value === undefined || value === '') return undefined;
      if (value === 'none') return value;
      const read = listSources(value);
      if (typeof read === 'string') throw new SettingError(`${name} ${read}`);
      return value;
    },
  };
}
const codeOf = ({ code }: { code: string }): string => code;

type Own = Read<ReturnType<typeof settingsFor>>;
export type Config = Readonly<
  Omit<Own, 'operators' | 'operatorDelayS' | 'destinationCoolingOffS' | 'sanctionsMaxAgeS'>
> & {
  readonly operators: 'one' | 'two';
  readonly operatorDelayS: number;
  readonly destinationCoolingOffS: number;
  readonly sanctionsMaxAgeS: number;
  /** The registered adapters. */
  readonly lists: Lists;
  /** The settings of a registered adapter. */
  valuesOf(adapter: Declaring): Values;
};

type Declaring = Adapter<unknown, never>;

/**
 * How long a two-person action waits if one operator is declared, in seconds: long enough to be noticed, and to be declined.
 */
const DELAY_S = { sandbox: 0, production: 86_400 };
/** The same for a destination that a program has added: long enough for customer and partner to notice. */
const COOLING_OFF_S = { sandbox: 0, production: 86_400 };
/** The same for sanctions lists. A made-up list in a sandbox does not age. */
const SANCTIONS_MAX_AGE_S = { sandbox: 315_360_000, production: 172_800 };

/**
 * @param lists registered adapters; tests pass their own
 * @throws SettingError naming the setting and its rule
 */
export function readConfig(env: NodeJS.ProcessEnv, lists: Lists = LISTS): Config {
  const config = readSettings(settingsFor(lists), env);
  const values = new Map(allOf(lists).map((one) => [one, readSettings(one.settings, env)]));
  if (config.databaseUrl !== undefined && !/^postgres(ql)?:\/\//.test(config.databaseUrl))
    throw new SettingError('DATABASE_URL must begin with postgres:// or postgresql://');
  if (config.databasePoolUrl !== undefined && config.databaseUrl === undefined)
    throw new SettingError('DATABASE_POOL_URL must be set beside DATABASE_URL only: it leads to the same database');
  const { profile, operators = profile === 'sandbox' ? 'one' : 'two', operatorDelayS = DELAY_S[profile] } = config;
  const { destinationCoolingOffS = COOLING_OFF_S[profile], sanctionsMaxAgeS = SANCTIONS_MAX_AGE_S[profile] } = config;
  if ((config.oidcIssuer === undefined) !== (config.oidcClientId === undefined))
    throw new SettingError('OIDC_ISSUER and OIDC_CLIENT_ID must both be set, or neither');
  if (profile === 'production' && config.oidcIssuer?.startsWith('http://') === true)
    throw new SettingError('OIDC_ISSUER must begin with https:// in production');
  if (profile === 'sandbox' && config.role !== 'all')
    throw new SettingError('ROLE must be all in the sandbox: it is one process, whose controls reach the workers');
  if (profile === 'sandbox' && config.banks !== undefined)
    throw new SettingError('BANKS must not be set in the sandbox: it brings a bank of its own along');
  return Object.freeze({
    ...config,
    operators,
    operatorDelayS,
    destinationCoolingOffS,
    sanctionsMaxAgeS,
    dataDir: resolve(config.dataDir),
    lists,
    valuesOf: (adapter: Declaring) => values.get(adapter) ?? {},
  });
}

export const allOf = (lists: Lists): Declaring[] => [
  ...lists.priceSources,
  ...lists.verifiers,
  ...lists.codeSenders,
  ...lists.banks,
  ...lists.alertChannels,
  ...lists.addressRisks,
  ...lists.travelProtocols,
];

/** Every setting, with the adapter that declares it. */
export const allSettings = (lists: Lists = LISTS): { setting: Setting<unknown>; of?: Declaring; key: string }[] => [
  ...Object.entries(settingsFor(lists)).map(([key, setting]) => ({ key, setting })),
  ...allOf(lists).flatMap((of) => Object.entries(of.settings).map(([key, setting]) => ({ key, setting, of }))),
];

export function printConfig(config: Config): string {
  return allSettings(config.lists)
    .map(({ key, setting, of }) => {
      const value = of === undefined ? config[key as keyof Config] : config.valuesOf(of)[key];
      const shown = setting.secret ? (value === undefined ? '(not set)' : '(set)') : (value ?? '(not set)');
      return `${setting.name.padEnd(28)} ${String(shown).padEnd(24)} ${setting.about}`;
    })
    .join('\n');
}

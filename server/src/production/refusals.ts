/**
 * Refusals: the reasons why production does not start, all of them at once. Every sandbox-only setting is rejected here by
 * name, and nowhere else.
 *
 * Secrets are checked by their appearance: too short, or with too few different characters to be random.
 */
import { existsSync } from 'node:fs';
import { join, resolve, sep } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { readTextFile, SettingError } from '../base/env.ts';
import { allOf, answersRequests, type Config, doesWork } from '../config.ts';
import { type AnyBank, CHANNELS, chosen, type Lists, travelContext } from '../registry.ts';
import { readSignerAddress, SIGNER_ADDRESS_RULE, type SignerAddress } from '../signer/index.ts';
import { type ProductionChain, readChains } from './chains.ts';

/** The validated configuration of a production installation, as far as this process's role needs it. */
export interface Settled {
  masterKey: Buffer;
  oldMasterKey?: Buffer;
  databaseUrl: string;
  /** Undefined for a worker. */
  operatorToken: string | undefined;
  chains: readonly ProductionChain[];
  banks: readonly AnyBank[];
  /** Undefined for a process that only answers requests: it signs nothing. */
  signer: { address: SignerAddress; secret: string } | undefined;
}

/** Created by a sandbox in its data folder. */
const SANDBOX_FILES = ['sandbox.json', 'master.key', 'operator.token', 'postgres', 'chains', 'signer.journal'];
const SHORTEST_SECRET = 32;
const SHORTEST_DELAY_S = 3_600;
/** 32 random hex digits have fewer than this once in ten thousand million. */
const FEWEST_CHARACTERS = 6;

/** @throws SettingError with a line for each reason */
export function settle(config: Config, env: NodeJS.ProcessEnv = process.env): Settled {
  const [isApi, isWorker] = [answersRequests(config), doesWork(config)];
  const wrong: string[] = [];
  const must = <T>(name: string, value: T | undefined, what: string): T | undefined => {
    if (value === undefined || value === '') wrong.push(`${name} must be set in production: ${what}`);
    return value === '' ? undefined : value;
  };
  const secret = (name: string, value: string | undefined, what: string): string | undefined => {
    const given = must(name, value, what);
    if (given === undefined) return undefined;
    if (given.length < SHORTEST_SECRET) wrong.push(`${name} must have at least ${SHORTEST_SECRET} characters`);
    else if (isNoChance(given)) wrong.push(TOO_REGULAR(name));
    return given;
  };
  const read = <T>(work: () => T): T | undefined => {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof SettingError)) throw error;
      wrong.push(error.message);
      return undefined;
    }
  };
  const fromFile = <T>(name: string, file: string | undefined, what: string, parse: (text: string) => T) =>
    must(name, file, what) === undefined ? undefined : read(() => parse(readTextFile(name, file ?? '')));

  const masterKey = must('MASTER_KEY', config.masterKey, '64 hex digits, kept apart from the database');
  if (masterKey !== undefined && !/^[0-9a-fA-F]{64}$/.test(masterKey)) wrong.push('MASTER_KEY must be 64 hex digits');
  else if (masterKey !== undefined && isNoChance(masterKey)) wrong.push(TOO_REGULAR('MASTER_KEY'));
  const { oldMasterKey } = config;
  if (oldMasterKey !== undefined && !/^[0-9a-fA-F]{64}$/.test(oldMasterKey))
    wrong.push('OLD_MASTER_KEY must be 64 hex digits');
  for (const name of ['MASTER_KEY_FILE', 'OLD_MASTER_KEY_FILE']) {
    const keyFile = env[name];
    if (keyFile && resolve(keyFile).startsWith(`${config.dataDir}${sep}`))
      wrong.push(`${name} is in DATA_DIR: a copy of the folder contains the key`);
  }
  for (const name of SANDBOX_FILES) {
    if (existsSync(join(config.dataDir, name)))
      wrong.push(`DATA_DIR holds ${name} of a sandbox; production starts in a folder of its own`);
  }
  const databaseUrl = must('DATABASE_URL', config.databaseUrl, 'PostgreSQL 15 to 18, with its backups');
  const publicUrl = must('PUBLIC_URL', config.publicUrl, 'the https address under which browsers reach this server');
  if (publicUrl !== undefined && !(URL.canParse(publicUrl) && new URL(publicUrl).protocol === 'https:'))
    wrong.push('PUBLIC_URL must be an https address');
  if (isApi) must('TRUSTED_PROXIES', config.trustedProxies, 'the proxy that speaks TLS in front, or none');
  must('SANCTIONS_LISTS', config.sanctionsLists, 'the sanctions lists that names are compared with, or none');
  const operatorToken = isApi ? secret('OPERATOR_TOKEN', config.operatorToken, 'opens the operator view') : undefined;
  /** All shared secrets, and the master key: each must be unique. */
  const secrets: [string, string | undefined][] = [
    ['MASTER_KEY', masterKey],
    ...(oldMasterKey === undefined ? [] : [['OLD_MASTER_KEY', oldMasterKey] as [string, string]]),
    ['OPERATOR_TOKEN', operatorToken],
  ];

  const chains = fromFile('CHAINS_FILE', config.chainsFile, 'chains, nodes, wallets and tokens', (text) =>
    readChains('CHAINS_FILE', text, config.localChains),
  );
  /** The adapters of a list that are in use, with their required settings. Only those with nothing missing can be created. */
  const used = <K extends keyof Lists>(kind: K): Lists[K][number][] =>
    (read(() => chosen(config, kind)) ?? []).filter((one) => {
      const values = config.valuesOf(one);
      const before = wrong.length;
      for (const [key, { name, demand, shared }] of Object.entries(one.settings)) {
        const value = values[key] as string | undefined;
        if (demand === undefined) continue;
        if (shared === true) secrets.push([name, secret(name, value, demand)]);
        else must(name, value, demand);
      }
      return wrong.length === before;
    });
  const banks = used('banks').flatMap((one) => read(() => one.create(config.valuesOf(one), undefined)) ?? []);
  if (new Set(banks.map(({ code }) => code)).size < banks.length) wrong.push('BANKS must each have another code');
  if (banks.filter(({ openDesk }) => openDesk !== undefined).length > 1)
    wrong.push('BANKS must name one bank without an API at most: operators have one desk');
  const signing = (): Settled['signer'] => {
    const signerAt = must('SIGNER_ADDRESS', config.signerAddress, 'where the signer listens');
    const address = signerAt === undefined ? undefined : readSignerAddress(signerAt);
    if (signerAt !== undefined && address === undefined) wrong.push(`SIGNER_ADDRESS ${SIGNER_ADDRESS_RULE}`);
    const signerSecret = secret('SIGNER_SECRET', config.signerSecret, 'the one that the signer has');
    secrets.push(['SIGNER_SECRET', signerSecret]);
    return address && { address, secret: signerSecret ?? '' };
  };
  const signer = isWorker ? signing() : undefined;
  if (isApi) used('codeSenders');
  used('verifiers');
  if (isWorker) {
    used('priceSources');
    for (const one of used('alertChannels')) read(() => one.create(config.valuesOf(one), CHANNELS));
  }
  used('addressRisks');
  for (const one of used('travelProtocols')) read(() => one.create(config.valuesOf(one), travelContext(config)));

  if (config.operators === 'one' && config.operatorDelayS < SHORTEST_DELAY_S)
    wrong.push(`OPERATOR_DELAY_S must be at least ${SHORTEST_DELAY_S} in production: it replaces the second person`);
  for (const one of allOf(config.lists).filter(({ sandboxOnly }) => sandboxOnly !== undefined)) {
    const values = config.valuesOf(one);
    for (const [key, setting] of Object.entries(one.settings)) {
      if (!isDeepStrictEqual(values[key], setting.read(undefined))) wrong.push(`${setting.name} is the sandbox’s`);
    }
  }
  const given = secrets.flatMap(([, value]) => value ?? []);
  if (new Set(given).size < given.length) {
    const names = secrets.map(([name]) => name);
    wrong.push(`${names.slice(0, -1).join(', ')} and ${names.at(-1)} must each be another`);
  }

  if (wrong.length > 0 || !masterKey || !databaseUrl || !chains) throw new SettingError(wrong.join('\n'));
  return {
    masterKey: Buffer.from(masterKey, 'hex'),
    ...(oldMasterKey === undefined ? {} : { oldMasterKey: Buffer.from(oldMasterKey, 'hex') }),
    databaseUrl,
    operatorToken,
    chains,
    banks,
    signer,
  };
}

const TOO_REGULAR = (name: string): string => `${name} is too regular to be a secret: make it by chance`;

/** Whether a secret is obviously not random: few different characters, or one repeated part. */
const isNoChance = (text: string): boolean => new Set(text).size < FEWEST_CHARACTERS || /^(.{1,16})\1+$/s.test(text);

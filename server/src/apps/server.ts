/**
 * Main: starts the server from the environment, prints its URL, and stops it on Ctrl-C.
 *
 * A signal during the start takes effect when the start is complete, and then everything is stopped in order: the sandbox's
 * nodes would outlive a process that simply dies.
 */
import { relative } from 'node:path';
import { parseArgs } from 'node:util';
import { SettingError } from '../base/env.ts';
import { Unavailable } from '../base/errors.ts';
import { answersRequests, type Config, printConfig, ROLES, readConfig } from '../config.ts';
import { buildConsole } from '../console/index.ts';
import { type Running, start } from '../server.ts';

/** The error message of Node's crypto for a text encrypted with another key. */
const ENCRYPTED_OTHERWISE = 'Unsupported state or unable to authenticate data';

async function main(): Promise<void> {
  const { isAskedOnly, role } = readArguments();
  const config = readConfig(role === undefined ? process.env : { ...process.env, ROLE: role });
  if (isAskedOnly) {
    process.stdout.write(`${printConfig(config)}\n`);
    return;
  }
  const begunAt = performance.now();
  // In production programs start the server, and read its one line and its log.
  const onProgress = (what: string) => void (config.profile === 'sandbox' && process.stdout.write(`· ${what}\n`));
  const starting = (answersRequests(config) ? withConsole(onProgress) : Promise.resolve()).then(() =>
    start(config, {
      onProgress,
      onOutdated: (why) => {
        process.stderr.write(`${why.message}\n`);
        void starting.then((running) => running.stop()).finally(() => process.exit(1));
      },
    }),
  );
  const isEnding = endOnSignal(starting);
  try {
    const running = await starting;
    if (isEnding()) return;
    const tookMs = performance.now() - begunAt;
    process.stdout.write(
      config.profile === 'production' ? plainly(running, config, tookMs) : banner(running, config, tookMs),
    );
  } catch (error) {
    throw explained(error, config);
  }
}

/** A server without a console handles money as well, so it starts anyway. */
async function withConsole(onProgress: (what: string) => void): Promise<void> {
  const why = await buildConsole(onProgress);
  if (why !== undefined) process.stderr.write(`The console could not be built, and /console answers 503: ${why}\n`);
}

/** Whether to print settings and start nothing; and the role, which replaces ROLE. Everything else comes from the environment. */
function readArguments(): { isAskedOnly: boolean; role: string | undefined } {
  const options = { 'print-config': { type: 'boolean', default: false }, role: { type: 'string' } } as const;
  let values: { 'print-config': boolean; role?: string };
  try {
    ({ values } = parseArgs({ options }));
  } catch (error) {
    throw new SettingError(
      `${(error as Error).message.split('. ')[0]}. Settings are environment variables: npm run config lists them`,
    );
  }
  const { role, 'print-config': isAskedOnly } = values;
  if (role !== undefined && !ROLES.some((one) => one === role))
    throw new SettingError(`--role must be one of ${ROLES.join(', ')}`);
  return { isAskedOnly, role };
}

/** Whether a signal arrived. SIGHUP means a closed terminal. */
function endOnSignal(starting: Promise<Running>): () => boolean {
  let ending = false;
  const end = () => {
    if (ending) return;
    ending = true;
    process.stdout.write('\nStopping…\n');
    starting
      .then((running) => running.stop())
      .then(
        () => process.exit(0),
        () => process.exit(1),
      );
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, end);
  // Writing to a closed terminal fails; that must not end the process.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  return () => ending;
}

const plainly = ({ baseUrl, metricsUrl }: Running, { role }: Config, tookMs: number): string =>
  `Cloverleaf is ready in production (${role === 'all' ? '' : `role ${role}, `}${(tookMs / 1000).toFixed(1)} s): ${baseUrl}, metrics ${metricsUrl}\n`;

function banner({ baseUrl, metricsUrl, sandbox }: Running, { dataDir, docs }: Config, tookMs: number): string {
  const file = relative(process.cwd(), `${dataDir}/sandbox.json`);
  const lines = [
    '',
    `Cloverleaf sandbox is ready (${(tookMs / 1000).toFixed(1)} s)`,
    '',
    `  Page      ${baseUrl}/`,
    ...(docs === '1' ? [`  Docs      ${baseUrl}/docs`] : []),
    // A passkey belongs to a host name, and an IP address is not one.
    `  Console   ${baseUrl.replace('//127.0.0.1', '//localhost')}/console`,
    `  API       ${baseUrl}`,
    `  Health    ${baseUrl}/readyz`,
    `  Metrics   ${metricsUrl}`,
    ...sandbox.chains.map(
      ({ code, rpcUrl, chainId }) => `  Chain     ${code.padEnd(9)} ${rpcUrl}  (chain id ${chainId})`,
    ),
    ...(sandbox.asleep?.length
      ? [`  Chains    ${sandbox.asleep.map(({ code }) => code).join(', ')}: each node starts on first use`]
      : []),
    ...sandbox.partners.flatMap(({ name, apiKey, apiSecret, bearerToken }) => [
      `  Partner   ${name.padEnd(12)} key ${apiKey}  secret ${apiSecret}`,
      `            ${' '.repeat(12)} token ${bearerToken}`,
    ]),
    `  All of it in ${file}`,
    '',
    'Try next, in another terminal:',
    '  npm run demo',
    `  curl ${baseUrl}/onramp/api/v3/buy/public/listAllCoins`,
    ...sandbox.partners
      .slice(0, 1)
      .map(({ bearerToken }) => `  curl -H 'Authorization: Bearer ${bearerToken}' ${baseUrl}/v1/key`),
    `  curl ${baseUrl}/readyz`,
    '',
    'Ctrl-C stops everything that it started; the data stays.',
    '',
  ];
  return `${lines.join('\n')}\n`;
}

/** Explains, in a sentence, how a setting relates to a system error. Unknown errors are returned as they are. */
function explained(error: unknown, { host, port, metricsPort, dataDir, databaseUrl }: Config): unknown {
  const {
    code,
    syscall,
    message,
    address,
    port: at,
  } = error as NodeJS.ErrnoException & { address?: string; port?: number };
  const isDatabase =
    databaseUrl !== undefined &&
    (syscall === 'connect' || syscall === 'getaddrinfo' || /^[0-9A-Z]{5}$/.test(code ?? ''));
  const name = at === metricsPort && at !== port ? 'METRICS_PORT' : 'PORT';
  if (code === 'EADDRINUSE')
    return new SettingError(
      `${name} ${at} of ${address} is in use by another program; set another ${name}, or 0 for any free port`,
    );
  if (syscall === 'listen')
    return new SettingError(`${name} ${at} of HOST ${host} cannot be used to listen: ${message}`);
  if (isDatabase) return new SettingError(`DATABASE_URL cannot be used: ${message}`);
  if (syscall === 'getaddrinfo') return new SettingError(`HOST ${host} is not an address of this machine`);
  if (message === ENCRYPTED_OTHERWISE)
    return new SettingError(
      'MASTER_KEY (or master.key in DATA_DIR) is not the key with which this database was encrypted; start with that key',
    );
  if (['EACCES', 'EPERM', 'EROFS', 'ENOSPC', 'ENOTDIR', 'EEXIST'].includes(code ?? ''))
    return new SettingError(`DATA_DIR ${dataDir} cannot be written: ${message}`);
  return error;
}

main().catch((error: unknown) => {
  const expected = error instanceof SettingError || error instanceof Unavailable;
  process.stderr.write(`${expected ? (error as Error).message : ((error as Error)?.stack ?? String(error))}\n`);
  process.exit(1);
});

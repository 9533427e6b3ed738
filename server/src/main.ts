/**
 * Main: starts the server from the environment, says where it is, and ends it on Ctrl-C.
 */
import { relative } from 'node:path';
import { SettingError } from './base/env.ts';
import { Unavailable } from './base/errors.ts';
import { printConfig, readConfig } from './config.ts';
import { type Running, start } from './server.ts';

async function main(): Promise<void> {
  const config = readConfig(process.env);
  if (process.argv.includes('--print-config')) {
    process.stdout.write(`${printConfig(config)}\n`);
    return;
  }
  const begunAt = performance.now();
  const running = await start(config);
  endOnSignal(running);
  process.stdout.write(banner(running, config.dataDir, performance.now() - begunAt));
}

function endOnSignal(running: Running): void {
  let ending = false;
  const end = () => {
    if (ending) return;
    ending = true;
    process.stdout.write('\nStopping…\n');
    running.stop().then(
      () => process.exit(0),
      () => process.exit(1),
    );
  };
  process.on('SIGINT', end);
  process.on('SIGTERM', end);
}

function banner({ baseUrl, metricsUrl, sandbox }: Running, dataDir: string, tookMs: number): string {
  const file = relative(process.cwd(), `${dataDir}/sandbox.json`);
  const lines = [
    '',
    `Cloverleaf sandbox is ready (${(tookMs / 1000).toFixed(1)} s)`,
    '',
    `  API       ${baseUrl}`,
    `  Health    ${baseUrl}/readyz`,
    `  Metrics   ${metricsUrl}`,
    ...sandbox.chains.map(
      ({ code, rpcUrl, chainId }) => `  Chain     ${code.padEnd(9)} ${rpcUrl}  (chain id ${chainId})`,
    ),
    ...sandbox.partners.map(
      ({ name, apiKey, apiSecret }) => `  Partner   ${name.padEnd(12)} key ${apiKey}  secret ${apiSecret}`,
    ),
    `  All of it in ${file}`,
    '',
    'Try next, in another terminal:',
    '  npm run demo',
    `  curl ${baseUrl}/onramp/api/v3/buy/public/listAllCoins`,
    `  curl ${baseUrl}/readyz`,
    '',
    'Ctrl-C ends everything it started; the data stays.',
    '',
  ];
  return `${lines.join('\n')}\n`;
}

main().catch((error: unknown) => {
  const expected = error instanceof SettingError || error instanceof Unavailable;
  process.stderr.write(`${expected ? (error as Error).message : ((error as Error)?.stack ?? String(error))}\n`);
  process.exit(1);
});

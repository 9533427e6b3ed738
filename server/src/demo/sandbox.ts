/**
 * `npm run sandbox -- <command>`: what one wants at hand beside a running sandbox. Imports nothing of the server.
 *
 * `listen` has a partner's webhooks sent to this machine in both formats, checks every signature and prints what comes, until
 * it is interrupted. `--partner <name>` says whose (the first's), `--bodies` prints the whole of each.
 */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { type Partner, partnerClient } from './client.ts';
import { type Heard, openReceiver } from './receiver.ts';

const USAGE = `npm run sandbox -- listen [--partner <name>] [--bodies]
  has a partner's webhooks sent here, in both formats, checks their signatures and prints them`;

function sandboxFile(): { baseUrl: string; partners: Partner[] } {
  const file = join(resolve(process.env.DATA_DIR ?? 'data'), 'sandbox.json');
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as { baseUrl: string; partners: Partner[] };
  } catch {
    throw new Error(`${file} is not there: start the sandbox first, with npm start`);
  }
}

const print =
  (withBodies: boolean) =>
  ({ format, what, subject, sequence, eventId, isGenuine, text }: Heard): void => {
    const time = new Date().toISOString().slice(11, 23);
    const verdict = isGenuine ? 'signature valid' : 'SIGNATURE WRONG';
    const line = `${time}  ${format.padEnd(10)}  ${what.padEnd(36)} ${subject} #${sequence}  ${eventId}  ${verdict}`;
    process.stdout.write(`${line}\n${withBodies ? `${JSON.stringify(JSON.parse(text), null, 2)}\n` : ''}`);
  };

async function listen(options: { partner: string | undefined; bodies: boolean }): Promise<void> {
  const { baseUrl, partners } = sandboxFile();
  const partner = options.partner === undefined ? partners[0] : partners.find(({ name }) => name === options.partner);
  if (partner === undefined) throw new Error(`--partner must be one of ${partners.map(({ name }) => name).join(', ')}`);
  const receiver = await openReceiver(partnerClient(baseUrl, partner), partner, print(options.bodies));
  process.stdout.write(`Listening for ${partner.name} at ${receiver.url}. Ctrl-C ends it.\n`);
  await new Promise<void>((ended) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => ended());
  });
  await receiver.close();
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { partner: { type: 'string' }, bodies: { type: 'boolean', default: false } },
  });
  if (positionals.length !== 1 || positionals[0] !== 'listen') throw new Error(USAGE);
  await listen({ partner: values.partner, bodies: values.bodies });
}

main().then(
  () => process.exit(0),
  (error: unknown) => {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  },
);

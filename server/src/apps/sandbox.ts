/**
 * `npm run sandbox -- <command>`: tools for a running sandbox, whose URL and keys it reads from sandbox.json. `--help` lists
 * the commands.
 *
 * `listen` receives a partner's webhooks on this machine in every format, checks every signature and prints them, until it is
 * interrupted. `doctor` (sandbox/doctor.ts) explains why a request is refused. The controls (sandbox/commands.ts) make
 * something happen.
 */
import { readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { ApiError, Cloverleaf, type SandboxControls } from '../../../sdk/src/index.ts';
import { type Heard, openReceiver, type Partner } from '../demo/receiver.ts';
import { findControl, help, helpOf, readArguments } from '../sandbox/commands.ts';
import { DOCTOR, doctor } from '../sandbox/doctor.ts';

function sandboxFile(): { baseUrl: string; partners: Partner[] } {
  const file = join(resolve(process.env.DATA_DIR ?? 'data'), 'sandbox.json');
  try {
    return JSON.parse(readFileSync(file, 'utf8')) as { baseUrl: string; partners: Partner[] };
  } catch {
    throw new Error(`${file} does not exist: start the sandbox first, with npm start`);
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

function partnerNamed(name: string | undefined): { baseUrl: string; partner: Partner } {
  const { baseUrl, partners } = sandboxFile();
  const partner = name === undefined ? partners[0] : partners.find((one) => one.name === name);
  if (partner === undefined) throw new Error(`--partner must be one of ${partners.map((one) => one.name).join(', ')}`);
  return { baseUrl, partner };
}

async function listen(args: string[]): Promise<void> {
  const { values } = parseArgs({
    args,
    options: { partner: { type: 'string' }, bodies: { type: 'boolean', default: false } },
  });
  const { baseUrl, partner } = partnerNamed(values.partner);
  const receiver = await openReceiver(new Cloverleaf({ baseUrl, ...partner }), partner, print(values.bodies));
  process.stdout.write(`Listening for ${partner.name} at ${receiver.url}. Ctrl-C ends it.\n`);
  await new Promise<void>((ended) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => ended());
  });
  await receiver.close();
}

const LISTEN = `npm run sandbox -- listen [--partner <name>] [--bodies]
  receives a partner's webhooks in every format, checks their signatures and prints them`;

async function main([command = '--help', ...args]: readonly string[]): Promise<number> {
  const say = (text: string): number => {
    process.stdout.write(`${text}\n`);
    return 0;
  };
  if (command === '--help' || command === '-h' || command === 'help') return say(help());
  const asksForHelp = args.includes('--help') || args.includes('-h');
  if (command === 'listen') {
    if (asksForHelp) return say(LISTEN);
    await listen(args);
    return 0;
  }
  if (command === 'doctor') {
    if (asksForHelp) return say(DOCTOR);
    const keys = () =>
      sandboxFile().partners.map(({ name, apiKey, apiSecret }) => ({ name, apiKey, secrets: [apiSecret] }));
    const { text, code } = await doctor(args, { keys, input: () => readFileSync(0, 'utf8'), nowMs: Date.now() });
    say(text);
    return code;
  }
  const control = findControl(command);
  if (control === undefined) throw new Error(`there is no command ${command}\n\n${help()}`);
  if (asksForHelp) return say(helpOf(control));
  const { fields, partner: name } = readArguments(control, args);
  const { baseUrl, partner } = partnerNamed(name);
  const { sandbox } = new Cloverleaf({ baseUrl, ...partner });
  const call = sandbox[control.name as keyof SandboxControls] as (takes: object) => Promise<unknown>;
  const answer = await call(fields);
  return say(JSON.stringify(answer, null, 2));
}

main(process.argv.slice(2)).then(
  (code) => process.exit(code),
  (error: unknown) => {
    const said = error instanceof Error ? error.message : String(error);
    process.stderr.write(`${error instanceof ApiError ? `The server answered ${error.status}: ` : ''}${said}\n`);
    process.exit(process.argv[2] === 'doctor' ? 2 : 1);
  },
);

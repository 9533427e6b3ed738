/**
 * Commands that make more than one request: logging in, timelines, watching, listening, doctor, completion.
 */

import { certifyCommand } from './certify.ts';
import type { Command } from './commands.ts';
import { completion } from './completion.ts';
import { removeAccess } from './config.ts';
import { doctor } from './doctor.ts';
import { clientOf, type Given, oneOf } from './given.ts';
import { listen } from './listen.ts';
import { login } from './login.ts';
import { Misuse } from './misuse.ts';
import { show, watch } from './orders.ts';
import { answer } from './output.ts';

export interface Own extends Command {
  /** @returns the exit code */
  run(given: Given): Promise<number>;
}

const none = { fields: [] };

export const OWN_COMMANDS: readonly Own[] = [
  {
    ...none,
    words: 'login',
    says: 'Asks for key and secret (a program writes them to its standard input, a line each), and keeps them in a file that only you can read.',
    options: {
      url: 'address of the operator, or of a sandbox',
      sandbox: "a sandbox's sandbox.json: takes address and key from there",
      partner: 'which partner of it; default: the first',
    },
    examples: ['login --url https://ramp.example', 'login --sandbox data/sandbox.json'],
    run: login,
  },
  {
    ...none,
    words: 'logout',
    says: 'Removes the key that is kept.',
    async run(given) {
      const file = removeAccess(given.env);
      given.say(given.json ? JSON.stringify({ removed: file }, null, 2) : `removed ${file}`);
      return 0;
    },
  },
  {
    ...none,
    words: 'orders show',
    says: 'Shows an order as a timeline: what happened, who holds the money, what is next. Takes its id.',
    examples: ['orders show 747983292881815'],
    run: show,
  },
  {
    ...none,
    words: 'orders watch',
    says: 'Shows an order and what becomes of it, until it is over. Takes its id.',
    options: { interval: 'milliseconds between two requests; default: 1000' },
    examples: ['orders watch 747983292881815'],
    run: watch,
  },
  {
    ...none,
    words: 'webhooks listen',
    says: 'Shows events as they happen: as webhooks where the server is on this machine, otherwise pulled from the feed.',
    options: {
      poll: 'pull them, although the server could deliver them',
      forward: 'address on this machine that each is posted to as well',
      'secret-file': 'with --forward of pulled events: the secret that your receiver knows; they are signed with it',
      bodies: 'print each whole event',
    },
    examples: ['webhooks listen', 'webhooks listen --forward http://127.0.0.1:3000/hooks'],
    run: listen,
  },
  {
    ...none,
    words: 'logs',
    says: 'Shows your requests of the last 30 days, the newest first; with an id, one of them with what was sent and answered.',
    options: {
      status: 'only with this HTTP status',
      reason: 'only declined for this reason',
      limit: 'how many; default: 20',
    },
    examples: ['logs --status 422', 'logs 4f1c2a9d0e00001a'],
    async run(given) {
      const { requests } = clientOf(given);
      const [id] = given.rest;
      const { status, reason, limit = '20' } = given.options;
      const number = (text: string | true): number => {
        if (!/^[0-9]{1,4}$/.test(String(text))) throw new Misuse('--status and --limit must be whole numbers');
        return Number(text);
      };
      const query = {
        limit: Math.min(100, number(limit)),
        ...(status === undefined ? {} : { status: number(status) }),
        ...(reason === undefined ? {} : { reason: String(reason) }),
      } as Parameters<typeof requests.list>[0];
      const got = id === undefined ? await requests.list(query).first() : await requests.get(id);
      if (given.json) given.say(JSON.stringify(got, null, 2));
      else if (!('data' in got)) given.say(answer(got, given.width));
      else {
        // The columns that people need most, instead of the first ones.
        const rows = got.data.map((one) => ({
          ...{ at: one.at, operation: one.operation, status: one.status, reason: one.reason },
          ...{ tookMs: one.tookMs, replayed: one.replayed || null, id: one.id, clientRequestId: one.clientRequestId },
        }));
        given.say(answer({ data: rows, nextCursor: got.nextCursor }, given.width));
      }
      return 0;
    },
  },
  {
    ...none,
    words: 'doctor',
    says: 'Says what is wrong with address, clock, key and webhook endpoints, and why requests of today were declined.',
    examples: ['doctor'],
    run: doctor,
  },
  {
    ...none,
    words: 'certify',
    says: 'Drives your own receiver, and your own program, through ten situations against a sandbox: pass or fail, with why.',
    options: {
      'webhook-url': 'your receiver',
      format: 'what it reads: standard, whitelabel or flat; default: standard',
      'secret-file': 'file with the secret that it knows; default: CLOVERLEAF_WEBHOOK_SECRET',
      'state-url': 'what your system says of an order, with {orderId} in it: shows whether a message acted twice',
      program: 'command that sells something with your code, at the address in CLOVERLEAF_URL',
      sandbox: "a sandbox's sandbox.json, instead of the key that is kept",
      partner: 'which partner of it',
    },
    examples: [
      'certify --webhook-url http://127.0.0.1:3000/webhooks --secret-file endpoint.secret',
      "certify --webhook-url http://127.0.0.1:3000/webhooks --secret-file endpoint.secret --program 'node sell.js'",
    ],
    run: certifyCommand,
  },
  {
    ...none,
    words: 'completion',
    says: 'Prints the completion script of your shell: bash, zsh or fish.',
    examples: ['completion bash > /etc/bash_completion.d/cloverleaf-ramp'],
    async run(given) {
      const shell = oneOf(given, 'shell: bash, zsh or fish');
      const script = completion(shell);
      given.say(given.json ? JSON.stringify({ shell, script }, null, 2) : script);
      return 0;
    },
  },
];

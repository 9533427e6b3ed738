/**
 * The contract of every channel of alerts: a message arrives whole and once, a repeated one is known by its id, and what was not
 * accepted is Unavailable without a word of the receiver, the address or a secret.
 */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { Channel, ChannelContext, Message } from '../../src/alerts/index.ts';
import { Unavailable } from '../../src/base/errors.ts';
import { ANSWER, type Receiving } from '../support/alertreceivers.ts';

export interface ChannelEnvironment {
  /** The channel with these settings, and with this deadline for its receiver. */
  open(context: ChannelContext): Channel;
  /**
   * Messages that the receiver has accepted: its text as a person sees it, and the id by which the receiver recognises a repeated
   * one; undefined for a receiver that recognises none.
   */
  accepted(): readonly { id: string | undefined; text: string }[];
  receiver(does: Receiving): void;
  /** Address and secrets: no error has one of them. */
  secrets: readonly string[];
  stop(): Promise<void>;
}

/** Long enough for a receiver on a busy machine. */
const PATIENT = { deadlineMs: 60_000 };
/** For a receiver that does not answer. */
const HURRIED = { deadlineMs: 300 };

const MESSAGE: Message = {
  id: 'cloverleaf-alert-7',
  title: 'Cloverleaf: case 7, payout unknown, needs a person',
  lines: ['Case 7: payout unknown, order 3', 'Rule <all> & "more", *plain*', 'Größe: 12 €'],
  link: 'https://ramp.example/console/cases/7?of=all&from=1',
  isUrgent: true,
};

const SHOWN = [MESSAGE.title, ...MESSAGE.lines, MESSAGE.link ?? ''];
const FAILS = ['declines', 'does not answer', 'hangs up'] as const satisfies readonly Receiving[];

export function testChannel(code: string, make: () => Promise<ChannelEnvironment>): void {
  const inEnvironment = (claim: string, body: (world: ChannelEnvironment & { channel: Channel }) => Promise<void>) =>
    it(claim, async () => {
      const world = await make();
      try {
        await body({ ...world, channel: world.open(PATIENT) });
      } finally {
        await world.stop();
      }
    });

  describe(`channel contract: ${code}`, () => {
    inEnvironment('has the code of its declaration', async ({ channel }) => {
      assert.equal(channel.code, code);
    });

    inEnvironment('a message arrives once, with title, lines and link as they are', async ({ channel, accepted }) => {
      await channel.send(MESSAGE);
      const [first, ...more] = accepted();
      assert.equal(more.length, 0, 'it arrived more than once');
      for (const part of SHOWN) assert.ok(first?.text.includes(part), `${part} is not in ${first?.text}`);
    });

    inEnvironment(
      'a message without a link, and one that is not urgent, arrives too',
      async ({ channel, accepted }) => {
        await channel.send({ ...MESSAGE, link: null, isUrgent: false });
        const [first] = accepted();
        const text = first?.text ?? '';
        assert.ok(text.includes(MESSAGE.title), 'it has no title');
        assert.doesNotMatch(text, /null|undefined/);
      },
    );

    inEnvironment('a repeated message has the same id, and another message another', async ({ channel, accepted }) => {
      for (const id of [MESSAGE.id, MESSAGE.id, 'cloverleaf-alert-8']) await channel.send({ ...MESSAGE, id });
      const [first, again, other, ...more] = accepted().map(({ id }) => id);
      assert.deepEqual([first, more], [again, []]);
      if (first === undefined) assert.equal(other, undefined);
      else assert.notEqual(first, other);
    });

    for (const does of FAILS)
      inEnvironment(`if its receiver ${does}, it is Unavailable; the next attempt is sent`, async (world) => {
        world.receiver(does);
        const channel = does === 'does not answer' ? world.open(HURRIED) : world.channel;
        await assert.rejects(channel.send(MESSAGE), (error: Error & { cause?: unknown }) => {
          assert.ok(error instanceof Unavailable, String(error));
          for (const said of [error.message, String(error.cause ?? ''), JSON.stringify(error)])
            for (const secret of [...world.secrets, ANSWER])
              assert.ok(!said.includes(secret), `${secret} is in ${said}`);
          return true;
        });
        assert.deepEqual(world.accepted(), []);
        world.receiver('accepts');
        await world.channel.send(MESSAGE);
        assert.equal(world.accepted().length, 1);
      });
  });
}

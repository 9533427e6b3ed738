/** The contract of every sender of login codes: a code is sent once or not at all, and only its recipient can read it. */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { Unavailable } from '../../src/base/errors.ts';
import type { CodeSender } from '../../src/protocols/checkout/index.ts';
import { inEnvironmentOf } from './environment.ts';

export interface SenderEnvironment {
  sender: CodeSender;
  /** Messages that have reached phones; absent for a sender that sends nothing, because its codes are known. */
  sent?(): readonly { phone: string; code: string }[];
  /** A number that cannot be reached from now on, for this sender's kind of failure: no answer, or a rejection. */
  fails: readonly (() => Promise<{ phone: string }>)[];
  stop(): Promise<void>;
}

const PHONE = '+919876543210';
const CODE = '405060';

export function testSender(code: string, make: () => Promise<SenderEnvironment>): void {
  const inEnvironment = inEnvironmentOf(make);

  describe(`sender contract: ${code}`, () => {
    inEnvironment('a code reaches its phone once', async ({ sender, sent }) => {
      await sender.sendCode(PHONE, CODE);
      if (sent === undefined)
        assert.ok(sender.hint !== undefined, 'it sends nothing and does not say what the code is');
      else assert.deepEqual(sent(), [{ phone: PHONE, code: CODE }]);
    });

    inEnvironment('codes of its own are six digits, and only known where nothing is sent', async ({ sender, sent }) => {
      if (sender.nextCode !== undefined) assert.match(sender.nextCode(), /^[0-9]{6}$/);
      if (sent !== undefined) assert.deepEqual([sender.nextCode, sender.hint], [undefined, undefined]);
    });

    inEnvironment('what cannot be sent is Unavailable, and tells neither phone nor code', async (world) => {
      for (const fail of world.fails) {
        const before = world.sent?.().length;
        const { phone } = await fail();
        await assert.rejects(world.sender.sendCode(phone, CODE), (error: Error & { cause?: unknown }) => {
          assert.ok(error instanceof Unavailable, String(error));
          for (const text of [error.message, String(error.cause ?? ''), JSON.stringify(error)])
            assert.ok(!text.includes(CODE) && !text.includes(phone), text);
          return true;
        });
        assert.equal(world.sent?.().length, before, 'it was sent all the same');
      }
    });
  });
}

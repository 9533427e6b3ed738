/**
 * The contract of every provider of address risk: one of the four levels with the provider's own word, read from bytes that it
 * shows; the same again when asked again; and anything else is Unavailable, without the address or a secret.
 */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { Unavailable } from '../../src/base/errors.ts';
import { type AddressRiskContext, type AddressRiskProvider, LEVELS } from '../../src/compliance/index.ts';
import { inEnvironmentOf } from './environment.ts';

/** What a provider on loopback does wrong: silence, a status, bytes that are no JSON, or JSON that means nothing here. */
export interface Wrong {
  readonly what: string;
  readonly status?: number;
  readonly body?: string;
  /** It never answers. */
  readonly isDark?: true;
}

export interface AddressRiskEnvironment {
  open(context: AddressRiskContext): AddressRiskProvider;
  /** An address at each level; of a provider that may be down also one that nobody answers for. */
  addresses: Readonly<Record<(typeof LEVELS)[number], string>>;
  unanswered?: string;
  /** Everything that its documentation does not promise; for a provider over a network. */
  wrongs?: readonly Wrong[];
  becomes?(wrong: Wrong | undefined): void;
  /** Address and secrets of the provider: no error has one of them. */
  secrets: readonly string[];
  context: AddressRiskContext;
  stop(): Promise<void>;
}

const RAIL = 'evm.matic20';

export function testAddressRisk(code: string, make: () => Promise<AddressRiskEnvironment>): void {
  const inEnvironment = inEnvironmentOf(make);
  const isUnavailable = (world: AddressRiskEnvironment, provider: AddressRiskProvider, address: string, what: string) =>
    assert.rejects(provider.assess({ rail: RAIL, address }), (error: Error & { cause?: unknown }) => {
      assert.ok(error instanceof Unavailable, `${what}: ${error}`);
      for (const said of [error.message, String(error.cause ?? ''), JSON.stringify(error)])
        for (const secret of [...world.secrets, address]) assert.ok(!said.includes(secret), `${secret} is in ${said}`);
      return true;
    });

  describe(`address risk contract: ${code}`, () => {
    inEnvironment('has the code of its declaration, and rules with a version', async ({ open, context }) => {
      const provider = open(context);
      assert.equal(provider.code, code);
      assert.match(provider.rules, /^[a-z0-9.]{1,20}$/);
    });

    inEnvironment('says each level in words of its own, the same again, from bytes that it shows', async (world) => {
      const provider = world.open(world.context);
      for (const level of LEVELS) {
        const asked = { rail: RAIL, address: world.addresses[level] };
        const [first, again] = [await provider.assess(asked), await provider.assess(asked)];
        assert.equal(first.level, level);
        assert.match(first.score, /^\S.{0,59}$/);
        assert.ok(first.reason.length <= 200 && !/[\r\n]/.test(first.reason), first.reason);
        assert.ok(first.answer.length > 0, 'it shows no answer');
        assert.deepEqual(again, first);
      }
    });

    inEnvironment('an address that nobody answers for is Unavailable, and has no level', async (world) => {
      if (world.unanswered === undefined) return assert.ok(world.wrongs !== undefined, 'the fixture never fails');
      await isUnavailable(world, world.open(world.context), world.unanswered, 'unanswered');
    });

    inEnvironment(
      'what its documentation does not promise is Unavailable; the next question is answered',
      async (world) => {
        const { wrongs = [], becomes } = world;
        const address = world.addresses.low;
        for (const wrong of wrongs) {
          assert.ok(becomes !== undefined, 'the fixture does not say how the provider goes wrong');
          becomes(wrong);
          const hurried = { ...world.context, deadlineMs: wrong.isDark === true ? 300 : world.context.deadlineMs };
          await isUnavailable(world, world.open(hurried), address, wrong.what);
          becomes(undefined);
          assert.equal((await world.open(world.context).assess({ rail: RAIL, address })).level, 'low', wrong.what);
        }
      },
    );
  });
}

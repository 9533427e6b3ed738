/**
 * The contract of every verifier: one verification per key, no result means in review, a level only for a verified customer,
 * silence is not a result, and a provider's call counts only if it is signed.
 */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { Unavailable } from '../../src/base/errors.ts';
import { HIGHEST_LEVEL } from '../../src/customers/index.ts';
import type { Finding, ProviderCall, VerificationRequest, Verifier } from '../../src/verifiers/verifier.ts';
import { inEnvironmentOf } from './environment.ts';

/** The exports of a fixture's file: its claims, and a function that makes an environment around the verifier. */
export interface VerifierFixture {
  /** It decides by itself, at once: a test cannot set its result. */
  findsByItself?: true;
  /** It asks a provider over a network, which may be silent or answer nonsense. */
  asksOutside?: true;
  /** The kinds of customers whose names it reads from documents. */
  reads?: readonly VerificationRequest['kind'][];
  make(): Promise<VerifierEnvironment>;
}

export interface VerifierEnvironment {
  verifier: Verifier;
  /** Number of verifications at the provider, or at the source of results. */
  begun(): Promise<number>;
  /** Sets the provider's result. */
  finds?(asked: VerificationRequest, finding: Finding): Promise<void>;
  /** A provider's call about this verification. Needed if the verifier has `readCallback`. */
  calls?(asked: VerificationRequest): ProviderCall;
  /** From now on the provider does not answer. */
  goesDark?(): Promise<void>;
  /** From now on it answers with invalid content. */
  babbles?(): Promise<void>;
  stop(): Promise<void>;
}

const asked = (key: string, more: Partial<VerificationRequest> = {}): VerificationRequest => ({
  key,
  customerId: '4711',
  kind: 'INDIVIDUAL',
  level: 2,
  ...more,
});

const isPlausible = ({ outcome, level, reason = '', names, pending }: Finding, { highestLevel }: Verifier) => {
  assert.ok(['in_review', 'verified', 'failed', 'refused'].includes(outcome), outcome);
  assert.ok(outcome === 'verified' ? level >= 1 && level <= highestLevel : level === 0, `level ${level} of ${outcome}`);
  assert.ok(reason.length <= 200, 'a reason is longer than a sentence');
  assert.ok(names === undefined || outcome === 'verified', 'names of a document that was not accepted');
  assert.ok(pending === undefined || outcome === 'in_review', 'a final result says when to ask again');
  const { pollAfterMs = 1 } = pending ?? {};
  assert.ok(Number.isInteger(pollAfterMs) && pollAfterMs > 0, `asked again after ${pollAfterMs} ms`);
};
const isInReview = (finding: Finding, verifier: Verifier, when: string) => {
  assert.deepEqual([finding.outcome, finding.level], ['in_review', 0], when);
  isPlausible(finding, verifier);
};

export function testVerifier(code: string, { make, findsByItself, asksOutside, reads = [] }: VerifierFixture): void {
  const inEnvironment = inEnvironmentOf(make);
  describe(`verifier contract: ${code}`, () => {
    inEnvironment(
      'its code is that of its line in registry.ts, and its levels are those there are',
      async ({ verifier }) => {
        assert.equal(verifier.code, code);
        assert.match(code, /^[a-z0-9-]{1,20}$/);
        assert.ok(
          Number.isInteger(verifier.highestLevel) &&
            verifier.highestLevel >= 1 &&
            verifier.highestLevel <= HIGHEST_LEVEL,
        );
        const each = (['INDIVIDUAL', 'BUSINESS'] as const).map((kind) => verifier.highestLevelFor?.(kind));
        if (verifier.highestLevelFor !== undefined) assert.equal(Math.max(...each.map(Number)), verifier.highestLevel);
      },
    );

    inEnvironment('the same key is the same verification, however often it is begun', async ({ verifier, begun }) => {
      const first = await verifier.begin(asked('one'));
      const before = await begun();
      const again = await verifier.begin(asked('one'));
      assert.equal(await begun(), before, 'it was begun once more');
      // A link to the page may be valid for one visit only.
      assert.equal(again.pageUrl === undefined, first.pageUrl === undefined);
      for (const { pageUrl } of [first, again])
        if (pageUrl !== undefined) assert.equal(new URL(pageUrl).protocol, 'https:');
    });

    inEnvironment('no level is above what it can verify to', async ({ verifier, finds }) => {
      const one = asked('four', { level: HIGHEST_LEVEL });
      await verifier.begin(one);
      await finds?.(one, { outcome: 'verified', level: verifier.highestLevel });
      const finding = await verifier.finding(one);
      assert.equal(finding.outcome, 'verified');
      isPlausible(finding, verifier);
    });

    inEnvironment('a call counts only if its signature is right, and names the same check again', async (world) => {
      const { verifier, calls } = world;
      const { readCallback } = verifier;
      if (readCallback === undefined)
        return assert.equal(calls, undefined, 'the fixture calls a verifier that takes none');
      assert.ok(calls !== undefined, 'the fixture does not say how the provider calls');
      const one = asked('seven');
      const { headers, body } = calls(one);
      for (const again of [1, 2]) assert.equal(readCallback({ headers, body }), 'seven', `called ${again} times`);
      const other = Buffer.concat([body, Buffer.from(' ')]);
      for (const wrong of [
        { headers, body: other },
        { headers: {}, body },
        { headers, body: Buffer.alloc(0) },
      ])
        assert.equal(readCallback(wrong), undefined, 'a call with an invalid signature was accepted');
      for (const [name, value] of Object.entries(headers)) {
        if (name === 'content-type') continue;
        for (const forged of ['', 'x', `${value}0`, '0'.repeat(value?.length ?? 0), 'é'.repeat(64)])
          assert.equal(
            readCallback({ headers: { ...headers, [name]: forged }, body }),
            undefined,
            `${name}: ${forged}`,
          );
      }
    });

    if (findsByItself === true) return;
    testResults(inEnvironment, reads);
    if (asksOutside !== true) return;
    for (const trouble of ['goesDark', 'babbles'] as const) {
      inEnvironment(
        `${trouble === 'goesDark' ? 'silence' : 'nonsense'} is Unavailable, and names nobody`,
        async (world) => {
          const happen = world[trouble];
          assert.ok(happen !== undefined, `the fixture has no ${trouble}`);
          const one = asked('five', { customerId: 'customer-of-ours' });
          await world.verifier.begin(one);
          await happen();
          for (const asking of [world.verifier.finding(one), world.verifier.begin(asked('six'))])
            await assert.rejects(asking, (error) => {
              assert.ok(error instanceof Unavailable, String(error));
              assert.ok(!error.message.includes('customer-of-ours'), error.message);
              return true;
            });
        },
      );
    }
  });
}

type InEnvironment = ReturnType<typeof inEnvironmentOf<VerifierEnvironment>>;

/** Results that a test can set. */
function testResults(inEnvironment: InEnvironment, reads: readonly VerificationRequest['kind'][]): void {
  inEnvironment('what is found is told as it was found, and again when asked again', async ({ verifier, finds }) => {
    assert.ok(finds !== undefined, 'the fixture does not say how it finds');
    for (const kind of ['INDIVIDUAL', 'BUSINESS'] as const) {
      const one = asked(`two-${kind}`, { kind });
      await verifier.begin(one);
      for (const again of [1, 2, 3])
        isInReview(await verifier.finding(one), verifier, `nothing is found yet, asked ${again} times`);
      await finds(one, { outcome: 'verified', level: 1 });
      for (const again of [1, 2])
        assert.deepEqual(await verifier.finding(one), { outcome: 'verified', level: 1 }, `asked ${again} times`);
    }
  });

  inEnvironment('one that was not accepted has no level', async ({ verifier, finds }) => {
    assert.ok(finds !== undefined, 'the fixture does not say how it finds');
    for (const outcome of ['failed', 'refused'] as const) {
      const one = asked(`three-${outcome}`);
      await verifier.begin(one);
      await finds(one, { outcome, level: 0, reason: 'unreadable' });
      const finding = await verifier.finding(one);
      assert.equal(finding.outcome, outcome);
      isPlausible(finding, verifier);
    }
  });

  inEnvironment(
    'the names that a document shows are told with its verification, and with nothing else',
    async (world) => {
      const { verifier, finds } = world;
      assert.ok(finds !== undefined, 'the fixture does not say how it finds');
      const shown = {
        INDIVIDUAL: { firstName: 'Asha', lastName: 'Rao', dob: '1990-02-03' },
        BUSINESS: { companyName: 'Rao Exports Ltd' },
      };
      for (const kind of reads) {
        const one = asked(`six-${kind}`, { kind });
        await verifier.begin(one);
        const names = shown[kind];
        await finds(one, { outcome: 'failed', level: 0, names });
        assert.equal((await verifier.finding(one)).names, undefined, 'names of a document that was not accepted');
        await finds(one, { outcome: 'verified', level: 1, names });
        assert.deepEqual(await verifier.finding(one), { outcome: 'verified', level: 1, names });
      }
    },
  );
}

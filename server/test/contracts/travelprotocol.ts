/**
 * The contract of every travel rule protocol: an address, an inquiry, a resolution and a confirmation are read as they were written,
 * amounts to the last digit; an answer that its documentation does not promise is Unavailable; and no error has a byte of a message.
 */
import assert from 'node:assert/strict';
import { describe } from 'node:test';
import { Unavailable } from '../../src/base/errors.ts';
import { type Call, type Inquiry, Misread, type TravelProtocol } from '../../src/compliance/travel-rule/protocol.ts';
import { inEnvironmentOf } from './environment.ts';

/** What a provider on loopback answers. */
export interface Answer {
  readonly status: number;
  readonly body?: string;
  /** It never answers. */
  readonly isDark?: true;
}

export interface TravelProtocolEnvironment {
  protocol: TravelProtocol;
  /** The same with a deadline that ends at once when nobody answers. */
  hurried: TravelProtocol;
  /** An asset that it names, and one that it does not. */
  asset: string;
  unnamed: string;
  /** Of the provider on loopback. */
  url: string;
  becomes(answer: Answer): void;
  /** The newest request that it received. */
  received(): Call;
  /** Bodies of no inquiry, by what is wrong with them. */
  malformed: Readonly<Record<string, string>>;
  /** Answers to an inquiry that are none. */
  wrongs: Readonly<Record<string, Answer>>;
  stop(): Promise<void>;
}

const SECRET = 'Zanzibar-Quartermain';
const person = (primaryIdentifier: string) => ({
  naturalPerson: { name: { nameIdentifier: [{ primaryIdentifier, nameIdentifierType: 'LEGL' }] } },
});
const IVMS = {
  originator: { originatorPersons: [person(SECRET)], accountNumber: ['order 1'] },
  beneficiary: { beneficiaryPersons: [person('Æbelø “Ø” 王')], accountNumber: ['0xabc'] },
};
const AMOUNTS = [
  '1',
  '0.000001',
  '56.179776',
  '123456789012345678',
  '0.000000000000000001',
  '12345678901.123456789012345678',
];
const REQUEST = 'f0a1b2c3-0000-4000-8000-000000000001';

export function testTravelProtocol(code: string, make: () => Promise<TravelProtocolEnvironment>): void {
  const inEnvironment = inEnvironmentOf(make);
  const inquiryOf = ({ asset, url }: TravelProtocolEnvironment, amount = '56.179776'): Inquiry => ({
    ...{ asset, amount, callback: `${url}/callback?of=1`, ivms: IVMS },
  });
  /** As the other provider receives it. */
  const arrives = async (world: TravelProtocolEnvironment, body: string): Promise<Call> => {
    world.becomes({ status: 200, body: '' });
    await world.protocol.tell({ url: `${world.url}/x`, requestId: REQUEST, body });
    return world.received();
  };
  const says = (error: unknown, what: string): string => {
    assert.ok(error instanceof Error, what);
    for (const said of [error.message, String(error.cause ?? ''), JSON.stringify(error)])
      assert.ok(!said.includes(SECRET) && !said.includes('127.0.0.1'), `${what}: ${said}`);
    return error.message;
  };

  describe(`travel rule protocol contract: ${code}`, () => {
    inEnvironment('has the code of its declaration, and names only assets that it was told of', async (world) => {
      assert.equal(world.protocol.code, code);
      assert.deepEqual([world.protocol.names(world.asset), world.protocol.names(world.unnamed)], [true, false]);
    });

    inEnvironment(
      'an address is read as the URL that it was made of, and nothing else is an address',
      async ({ protocol, url }) => {
        const address = protocol.addressOf(`${url}/travel-rule/${code}/inquiry/1-ab`);
        const read = protocol.urlOf(address);
        assert.ok(read?.startsWith(`${url}/travel-rule/${code}/inquiry/1-ab`), read);
        const changed = address.replace(/.$/, (last) => (last === '1' ? '2' : '1'));
        for (const other of [
          '',
          'ta',
          address.slice(1),
          changed,
          `${address}1`,
          url,
          'javascript:alert(1)',
          'x'.repeat(5_000),
        ])
          assert.equal(protocol.urlOf(other), undefined, other.slice(0, 60));
      },
    );

    inEnvironment('an inquiry is read as it was written, its amount to the last digit', async (world) => {
      for (const amount of AMOUNTS) {
        const inquiry = inquiryOf(world, amount);
        const read = world.protocol.readInquiry(await arrives(world, world.protocol.writeInquiry(inquiry)));
        assert.deepEqual([read.requestId, read.asset, read.callback], [REQUEST, inquiry.asset, inquiry.callback]);
        assert.equal(read.amount, amount);
        assert.deepEqual([read.ivms.originator, read.ivms.beneficiary], [IVMS.originator, IVMS.beneficiary]);
        assert.ok(read.ivms.originatingVASP !== undefined, 'it does not say who sends it');
      }
    });

    inEnvironment('a malformed inquiry is misread, and what is said of it quotes nothing', async (world) => {
      for (const [what, body] of Object.entries(world.malformed)) {
        const call = await arrives(world, body);
        assert.throws(
          () => world.protocol.readInquiry(call),
          (error) => error instanceof Misread && says(error, what) !== '',
          what,
        );
      }
    });

    inEnvironment('a resolution and a confirmation are read as they were written', async (world) => {
      const { protocol, url } = world;
      const approved = { outcome: 'approved', address: '0xAbC', callback: `${url}/confirm` } as const;
      const rejected = { outcome: 'rejected', reason: 'not today' } as const;
      for (const one of [approved, rejected])
        assert.deepEqual(protocol.readResolution(await arrives(world, protocol.writeResolution(one))), one);
      for (const one of [{ tx: '0xabc' }, { canceled: 'changed' }])
        assert.deepEqual(protocol.readConfirmation(await arrives(world, protocol.writeConfirmation(one))), one);
    });

    inEnvironment('asks, and reads each documented answer; a reply of its own is one of them', async (world) => {
      const { protocol, url, becomes } = world;
      const message = { url: `${url}/x`, requestId: REQUEST, body: protocol.writeInquiry(inquiryOf(world)) };
      const approved = { outcome: 'approved', address: '0xabc', callback: `${url}/confirm` } as const;
      for (const given of [approved, { outcome: 'rejected', reason: 'no' } as const]) {
        becomes({ status: 200, body: protocol.writeResolution(given) });
        assert.deepEqual(await protocol.inquire(message), given);
      }
      becomes({ status: 200, body: protocol.replyTo(world.received()).pending });
      assert.deepEqual(await protocol.inquire(message), { outcome: 'pending' });
    });

    inEnvironment('what its documentation does not promise is Unavailable, and quotes nothing', async (world) => {
      const { protocol, hurried, url, becomes } = world;
      const message = { url: `${url}/x`, requestId: REQUEST, body: protocol.writeInquiry(inquiryOf(world)) };
      for (const [what, answer] of Object.entries(world.wrongs)) {
        becomes(answer);
        await assert.rejects(
          (answer.isDark === true ? hurried : protocol).inquire(message),
          (error) => error instanceof Unavailable && says(error, what) !== '',
          what,
        );
      }
    });

    inEnvironment('news is taken, unknown, or told again later', async (world) => {
      const { protocol, url, becomes } = world;
      const message = { url: `${url}/x`, requestId: REQUEST, body: protocol.writeConfirmation({ tx: '0x1' }) };
      for (const [status, taken] of [
        [200, true],
        [204, true],
        [404, false],
      ] as const) {
        becomes({ status });
        assert.equal(await protocol.tell(message), taken, String(status));
      }
      for (const status of [302, 400, 401, 429, 500, 503]) {
        becomes({ status });
        await assert.rejects(protocol.tell(message), Unavailable, String(status));
      }
    });
  });
}

/**
 * The server's side of the signer connection: signers for the rails, whose keys are behind a socket.
 *
 * One connection, opened when needed and reopened after a loss. Each call has a deadline. A late or malformed answer throws
 * NotSigned. The caller retries, and the signer counts two requests for one nonce once.
 *
 * At each connection the signer's wallets are compared with those we watch. A signer with other keys is unusable.
 */
import { randomBytes } from 'node:crypto';
import type { Duplex } from 'node:stream';
import { keccak256 } from 'viem/utils';
import { NotSigned } from '../rails/chain.ts';
import type { Asked, SignedBefore, Signer, Unsigned } from '../rails/evm/index.ts';
import type { RawKeys, RawSigner, RawWanted } from '../rails/families.ts';
import type { From } from './policy.ts';
import {
  type Answer,
  hangUp,
  isProof,
  proofOf,
  readAnswer,
  readLines,
  readSigned,
  writeLine,
  writeTransfer,
} from './wire.ts';

const DEADLINE_MS = 3_000;

export interface SignerClient extends RawKeys {
  /** Signer of a named wallet, whose address we know from our own settings. */
  wallet(chainId: bigint, name: string, address: string): Signer;
  /** Signers of the deposit addresses, by index. */
  deposits(chainId: bigint, addressOf: (index: bigint) => string): (index: bigint) => Signer;
  /** @throws NotSigned with the reason why the signer cannot be used now */
  ping(): Promise<void>;
  close(): void;
}

export interface SignerClientOptions {
  /** Opens a connection. A failure may show only later, as with sockets. */
  connect: () => Duplex;
  secret: string;
  /** The wallets we watch, which the signer must match. */
  expected: { wallets: Readonly<Record<string, string>>; xpub: string; chainId?: bigint };
  deadlineMs?: number;
}

interface Line {
  ask(method: string, params: unknown): Promise<Answer>;
  readonly isOpen: boolean;
  close(): void;
}

export function signerClient(options: SignerClientOptions): SignerClient {
  const { secret, expected, deadlineMs = DEADLINE_MS } = options;
  let current: Line | undefined;
  let opening: Promise<Line> | undefined;

  async function connected(): Promise<Line> {
    if (current?.isOpen === true) return current;
    opening ??= open().finally(() => {
      opening = undefined;
    });
    current = await opening;
    return current;
  }

  async function open(): Promise<Line> {
    const opened = await shakeHands(options.connect(), secret, deadlineMs);
    const answer = await opened.ask('describe', {});
    const mine = 'result' in answer ? answer.result : {};
    const wallets = (mine.wallets ?? {}) as Record<string, unknown>;
    const differs = Object.entries(expected.wallets).find(([name, address]) => wallets[name] !== address);
    if (differs !== undefined || mine.xpub !== expected.xpub) {
      opened.close();
      const what = differs === undefined ? 'its deposit addresses' : `its wallet ${differs[0]}`;
      throw new NotSigned(`it has other keys than this server watches: ${what}`);
    }
    const chainIds = Array.isArray(mine.chainIds) ? mine.chainIds : [];
    if (expected.chainId !== undefined && !chainIds.includes(String(expected.chainId))) {
      opened.close();
      throw new NotSigned(`it has no limits for chain ${expected.chainId}, so it would sign nothing there`);
    }
    return opened;
  }

  async function ask(method: string, params: unknown): Promise<Answer> {
    return await (await connected()).ask(method, params);
  }

  const signerOf = (chainId: bigint, from: From, address: string): Signer => ({
    address,
    delegates: true,
    refuses: (wanted: Asked) => refuses(chainId, from, wanted),
    async sign(unsigned: Unsigned) {
      const answer = await ask('sign', writeTransfer(from, unsigned));
      if ('refused' in answer) throw new NotSigned(`it refuses: ${answer.refused}`, { declined: true });
      if ('error' in answer) throw new NotSigned(answer.error);
      const { raw, hash } = answer.result;
      if (typeof raw !== 'string' || !/^([0-9a-f]{2})+$/.test(raw) || keccak256(`0x${raw}`) !== hash)
        throw new NotSigned('its answer is no signature');
      return { raw: Buffer.from(raw, 'hex'), hash };
    },
    signedFrom: (nonce: bigint) => signedFrom(chainId, from, nonce),
  });

  async function refuses(chainId: bigint, from: From, wanted: Asked): Promise<string | undefined> {
    const answer = await ask('check', writeTransfer(from, { ...wanted, chainId }));
    if ('error' in answer) throw new NotSigned(`it could not read the request: ${answer.error}`);
    return 'refused' in answer ? `the signer refuses: ${answer.refused}` : undefined;
  }

  const rawSignerOf = (chainId: bigint, from: From): RawSigner => ({
    refuses: ({ feeUnits, ...wanted }: RawWanted) => refuses(chainId, from, { ...wanted, gas: feeUnits, price: 1n }),
    async sign(rawData: Buffer, depositIndex: bigint | undefined) {
      const answer = await ask('signRaw', {
        chainId: String(chainId),
        ...('wallet' in from ? from : { deposit: String(from.deposit) }),
        rawData: rawData.toString('hex'),
        ...(depositIndex === undefined ? {} : { depositIndex: String(depositIndex) }),
      });
      if ('refused' in answer) throw new NotSigned(`it refuses: ${answer.refused}`, { declined: true });
      if ('error' in answer) throw new NotSigned(answer.error);
      const { signature } = answer.result;
      if (typeof signature !== 'string' || !/^[0-9a-f]{130}$/.test(signature))
        throw new NotSigned('its answer is no signature');
      return Buffer.from(signature, 'hex');
    },
  });

  async function signedFrom(chainId: bigint, from: From, nonce: bigint): Promise<SignedBefore[]> {
    const who = 'wallet' in from ? from : { deposit: String(from.deposit) };
    const answer = await ask('signed', { chainId: String(chainId), ...who, nonce: String(nonce) });
    const found = 'result' in answer ? readSigned(answer.result.transfers, nonce) : undefined;
    if (found === undefined) throw new NotSigned('it did not list what it has signed');
    return found;
  }

  return {
    wallet: (chainId, name, address) => signerOf(chainId, { wallet: name }, address),
    deposits: (chainId, addressOf) => (index) => signerOf(chainId, { deposit: index }, addressOf(index)),
    rawWallet: (chainId, name) => rawSignerOf(chainId, { wallet: name }),
    rawDeposits: (chainId) => (index) => rawSignerOf(chainId, { deposit: index }),
    async ping() {
      const answer = await ask('describe', {});
      if (!('result' in answer)) throw new NotSigned('its answer cannot be read');
    },
    close: () => current?.close(),
  };
}

/** Both sides prove that they know the secret. */
function shakeHands(stream: Duplex, secret: string, deadlineMs: number): Promise<Line> {
  return new Promise((resolve, reject) => {
    const mine = randomBytes(32).toString('hex');
    const waiting = new Map<number, { resolve: (answer: Answer) => void; lost: (why: string) => void }>();
    let step: 'challenge' | 'proof' | 'open' | 'closed' = 'challenge';
    let lastId = 0;
    const lose = (why: string) => {
      if (step === 'closed') return;
      const wasOpen = step === 'open';
      step = 'closed';
      clearTimeout(late);
      hangUp(stream);
      for (const one of waiting.values()) one.lost(why);
      waiting.clear();
      if (!wasOpen) reject(new NotSigned(why));
    };
    const late = setTimeout(() => lose('no connection in time'), deadlineMs);
    stream.on('error', (error: NodeJS.ErrnoException) => lose(`no connection (${error.code ?? error.name})`));
    const lost = () =>
      lose(step === 'proof' ? 'the two sides have different shared secrets' : 'the connection was lost');
    stream.on('end', lost);
    stream.on('close', lost);

    const line: Line = {
      get isOpen() {
        return step === 'open';
      },
      close: () => lose('closed'),
      ask: (method, params) =>
        new Promise((done, failed) => {
          if (step !== 'open') return failed(new NotSigned('the connection was lost'));
          lastId += 1;
          const id = lastId;
          const timer = setTimeout(() => {
            waiting.delete(id);
            failed(new NotSigned(`no answer within ${deadlineMs} ms`));
          }, deadlineMs);
          const settle = <T>(end: (value: T) => void) => {
            return (value: T) => {
              clearTimeout(timer);
              end(value);
            };
          };
          waiting.set(id, {
            resolve: settle(done),
            lost: settle((why: string) => failed(new NotSigned(why))),
          });
          writeLine(stream, { id, method, params });
        }),
    };

    readLines(stream, (message) => {
      const said = (message ?? {}) as Record<string, unknown>;
      if (step === 'challenge') {
        if (typeof said.challenge !== 'string') return lose('another program answered');
        step = 'proof';
        return writeLine(stream, { proof: proofOf('server', secret, said.challenge), challenge: mine });
      }
      if (step === 'proof') {
        if (!isProof(said.proof, proofOf('signer', secret, mine))) return lose('it has another shared secret');
        step = 'open';
        clearTimeout(late);
        return resolve(line);
      }
      const answer = readAnswer(said);
      if (answer === undefined) return lose('it sent something that is not an answer');
      waiting.get(answer.id)?.resolve(answer);
      waiting.delete(answer.id);
    });
  });
}

/**
 * Policy: which transactions the signer signs. Pure; earlier signatures are passed in.
 *
 * From a named wallet (`hot`): listed tokens to any recipient, the native asset to our own deposit addresses as gas, and the
 * native asset to other recipients only if a limit above zero allows it. Each has a limit per transfer and one per hour, fees
 * too. From a deposit address: listed tokens to the hot wallet only; that needs no limit.
 *
 * A nonce belongs to one transfer permanently. Signing it again is allowed for the same recipient and amount (a higher fee, a
 * lost answer) and counts once, plus the increase of its fee; another transfer under it is refused. So a client cannot have two
 * transfers signed and send the one that suits it. There is one exception: an empty transfer of the wallet or deposit address to
 * itself is signed under any nonce, whatever was signed before. It pays no one and uses up the nonce; after it nothing else is
 * signed under that nonce.
 *
 * If a sweeper contract is listed, the hot wallet may call it with a batch of sweeps, and deposit addresses may delegate to it in
 * that transaction. The contract moves listed tokens to the hot wallet only. The sum of a batch has the token's limit per
 * transfer, and its fee counts like any other.
 *
 * On a chain without nonces the hash of the transaction takes the nonce's place: signing the same bytes again counts once,
 * other bytes count separately.
 */
import { keccak256 } from 'viem/utils';
import { defined } from '../base/defined.ts';
import { batchMoves, movedBy, refusalOf, type Unsigned, type Wanted } from '../rails/evm/index.ts';

/** In smallest units. `perHour` counts signatures of the last 60 minutes, mined or not. */
export interface Limit {
  perTransfer: bigint;
  perHour: bigint;
}

export interface ChainLimits {
  chainId: bigint;
  /** Code of the chain's family; EVM by default. */
  family?: string;
  /** Limits by lower-case contract address. Only listed contracts are called. */
  tokens: Readonly<Record<string, Limit>>;
  /** The native asset to our own deposit addresses. */
  gas: Limit;
  /** The native asset to other recipients; zero for none. */
  native: Limit;
  /** Maximum fee of one transaction, and of all in an hour, in native units. */
  fees: Limit;
  /** Our Sweeper contract, in lower case; without it no batch is signed. */
  sweeper?: string;
}

/** The signing wallet: a name, or a deposit address by number. */
export type From = { wallet: string } | { deposit: bigint };

/** `cancel`: an empty transfer of the signing wallet to itself. `batch`: sweeps of many deposit addresses. */
export type Kind = 'token' | 'gas' | 'native' | 'sweep' | 'cancel' | 'batch';

/** The journal's record of a signature. */
export interface Content {
  chainId: bigint;
  from: string;
  nonce: bigint;
  /** Hash of the transaction, in place of the nonce on a chain without nonces. */
  tx?: string;
  kind: Kind;
  /** The contract, or `native`. */
  asset: string;
  /** For a batch the first 20 bytes of its call's hash, so that it is another transfer than any other batch. */
  to: string;
  units: bigint;
  /** Maximum fee, in native units. */
  feeUnits: bigint;
}

/** Earlier signatures, as far as a decision needs them. */
export interface Signed {
  /** The transfer under a nonce, with the highest fee signed for it. */
  under(chainId: bigint, from: string, nonce: bigint): Content | undefined;
  /** The transfer of a transaction's hash, on a chain without nonces. */
  as(chainId: bigint, from: string, tx: string): Content | undefined;
  /** Units signed in the last hour for a wallet. `what` names an asset and kind, or the fees. */
  inTheLastHour(chainId: bigint, from: string, what: string): bigint;
}

export interface Asked {
  from: From;
  /** Address of the signing wallet. */
  address: string;
  /** The address that sweeps must go to. */
  hot: string;
  wanted: Wanted;
  /** Undefined if none has been reserved yet. */
  nonce: Unsigned['nonce'] | undefined;
  /** Hash of the transaction, on a chain without nonces. */
  tx?: string;
  /** The address derived here from the deposit number that was given as proof. */
  provenDeposit: string | undefined;
}

export const FEES = 'fees';
export const counterOf = ({ kind, asset }: Pick<Content, 'kind' | 'asset'>): string => `${kind}:${asset}`;

/** @returns the record for the journal, or a sentence that says why the signer does not sign */
export function decide(limits: ChainLimits, asked: Asked, signed: Signed): string | Content {
  const { from, address, wanted, nonce, tx } = asked;
  if (limits.sweeper !== undefined && wanted.target === limits.sweeper) return decideBatch(limits, asked, signed);
  const moved = movedBy(wanted);
  const isSweep = 'deposit' in from;
  const isGas = !isSweep && wanted.data.length === 0 && asked.provenDeposit === wanted.target;
  const isCancel = wanted.data.length === 0 && wanted.value === 0n && wanted.target === address;
  const nativeLimit = isSweep ? NOTHING : isGas ? limits.gas : limits.native;
  const unwilling = refusalOf(
    {
      chainId: limits.chainId,
      allowedContracts: Object.fromEntries(
        Object.entries(limits.tokens).map(([contract, limit]) => [contract, isSweep ? ANY : limit.perTransfer]),
      ),
      maxNativeUnitsPerTransfer: nativeLimit.perTransfer,
      maxFeeUnits: limits.fees.perTransfer,
      ...(isSweep && !isCancel ? { onlyTo: [asked.hot] } : {}),
    },
    wanted,
  );
  const before =
    tx !== undefined
      ? signed.as(limits.chainId, address, tx)
      : nonce === undefined
        ? undefined
        : signed.under(limits.chainId, address, nonce);
  if (typeof moved === 'string') return unwilling ?? moved;
  if (nonce !== undefined && nonce >= NONCES) return 'a nonce that no wallet can have';
  const { contract, to, units } = moved;
  const content: Content = {
    chainId: limits.chainId,
    from: address,
    nonce: nonce ?? 0n,
    ...defined({ tx }),
    kind: isCancel ? 'cancel' : isSweep ? 'sweep' : contract !== null ? 'token' : isGas ? 'gas' : 'native',
    asset: contract ?? 'native',
    to,
    units,
    feeUnits: wanted.gas * wanted.price,
  };
  const isAgain = before !== undefined && sameTransfer(before, content);
  if (before !== undefined && !isAgain && !isCancel) return `nonce ${nonce} was signed for another transfer`;
  // A lowered limit does not affect a transfer that is already signed: it may still need a higher fee.
  if (unwilling !== undefined && !(isAgain && content.feeUnits <= limits.fees.perTransfer)) return unwilling;
  if (isSweep) return content;
  const hourly = contract === null ? nativeLimit.perHour : (limits.tokens[contract]?.perHour ?? 0n);
  const soFar = signed.inTheLastHour(limits.chainId, address, counterOf(content));
  if (!isAgain && soFar + units > hourly) return 'more than may move in an hour';
  return feeRefusal(limits, content, before, signed) ?? content;
}

function feeRefusal(
  limits: ChainLimits,
  content: Content,
  before: Content | undefined,
  signed: Signed,
): string | undefined {
  const grown = content.feeUnits - (before?.feeUnits ?? 0n);
  const fees = signed.inTheLastHour(limits.chainId, content.from, FEES);
  return grown > 0n && fees + grown > limits.fees.perHour ? 'more fees than may be paid in an hour' : undefined;
}

function decideBatch(limits: ChainLimits, asked: Asked, signed: Signed): string | Content {
  const { from, address, hot, wanted, nonce, tx } = asked;
  if ('deposit' in from || address !== hot) return 'a batch from another wallet than the hot one';
  if (tx !== undefined) return 'a batch on a chain without nonces';
  const unwilling = refusalOf(
    {
      chainId: limits.chainId,
      allowedContracts: Object.fromEntries(
        Object.entries(limits.tokens).map(([contract, limit]) => [contract, limit.perTransfer]),
      ),
      maxNativeUnitsPerTransfer: 0n,
      maxFeeUnits: limits.fees.perTransfer,
      ...defined({ sweeper: limits.sweeper }),
    },
    wanted,
  );
  const batch = batchMoves(wanted.data);
  if (batch === undefined) return unwilling ?? 'a call of the sweeper that is no batch';
  if (nonce !== undefined && nonce >= NONCES) return 'a nonce that no wallet can have';
  const content: Content = {
    chainId: limits.chainId,
    from: address,
    nonce: nonce ?? 0n,
    kind: 'batch',
    asset: batch.contract,
    to: keccak256(wanted.data).slice(0, 42),
    units: batch.moves.reduce((sum, { units }) => sum + units, 0n),
    feeUnits: wanted.gas * wanted.price,
  };
  const before = nonce === undefined ? undefined : signed.under(limits.chainId, address, nonce);
  const isAgain = before !== undefined && sameTransfer(before, content);
  if (before !== undefined && !isAgain) return `nonce ${nonce} was signed for another transfer`;
  if (unwilling !== undefined && !(isAgain && content.feeUnits <= limits.fees.perTransfer)) return unwilling;
  return feeRefusal(limits, content, before, signed) ?? content;
}

export const sameTransfer = (a: Content, b: Content): boolean =>
  a.asset === b.asset && a.to === b.to && a.units === b.units;

/** Upper bound of nonces, so that every signed transaction can be listed by nonce (wire.ts). A chain has fewer than 2^64. */
const NONCES = 10n ** 18n;

const NOTHING: Limit = { perTransfer: 0n, perHour: 0n };
const ANY = 2n ** 256n;

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
 * On a chain without nonces (Tron) the hash of the transaction takes the nonce's place: signing the same bytes again counts once,
 * other bytes count separately.
 */
import { defined } from '../base/defined.ts';
import { movedBy, refusalOf, type Unsigned, type Wanted } from '../rails/evm/index.ts';

/** In smallest units. `perHour` counts signatures of the last 60 minutes, mined or not. */
export interface Limit {
  perTransfer: bigint;
  perHour: bigint;
}

export interface ChainLimits {
  chainId: bigint;
  /** How the chain's transactions are encoded; EVM by default. */
  family?: 'tron';
  /** Limits by lower-case contract address. Only listed contracts are called. */
  tokens: Readonly<Record<string, Limit>>;
  /** The native asset to our own deposit addresses. */
  gas: Limit;
  /** The native asset to other recipients; zero for none. */
  native: Limit;
  /** Maximum fee of one transaction, and of all in an hour, in native units. */
  fees: Limit;
}

/** The signing wallet: a name, or a deposit address by number. */
export type From = { wallet: string } | { deposit: bigint };

/** `cancel`: an empty transfer of the signing wallet to itself. */
export type Kind = 'token' | 'gas' | 'native' | 'sweep' | 'cancel';

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
  const grown = content.feeUnits - (before?.feeUnits ?? 0n);
  const fees = signed.inTheLastHour(limits.chainId, address, FEES);
  if (grown > 0n && fees + grown > limits.fees.perHour) return 'more fees than may be paid in an hour';
  return content;
}

export const sameTransfer = (a: Content, b: Content): boolean =>
  a.asset === b.asset && a.to === b.to && a.units === b.units;

/** Upper bound of nonces, so that every signed transaction can be listed by nonce (wire.ts). A chain has fewer than 2^64. */
const NONCES = 10n ** 18n;

const NOTHING: Limit = { perTransfer: 0n, perHour: 0n };
const ANY = 2n ** 256n;

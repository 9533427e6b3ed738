/**
 * The ways to move tokens from deposit addresses to the hot wallet that the study compares.
 *
 * Each prepares its addresses, and then sweeps them as often as asked; a sweep returns the gas of all its transactions.
 */
import { concat, encodePacked, getContractAddress, numberToHex, pad, slice, stringToHex } from 'viem/utils';
import type { Hex } from '../../server/test/support/anvil.ts';
import { type Chain, type Contract, type Cost, call, HOT, type Owner, type Sent, UNITS } from './chain.ts';

const MAX = 2n ** 256n - 1n;
/** Gas that the sweeper contract gives to each deposit of a batch. */
export const GAS_EACH = 60_000n;
/** Gas of one transfer from a deposit address, and the price at which it is sent ahead. */
const AHEAD = 100_000n * 3_000_000_000n;

export interface Deposits {
  /** Where customers pay. */
  addresses: Hex[];
  /** Sweeps all of them once. @param nth 1 for the first sweep of these addresses */
  sweep(nth: number): Promise<Cost>;
}

export interface Way {
  name: string;
  /** `signed`: a token with EIP-2612 and EIP-3009. */
  needs: 'any' | 'signed';
  /** Whether the first sweep delegates accounts that never existed (`byRule` in gas.ts). */
  isNew?: boolean;
  open(chain: Chain, token: Contract): Promise<(count: number) => Promise<Deposits>>;
}

const of = (owners: readonly Owner[]): Hex[] => owners.map(({ account }) => account.address);
const item = (address: Hex): Hex => encodePacked(['address', 'uint96'], [address, UNITS]);

/** Today: the hot wallet sends gas ahead, then the address sends its tokens. */
export const TODAY: Way = {
  name: 'gas ahead, then a transfer (today)',
  needs: 'any',
  open: async (chain, token) => async (count) => {
    const owners = chain.owners(count);
    return {
      addresses: of(owners),
      async sweep() {
        const gas = await chain.mined(
          owners.map(({ account }): Sent => ({ from: chain.hot, to: account.address, value: AHEAD })),
        );
        const data = call(token, 'transfer', [HOT.address, UNITS]);
        const moved = await chain.mined(owners.map((from): Sent => ({ from, to: token.address, data })));
        return { gas: gas.gas + moved.gas, bytes: gas.bytes + moved.bytes };
      },
    };
  },
};

/** Only the transfer: what it costs if another account pays the fee of the address. */
const sponsored: Way = {
  name: 'a transfer alone, its fee paid by others',
  needs: 'any',
  open: async (chain, token) => async (count) => {
    const owners = chain.owners(count);
    return {
      addresses: of(owners),
      async sweep() {
        for (const { account } of owners)
          await chain.anvil.rpc('anvil_setBalance', [account.address, numberToHex(AHEAD)]);
        const data = call(token, 'transfer', [HOT.address, UNITS]);
        return await chain.mined(owners.map((from): Sent => ({ from, to: token.address, data })));
      },
    };
  },
};

/** EIP-7702. @param coin native units at each address before: then the account exists, and half of the authorization is refunded */
const delegated = (name: string, coin: bigint): Way => ({
  name,
  needs: 'any',
  isNew: coin === 0n,
  async open(chain, token) {
    const sweeper = await chain.deploySweeper();
    return async (count) => {
      const owners = chain.owners(count);
      for (const { account } of owners)
        if (coin > 0n) await chain.anvil.rpc('anvil_setBalance', [account.address, numberToHex(coin)]);
      return {
        addresses: of(owners),
        async sweep(nth) {
          const authorizations =
            nth > 1 ? undefined : await Promise.all(owners.map((owner) => chain.authorized(owner, sweeper)));
          if (authorizations !== undefined) for (const owner of owners) owner.nonce += 1;
          const data = call(sweeper, 'sweep', [token.address, GAS_EACH, of(owners).map(item)]);
          const send: Sent = { from: chain.hot, to: sweeper.address, data, ...(authorizations && { authorizations }) };
          return await chain.mined([send]);
        },
      };
    };
  },
});

type Typed = Record<string, { name: string; type: string }[]>;
const fields = (text: string) =>
  text.split(',').map((one) => {
    const [type = '', name = ''] = one.trim().split(' ');
    return { name, type };
  });
const PERMIT: Typed = {
  Permit: fields('address owner, address spender, uint256 value, uint256 nonce, uint256 deadline'),
};
const AUTHORIZATION = fields(
  'address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce',
);

/** A signature by an owner in the token's domain, as EIP-2098 packs it. */
async function signed(
  chain: Chain,
  token: Contract,
  { account }: Owner,
  types: Typed,
  message: Record<string, unknown>,
): Promise<{ r: Hex; vs: Hex; v: number; s: Hex }> {
  const domain = { name: 'Signed', version: '1', chainId: chain.chainId, verifyingContract: token.address };
  const [primaryType = ''] = Object.keys(types);
  const signature = await account.signTypedData({ domain, types, primaryType, message });
  const [r, s, v] = [slice(signature, 0, 32), slice(signature, 32, 64), Number(slice(signature, 64, 65))];
  return { r, s, v, vs: numberToHex(BigInt(s) | (BigInt(v - 27) << 255n), { size: 32 }) };
}

/** EIP-2612. @param forEver whether the first permit approves everything for ever, so that later sweeps need none */
const permitted = (name: string, forEver: boolean): Way => ({
  name,
  needs: 'signed',
  async open(chain, token) {
    const batch = await chain.deploy('SignatureBatch', [HOT.address]);
    return async (count) => {
      const owners = chain.owners(count);
      return {
        addresses: of(owners),
        async sweep(nth) {
          if (forEver && nth > 1) {
            const data = call(batch, 'move', [token.address, of(owners).map(item)]);
            return await chain.mined([{ from: chain.hot, to: batch.address, data }]);
          }
          const all = [];
          for (const owner of owners) {
            const { address } = owner.account;
            const value = forEver ? MAX : UNITS;
            const message = { owner: address, spender: batch.address, value, nonce: BigInt(nth - 1), deadline: MAX };
            const { r, vs } = await signed(chain, token, owner, PERMIT, message);
            all.push({ item: item(address), r, vs });
          }
          const data = call(batch, 'permitAndMove', [token.address, all, forEver]);
          return await chain.mined([{ from: chain.hot, to: batch.address, data }]);
        },
      };
    };
  },
});

/** The authorization that an owner signs for one transfer (EIP-3009). Its nonce is free to choose; a small one is cheap. */
const authorized = (chain: Chain, token: Contract, owner: Owner, type: string, to: Hex, nth: number) =>
  signed(
    chain,
    token,
    owner,
    { [type]: AUTHORIZATION },
    {
      from: owner.account.address,
      to,
      value: UNITS,
      validAfter: 0n,
      validBefore: MAX,
      nonce: numberToHex(nth, { size: 32 }),
    },
  );

/** EIP-3009 in a batch of ours. */
const received = (name: string, how: 'receiveAll' | 'transferAll'): Way => ({
  name,
  needs: 'signed',
  async open(chain, token) {
    const batch = await chain.deploy('SignatureBatch', [HOT.address]);
    const [type, to] =
      how === 'receiveAll' ? ['ReceiveWithAuthorization', batch.address] : ['TransferWithAuthorization', HOT.address];
    return async (count) => {
      const owners = chain.owners(count);
      return {
        addresses: of(owners),
        async sweep(nth) {
          const all = [];
          for (const owner of owners) {
            const { r, vs } = await authorized(chain, token, owner, type, to, nth);
            all.push({ item: item(owner.account.address), r, vs });
          }
          const data = call(batch, how, [token.address, all, numberToHex(nth, { size: 32 })]);
          return await chain.mined([{ from: chain.hot, to: batch.address, data }]);
        },
      };
    };
  },
});

/** EIP-3009 through the public Multicall3: no contract of ours. */
const multicalled: Way = {
  name: 'EIP-3009 through Multicall3',
  needs: 'signed',
  async open(chain, token) {
    const multicall = await chain.deploy('Multicall');
    return async (count) => {
      const owners = chain.owners(count);
      return {
        addresses: of(owners),
        async sweep(nth) {
          const calls = [];
          for (const owner of owners) {
            const { v, r, s } = await authorized(chain, token, owner, 'TransferWithAuthorization', HOT.address, nth);
            const from = owner.account.address;
            const args = [from, HOT.address, UNITS, 0n, MAX, numberToHex(nth, { size: 32 }), v, r, s];
            const callData = call(token, 'transferWithAuthorization', args);
            calls.push({ target: token.address, allowFailure: true, callData });
          }
          const data = call(multicall, 'aggregate3', [calls]);
          return await chain.mined([{ from: chain.hot, to: multicall.address, data }]);
        },
      };
    };
  },
};

let salts = 0;

/** CREATE2 forwarders. @param lasting whether a proxy stays at the address, or nothing */
const forwarded = (name: string, lasting: boolean): Way => ({
  name,
  needs: 'any',
  async open(chain, token) {
    const factory = await chain.deploy('Forwarders', [HOT.address]);
    const answer = await chain.read(factory, lasting ? 'proxyCode' : 'briefCode');
    const bytecode = slice(answer, 64, 64 + Number(slice(answer, 32, 64)));
    return async (count) => {
      const owners = Array.from({ length: count }, () => {
        salts += 1;
        // A salt of as many bytes as an address: a small one would make the call data cheaper than it is.
        const salt = pad(slice(concat([stringToHex('cloverleaf forwarder'), numberToHex(salts, { size: 4 })]), 4, 24), {
          size: 32,
        });
        const address = getContractAddress({ opcode: 'CREATE2', from: factory.address, salt, bytecode });
        return { salt: slice(salt, 12), address };
      });
      return {
        addresses: owners.map(({ address }) => address),
        async sweep(nth) {
          const known = lasting && nth > 1;
          const items = owners.map(({ salt, address }) => item(known ? address : salt));
          const how = known ? 'sweepMade' : lasting ? 'makeAndSweep' : 'sweepBrief';
          const data = call(factory, how, [token.address, items]);
          return await chain.mined([{ from: chain.hot, to: factory.address, data }]);
        },
      };
    };
  },
});

export const WAYS: readonly Way[] = [
  TODAY,
  sponsored,
  permitted('EIP-2612: a permit per sweep', false),
  permitted('EIP-2612: one permit for ever', true),
  received('EIP-3009: receive, then pass on', 'receiveAll'),
  received('EIP-3009: transfer', 'transferAll'),
  multicalled,
  delegated('EIP-7702: delegate, then one call', 0n),
  delegated('EIP-7702, the account exists already', 1n),
  forwarded('CREATE2: forwarder that is gone', false),
  forwarded('CREATE2: forwarder that stays (EIP-1167)', true),
];

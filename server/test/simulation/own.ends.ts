/** The ends of transfers to own addresses (own.ts): the chain's records compared with the books. */

/** A transfer in the books. Amounts as text. */
export interface OwnRow {
  key: string;
  target: string;
  asset: string;
  units: string;
  state: string;
  /** A case about it is open. */
  told: boolean;
}

/** A transfer that reached an own address, by the chain. */
export interface Arrival {
  target: string;
  asset: string;
  units: bigint;
}

export interface OwnBalance {
  target: string;
  asset: string;
  /** At the address, by the chain. */
  there: bigint;
  /** In the books, as `own.<n>`. */
  booked: bigint;
}

/** Compares transfers in the books with those on the chain: every amount is unique. @returns the violations, in sentences */
export function wrongOwn(
  rows: readonly OwnRow[],
  arrivals: readonly Arrival[],
  balances: readonly OwnBalance[],
  isOrdered: (target: string, units: bigint) => boolean,
): string[] {
  const nameOf = ({ target, asset, units }: { target: string; asset: string; units: bigint | string }): string =>
    `${units} ${asset} to ${target}`;
  const came = Map.groupBy(arrivals, nameOf);
  const settled = Map.groupBy(
    rows.filter(({ state }) => state === 'settled'),
    nameOf,
  );
  return [
    ...arrivals
      .filter(({ target, units }) => !isOrdered(target, units))
      .map((one) => `${nameOf(one)} arrived, and no two people have ordered it`),
    ...[...new Set([...came.keys(), ...settled.keys()])].flatMap((name) => {
      const [times, booked] = [came.get(name)?.length ?? 0, settled.get(name)?.length ?? 0];
      return times === booked && times <= 1 ? [] : [`${name} arrived ${times} times, and is booked ${booked} times`];
    }),
    ...balances.flatMap(({ target, asset, there, booked }) =>
      there === booked ? [] : [`${there} ${asset} are at ${target}, and ${booked} in the books`],
    ),
    ...rows.flatMap(({ key, state, told }) =>
      told === (state === 'failed') || state === 'created' || state === 'submitted'
        ? []
        : [`${key} is ${state}, and ${told ? 'a' : 'no'} case about it is open`],
    ),
    ...rows.flatMap(({ key, state }) =>
      state === 'created' || state === 'submitted' ? [`${key} is ${state} at the end`] : [],
    ),
  ];
}

/** Transfers that arrived more than once, in sentences. */
export const arrivedTwice = (arrivals: readonly Arrival[]): string[] =>
  [...Map.groupBy(arrivals, ({ target, asset, units }) => `${units} ${asset} to ${target}`)].flatMap(([name, all]) =>
    all.length > 1 ? [`${name} arrived ${all.length} times`] : [],
  );

/**
 * The pictures of docs/site/: the states of an order, who holds its money in each, and the transitions between them, as SVG.
 * States and transitions are those of the machine: a state without a position, and a transition that is not drawn, end the run.
 * tables.test.ts compares the files, and with UPDATE_DOCS=1 writes them again.
 */
import { type OrderEvent, type OrderState, STATES, TRANSITIONS } from '../../src/orders/machine.ts';
import { HOLDER } from '../../src/orders/read/whereabouts.ts';
import { either, numbersOf } from './tables.ts';

type Direction = 'offramp' | 'onramp';
type Shown = Exclude<OrderState, 'frozen'>;

const WIDTH = 840;
const HEIGHT = 500;
const BOX = { width: 148, height: 46 };
/** The holder of the money: three columns, each as wide as its content. */
const COLUMNS = [
  { title: 'Customer', holder: 'customer', x: 8, width: 196 },
  { title: 'Operator, for the customer', holder: 'operator', x: 212, width: 424 },
  { title: 'Paid out or refunded', holder: 'over', x: 644, width: 188 },
] as const;

/** Centres of the boxes: the usual course on top, the refund at the bottom. */
const PLACES: Readonly<Record<Shown, readonly [x: number, y: number]>> = {
  created: [106, 84],
  deposit_seen: [106, 174],
  deposit_confirmed: [310, 174],
  paying_out: [538, 174],
  settled: [738, 174],
  awaiting_liquidity: [310, 268],
  payout_held: [538, 268],
  on_hold: [310, 362],
  expired: [106, 362],
  refund_held: [310, 456],
  refunding: [538, 456],
  refunded: [738, 456],
  cancelled: [106, 456],
};

/** Transitions that the pages describe in words: a requote leads back, and a completed order may be reopened. */
const NOT_DRAWN: readonly OrderEvent[] = [
  'requoted',
  'payout_found',
  'refund_found',
  'deposit_gone',
  'rest_gone',
  'blocked',
];

/** A line from the edge of one box to that of another. `both` has an arrow at each end; `main` is the usual course. */
const WAYS: readonly { from: Shown; to: Shown; path: string; both?: true; main?: true }[] = [
  { from: 'created', to: 'deposit_seen', path: 'M106 107V151', both: true, main: true },
  { from: 'created', to: 'deposit_confirmed', path: 'M180 84H310V151' },
  { from: 'created', to: 'expired', path: 'M32 84H20V362H32' },
  { from: 'created', to: 'cancelled', path: 'M32 84H20V456H32' },
  { from: 'deposit_seen', to: 'deposit_confirmed', path: 'M180 174H236', main: true },
  { from: 'deposit_confirmed', to: 'paying_out', path: 'M384 174H464', main: true },
  { from: 'deposit_confirmed', to: 'awaiting_liquidity', path: 'M310 197V245' },
  { from: 'deposit_confirmed', to: 'on_hold', path: 'M236 186H224V362H236' },
  { from: 'awaiting_liquidity', to: 'paying_out', path: 'M384 268H424V186H464' },
  { from: 'awaiting_liquidity', to: 'on_hold', path: 'M310 291V339', both: true },
  { from: 'on_hold', to: 'paying_out', path: 'M384 350H424V186H464' },
  { from: 'on_hold', to: 'refunding', path: 'M384 374H424V444H464' },
  { from: 'paying_out', to: 'settled', path: 'M612 174H664', main: true },
  { from: 'paying_out', to: 'payout_held', path: 'M538 197V245', both: true },
  { from: 'payout_held', to: 'refunding', path: 'M538 291V433' },
  { from: 'refunding', to: 'refunded', path: 'M612 456H664' },
  { from: 'refunding', to: 'refund_held', path: 'M464 456H384', both: true },
];

const STYLE = `
  text { font: 13px system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif; fill: #55605b; text-anchor: middle; }
  .state { font: 600 13px ui-monospace, 'SF Mono', Menlo, Consolas, monospace; fill: #1b1f1d; }
  .column { fill: #f4f6f5; }
  .box { fill: #fff; stroke: #b4bdb8; }
  .customer { fill: #2f6fb2; } .operator { fill: #b26a00; } .over { fill: #12805c; }
  .way { fill: none; stroke: #7c8781; stroke-width: 1.5; }
  .main { stroke: #1b1f1d; stroke-width: 2.5; }
  .head { fill: #7c8781; } .main-head { fill: #1b1f1d; }
  @media (prefers-color-scheme: dark) {
    text { fill: #a9b4af; } .state { fill: #e8ecea; }
    .column { fill: #1c211f; } .box { fill: #141816; stroke: #56605b; }
    .customer { fill: #78b0ec; } .operator { fill: #eaa844; } .over { fill: #55c79c; }
    .way { stroke: #7f8a85; } .main { stroke: #e8ecea; }
    .head { fill: #7f8a85; } .main-head { fill: #e8ecea; }
  }
`;

/** Every transition of the machine that has to be drawn, as `from to`. */
function waysOfMachine(): Set<string> {
  return new Set(
    TRANSITIONS.filter(({ on }) => !NOT_DRAWN.includes(on)).flatMap(({ from, to }) =>
      from.filter((one) => one !== to).map((one) => `${one} ${to}`),
    ),
  );
}

const drawn = (): Set<string> =>
  new Set(WAYS.flatMap(({ from, to, both }) => [`${from} ${to}`, ...(both ? [`${to} ${from}`] : [])]));

function holderOf(state: Shown): (typeof COLUMNS)[number]['holder'] {
  const { heldBy } = HOLDER[state];
  if (STATES[state].final && heldBy !== 'the customer') return 'over';
  return heldBy === 'the customer' || heldBy.startsWith('under way') ? 'customer' : 'operator';
}

function box(direction: Direction, [state, [x, y]]: [Shown, readonly [number, number]]): string {
  const column = COLUMNS.find((one) => x > one.x && x < one.x + one.width);
  if (column?.holder !== holderOf(state)) throw new Error(`${state} stands in the column of another holder`);
  const [left, top] = [x - BOX.width / 2, y - BOX.height / 2];
  return `<g><rect class="box" x="${left}" y="${top}" width="${BOX.width}" height="${BOX.height}" rx="6"/>
<rect class="${column.holder}" x="${left}" y="${top + 8}" width="4" height="${BOX.height - 16}"/>
<text class="state" x="${x}" y="${y - 3}">${state}</text><text x="${x}" y="${y + 15}">${either(numbersOf(direction, state)).replaceAll('-', '−')}</text></g>`;
}

/**
 * @returns the picture of one direction as an SVG file: a box for each state with its status numbers, below the name of the
 *   money's holder
 * @throws Error when the machine has a state or a transition that the picture lacks, or the other way round
 */
export function picture(direction: Direction): string {
  const [asked, there] = [waysOfMachine(), drawn()];
  const wrong = [...[...asked].filter((way) => !there.has(way)), ...[...there].filter((way) => !asked.has(way))];
  if (wrong.length > 0) throw new Error(`ways that the machine or the picture alone has: ${wrong.join(', ')}`);
  const places = Object.entries(PLACES) as [Shown, readonly [number, number]][];
  const missing = Object.keys(STATES).filter((state) => state !== 'frozen' && !(state in PLACES));
  if (missing.length > 0) throw new Error(`states without a place: ${missing.join(', ')}`);
  const columns = COLUMNS.map(
    ({
      title,
      holder,
      x,
      width,
    }) => `<rect class="column" x="${x}" y="8" width="${width}" height="${HEIGHT - 16}" rx="8"/>
<rect class="${holder}" x="${x + 12}" y="26" width="10" height="10" rx="5"/><text x="${x + 28}" y="36" style="text-anchor: start; font-weight: 600">${title}</text>`,
  );
  const ways = WAYS.map(({ path, both, main }) => {
    const head = main ? 'main-head' : 'head';
    return `<path class="way${main ? ' main' : ''}" d="${path}" marker-end="url(#${head})"${both ? ` marker-start="url(#${head})"` : ''}/>`;
  });
  const heads = ['head', 'main-head'].map(
    (name) =>
      `<marker id="${name}" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="9" markerHeight="9" markerUnits="userSpaceOnUse" orient="auto-start-reverse"><path class="${name}" d="M0 0L8 4L0 8z"/></marker>`,
  );
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}">
<style>${STYLE}</style>
<defs>${heads.join('\n')}</defs>
${[...columns, ...ways, ...places.map((place) => box(direction, place))].join('\n')}
</svg>
`;
}

/** A market with a price source of its own, whose prices a story moves: DAI against rupees on matic20. */
import { parseRate } from '../../src/base/money.ts';
import { findMarket, upsertMarket } from '../../src/partners/index.ts';
import type { Story } from './story.ts';

const SOURCE = 'story';

/** Sales of DAI follow the story's prices from now on. */
export async function daiHasOwnPrices(world: Story): Promise<void> {
  await world.read(async (tx) => {
    const market = await findMarket(tx, { direction: 'offramp', coin: 'dai', fiat: 'inr', chain: 'matic20' });
    const { id: _, crypto, fiat, ...terms } = market;
    await upsertMarket(tx, { ...terms, crypto: crypto.code, fiat: fiat.code, priceSources: [SOURCE] });
  });
  await daiIsAt(world, '86');
}

/** @param price rupees per DAI */
export async function daiIsAt(world: Story, price: string): Promise<void> {
  for (const [base, at] of [
    ['dai', price],
    ['matic', '40'],
  ] as const) {
    const { num, den } = parseRate(at);
    await world.read((tx) =>
      tx.run(
        `insert into prices (source, base, quote, num, den, priced_at, fetched_at)
         values ($4, $1, 'inr', $2, $3, now(), now())
         on conflict (base, quote, source) do update
           set num = excluded.num, den = excluded.den, priced_at = now(), fetched_at = now()`,
        [base, num, den, SOURCE],
      ),
    );
  }
  // This source has no price between stories, which would halt its market; and a new price here is intended, not a jump.
  await world.read((tx) =>
    tx.run(
      `update price_levels set level_num = null, level_den = null, missing_since = null, halted_at = null, why = null,
              seen_num = null, seen_den = null, seen_since = null
        where market_id in (select id from markets where crypto_asset = 'dai.matic20' and fiat_asset = 'inr')`,
    ),
  );
}

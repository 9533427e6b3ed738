/** Converts stored amounts (text in smallest units, beside their asset) back to amounts. */
export function asAmounts(kept: unknown): unknown {
  if (Array.isArray(kept)) return kept.map(asAmounts);
  if (typeof kept !== 'object' || kept === null) return kept;
  const hasAsset = typeof (kept as { asset?: unknown }).asset === 'string';
  return Object.fromEntries(
    Object.entries(kept).map(([name, value]) => [
      name,
      hasAsset && /units$/i.test(name) && typeof value === 'string' && /^-?[0-9]+$/.test(value)
        ? BigInt(value)
        : asAmounts(value),
    ]),
  );
}

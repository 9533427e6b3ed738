/**
 * Branding: the partner's appearance to customers on hosted pages: display name, colours and logo, each optional. Without them
 * a page shows the partner's name and our colours.
 *
 * The logo is a picture that this server has rendered itself (protocols/v1/logo.ts), never the bytes that were sent. Not here:
 * the rules of colours (colours.ts), the pages (protocols/checkout).
 */
import { createHash } from 'node:crypto';
import type { Tx } from '../base/db.ts';
import { assert } from '../base/errors.ts';
import { type BrandingRow, sql } from './branding.store.ts';
import { type PageColours, pageColours } from './colours.ts';

/** A PNG that this server has rendered. */
export interface Drawn {
  readonly bytes: Buffer;
  readonly width: number;
  readonly height: number;
}

export interface Branding {
  readonly displayName: string | null;
  readonly accent: string | null;
  readonly accentDark: string | null;
  readonly logo: { readonly hash: string; readonly width: number; readonly height: number } | null;
  readonly changedAt: Date | null;
  /** Undefined: the page uses our colours. */
  readonly colours: PageColours | undefined;
}

/** Null removes a field; an omitted field stays. */
export interface BrandingChange {
  readonly displayName?: string | null | undefined;
  readonly accent?: string | null | undefined;
  readonly accentDark?: string | null | undefined;
  readonly logo?: Drawn | null | undefined;
}

const NONE: Branding = {
  ...{ displayName: null, accent: null, accentDark: null, logo: null, changedAt: null, colours: undefined },
};

function brandingIn(row: BrandingRow | undefined): Branding {
  if (row === undefined) return NONE;
  const { logoHash: hash, logoWidth: width, logoHeight: height, ...shown } = row;
  return {
    ...shown,
    logo: hash === null || width === null || height === null ? null : { hash, width, height },
    colours: shown.accent === null && shown.accentDark === null ? undefined : pageColours(shown),
  };
}

export const brandingOf = async (tx: Tx, partnerId: bigint): Promise<Branding> =>
  brandingIn(await tx.row<BrandingRow>(sql.find, [partnerId]));

/** @param c.accent, c.accentDark checked with `colourFault` */
export async function changeBranding(
  tx: Tx,
  { partnerId, now, ...c }: BrandingChange & { partnerId: bigint; now: Date },
): Promise<Branding> {
  const { logo } = c;
  const hash = logo == null ? null : createHash('sha256').update(logo.bytes).digest('hex');
  const row = await tx.row<BrandingRow>(sql.change, [
    ...[partnerId, c.displayName ?? null, c.accent ?? null, c.accentDark ?? null],
    ...[logo?.bytes ?? null, hash, logo?.width ?? null, logo?.height ?? null, now],
    ...[c.displayName, c.accent, c.accentDark, logo].map((value) => value !== undefined),
  ]);
  assert(row !== undefined, 'the changed branding was not returned');
  return brandingIn(row);
}

/** Removes the branding: pages show the partner's name and our colours again. */
export async function resetBranding(tx: Tx, partnerId: bigint): Promise<void> {
  await tx.run(sql.remove, [partnerId]);
}

/** Path of the logo on this origin. */
export const logoPath = ({ hash }: { hash: string }): string => `/hosted/logo/${hash}.png`;

/** The picture with this hash. It is public, like the partner's pages. */
export const logoBytes = async (tx: Tx, hash: string): Promise<Buffer | undefined> =>
  (await tx.row<{ logo: Buffer }>(sql.logo, [hash]))?.logo;

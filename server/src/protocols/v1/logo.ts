/**
 * Logos: renders the file that a partner's member has sent into a picture of our own.
 *
 * The file is inspected like a customer's document (customers/identity/inspect.ts), then decoded, scaled down, and re-encoded
 * as PNG. That removes metadata, further frames and anything hidden in the file, and browsers decode only bytes that we wrote.
 * The decoder accepts three formats, and rejects pictures that are too large.
 */
import { Refusal } from '../../base/errors.ts';
import { reencode } from '../../base/pictures.ts';
import { inspectAside } from '../../customers/index.ts';
import type { Drawn } from '../../partners/index.ts';

export const MAX_LOGO_BYTES = 256 * 1024;
/** Twice the largest size on a page, for screens of high density. */
const BOX = { width: 480, height: 144 };
const MAX_PIXELS = 16_000_000;

export const LOGO_RULE = `a PNG, WEBP or JPEG of at most ${MAX_LOGO_BYTES / 1024} KiB, in base64`;
const refused = (why: string) => new Refusal('malformed_field', { fields: { logo: why } });

/** @throws Refusal 'malformed_field' about `logo` */
export async function drawLogo(base64: string, partnerId: bigint): Promise<Drawn> {
  const sent = Buffer.from(base64, 'base64');
  if (sent.length > MAX_LOGO_BYTES) throw refused(`must be ${LOGO_RULE}`);
  const whose = { one: `partner ${partnerId}`, partner: String(partnerId) };
  const found = await inspectAside(sent, whose);
  if ('why' in found || found.type === 'application/pdf')
    throw refused(`must be ${LOGO_RULE}, complete, without data after its end or anything else than the picture`);
  const drawn = await reencode(sent, { type: 'image/png', maxPixels: MAX_PIXELS, box: BOX }, whose);
  if (drawn === undefined)
    throw refused(`must be a complete picture of at most ${MAX_PIXELS / 1_000_000} million pixels`);
  return drawn;
}

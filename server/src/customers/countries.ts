/**
 * The country of a customer: its source, and what it decides.
 *
 * The customer's answer in a form, or the partner's program, states the country; the newest of both counts. Without either, the
 * country that issued the document which a verifier accepted counts, and without that the number of the phone, if its first digits
 * belong to one country. Without any source the country is unknown: `DEFAULT_COUNTRY` is then shown where a field must have a value,
 * and nothing is decided by it.
 *
 * Which form applies is a lesser question than which law: before a statement, a request may name the country of the form.
 */
import type { Tx } from '../base/db.ts';
import { type CountrySource, sql } from './store.ts';

/** Shown when no source has set a country, because the wire has no value for that. */
export const DEFAULT_COUNTRY = 'IN';

/** As stored: without a source the country is the default. */
export interface SourcedCountry {
  readonly country: string;
  readonly countryBy: CountrySource | null;
}

/** Country and calling code. */
const CALLING_CODES = `
  EG20 ZA27 GR30 NL31 BE32 FR33 ES34 HU36 RO40 CH41 AT43 DK45 SE46 PL48 DE49 PE51 MX52 CU53 AR54 BR55 CL56 CO57
  VE58 MY60 ID62 PH63 NZ64 SG65 TH66 JP81 KR82 VN84 CN86 TR90 IN91 PK92 AF93 LK94 MM95 IR98 SS211 DZ213 TN216
  LY218 GM220 SN221 MR222 ML223 GN224 CI225 BF226 NE227 TG228 BJ229 MU230 LR231 SL232 GH233 NG234 TD235 CF236
  CM237 CV238 ST239 GQ240 GA241 CG242 CD243 AO244 GW245 SC248 SD249 RW250 ET251 SO252 DJ253 KE254 TZ255 UG256
  BI257 MZ258 ZM260 MG261 ZW263 NA264 MW265 LS266 BW267 SZ268 KM269 ER291 PT351 LU352 IE353 IS354 AL355 MT356
  CY357 BG359 LT370 LV371 EE372 MD373 AM374 BY375 AD376 MC377 SM378 UA380 RS381 ME382 HR385 SI386 BA387 MK389
  CZ420 SK421 LI423 BZ501 GT502 SV503 HN504 NI505 CR506 PA507 HT509 BO591 GY592 EC593 PY595 SR597 UY598 TL670
  BN673 NR674 PG675 TO676 SB677 VU678 FJ679 PW680 WS685 KI686 TV688 FM691 MH692 KP850 HK852 MO853 KH855 LA856
  BD880 TW886 MV960 LB961 JO962 SY963 IQ964 KW965 SA966 YE967 OM968 PS970 AE971 IL972 BH973 QA974 BT975 MN976
  NP977 TJ992 TM993 AZ994 GE995 KG996 UZ998`;
/**
 * Calling codes of several countries, with the digits behind them that one of these has; ZZ where two share those too.
 *
 * +1 without the United States: its area codes are many and grow every year. +7 without Russia: its numbers are also used in
 * territories that others count to Ukraine or Georgia. +44 without numbers that belong to no place.
 *
 * Sources: https://www.nanpa.com, https://www.ofcom.org.uk (national telephone numbering plan), ITU-T E.164 (Kazakhstan), compared
 * with the data of libphonenumber.
 */
const AREA_CODES = `
  AG1268 AI1264 AS1684 BB1246 BM1441 BS1242 DM1767 DO1809 DO1829 DO1849 GD1473 GU1671 JM1658 JM1876 KN1869 KY1345
  LC1758 MP1670 MS1664 PR1787 PR1939 SX1721 TC1649 TT1868 VC1784 VG1284 VI1340
  CA1204 CA1226 CA1236 CA1249 CA1250 CA1257 CA1263 CA1289 CA1306 CA1343 CA1354 CA1365 CA1367 CA1368 CA1382 CA1403
  CA1416 CA1418 CA1428 CA1431 CA1437 CA1438 CA1450 CA1468 CA1474 CA1506 CA1514 CA1519 CA1548 CA1579 CA1581 CA1584
  CA1587 CA1604 CA1613 CA1639 CA1647 CA1672 CA1683 CA1705 CA1709 CA1742 CA1753 CA1778 CA1780 CA1782 CA1807 CA1819
  CA1825 CA1867 CA1873 CA1879 CA1902 CA1905 CA1942
  KZ76 KZ77
  GB441 GB442 GB4471 GB4472 GB4473 GB4474 GB4475 GB4477 GB4478 GB4479 GG441481 GG447781 GG447839 IM441624 IM447524
  IM447624 JE441534 JE447509 JE447797 JE447829 JE447937 ZZ447457 ZZ447700 ZZ447911`;
const COUNTRIES = new Map(
  `${CALLING_CODES} ${AREA_CODES}`
    .trim()
    .split(/\s+/)
    .map((pair) => [pair.slice(2), pair.slice(0, 2)] as const),
);
const MOST_DIGITS = Math.max(...[...COUNTRIES.keys()].map((digits) => digits.length));

/** The only country with the first digits of this phone, written with a plus sign; undefined if several share them. */
export function countryOfPhone(phone: string): string | undefined {
  const digits = phone.trim().startsWith('+') ? phone.replace(/[^0-9]/g, '') : '';
  for (let length = MOST_DIGITS; length > 0; length -= 1) {
    const found = COUNTRIES.get(digits.slice(0, length));
    if (found !== undefined) return found === 'ZZ' ? undefined : found;
  }
  return undefined;
}

/** Country and source of a customer of whom only the phone is known. */
export function assumedCountry(phone: string | undefined): SourcedCountry {
  const country = phone === undefined ? undefined : countryOfPhone(phone);
  return country === undefined ? { country: DEFAULT_COUNTRY, countryBy: null } : { country, countryBy: 'phone' };
}

/** The country by any source, for rules of a law; undefined without a source. */
export const knownCountry = ({ country, countryBy }: SourcedCountry): string | undefined =>
  countryBy === null ? undefined : country;

/**
 * Where the customer lives, or is registered, as it or its partner states; undefined otherwise: people use phones and documents of other
 * countries than that of their residence.
 */
export const statedCountry = ({ country, countryBy }: SourcedCountry): string | undefined =>
  countryBy === 'partner' || countryBy === 'form' ? country : undefined;

/**
 * The country that selects a form.
 *
 * @param asked the country that a request names, two letters
 */
export function countryFor(customer: SourcedCountry, asked?: string | undefined): string | undefined {
  return statedCountry(customer) ?? asked ?? knownCountry(customer);
}

/** Records the country that the partner or customer stated. */
export async function setCountry(
  tx: Tx,
  c: { customerId: string; country: string; by: 'partner' | 'form'; now: Date },
): Promise<void> {
  await tx.run(sql.setCountry, [c.customerId, c.country, c.by, c.now]);
}

/** Records the country that issued a customer's accepted document, unless the partner or customer has stated one. */
export async function setDocumentCountry(tx: Tx, c: { customerId: string; country: string; now: Date }): Promise<void> {
  await tx.run(sql.setDocumentCountry, [c.customerId, c.country, c.now]);
}

/**
 * The country of a customer: its source, and which country selects a form.
 *
 * The customer's answer in a form, or the partner's program, sets the country; the newest of both counts. Without either, a
 * request may name a country; without that, the calling code of the phone decides if exactly one country has it (ITU-T E.164; not
 * +1, +7, +44 and others that several share).
 */
import type { Tx } from '../base/db.ts';
import { sql } from './store.ts';

/** Shown when no source has set a country, because the wire has no value for that. */
export const DEFAULT_COUNTRY = 'IN';

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
const COUNTRIES = new Map(
  CALLING_CODES.trim()
    .split(/\s+/)
    .map((pair) => [pair.slice(2), pair.slice(0, 2)] as const),
);

/** The only country with the calling code of this phone, written with a plus sign; undefined if several share it. */
export function countryOfPhone(phone: string): string | undefined {
  const digits = phone.trim().startsWith('+') ? phone.replace(/[^0-9]/g, '') : '';
  for (const length of [2, 3]) {
    const found = COUNTRIES.get(digits.slice(0, length));
    if (found !== undefined) return found;
  }
  return undefined;
}

/**
 * The country that selects a form.
 *
 * @param asked the country that a request names, two letters
 */
export function countryFor(
  { country, countryBy }: { country: string; countryBy: 'phone' | 'partner' | 'form' | null },
  asked?: string | undefined,
): string | undefined {
  if (countryBy === 'partner' || countryBy === 'form') return country;
  return asked ?? (countryBy === 'phone' ? country : undefined);
}

/** Records the country that the partner or customer stated. */
export async function setCountry(
  tx: Tx,
  c: { customerId: string; country: string; by: 'partner' | 'form'; now: Date },
): Promise<void> {
  await tx.run(sql.setCountry, [c.customerId, c.country, c.by, c.now]);
}

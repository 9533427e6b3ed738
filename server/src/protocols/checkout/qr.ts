/**
 * QR codes as inline pictures of squares: dark on light in every colour scheme, because cameras need that.
 */
import { encode } from 'uqr';
import { type Html, html } from './html.ts';

/** @param what the picture's description for screen readers */
export function qrCode(text: string, what: string): Html {
  const { data, size } = encode(text, { ecc: 'M', border: 4 });
  const dark = data.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : ''))).join('');
  return html`<svg class="qr" role="img" aria-label="${what}" viewBox="0 0 ${size} ${size}" shape-rendering="crispEdges">
<rect width="${size}" height="${size}" fill="#fff"/><path d="${dark}" fill="#000"/>
</svg>`;
}

/**
 * Charts of the pairs: one bar for the limit, one for ours, and a mark on ours at its goal. Plain SVG that is readable on
 * light and dark pages.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import type { Pair } from './pairs.ts';

const [WIDTH, HEIGHT, LEFT, BAR] = [640, 102, 70, 22];

export const chartName = (name: string): string => `${name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-')}.svg`;

export function writeCharts(folder: URL, pairs: readonly Pair[]): void {
  mkdirSync(folder, { recursive: true });
  for (const pair of pairs) writeFileSync(new URL(chartName(pair.name), folder), chart(pair));
}

export function chart({ name, ours, limit, ratio, goal }: Pair): string {
  // The goal limits the cost: the maximum for ours, given this limit.
  const atGoal = limit / goal;
  const scale = (WIDTH - LEFT - 90) / Math.max(ours, limit, atGoal);
  const bar = (label: string, value: number, y: number, colour: string) => `
  <text x="${LEFT - 8}" y="${y + 16}" text-anchor="end">${label}</text>
  <rect x="${LEFT}" y="${y}" width="${(value * scale).toFixed(1)}" height="${BAR}" rx="2" fill="${colour}"/>
  <text x="${(LEFT + value * scale + 6).toFixed(1)}" y="${y + 16}">${figure(value)}</text>`;
  const x = (LEFT + atGoal * scale).toFixed(1);
  const title = `${escaped(name)}: ratio ${ratio.toFixed(2)}, goal ${goal}`;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" width="${WIDTH}" height="${HEIGHT}" role="img" aria-label="${title}">
  <style>text { font: 13px sans-serif; fill: #555 } @media (prefers-color-scheme: dark) { text { fill: #bbb } }</style>
  <text x="0" y="14">${title}</text>${bar('limit', limit, 24, '#7a9a5b')}${bar('ours', ours, 54, '#2f6f9f')}
  <line x1="${x}" y1="50" x2="${x}" y2="82" stroke="#e8590c" stroke-width="2"/>
  <text x="${x}" y="96" text-anchor="middle">goal ${figure(atGoal)}</text>
</svg>
`;
}

const figure = (us: number): string =>
  us >= 10_000 ? `${(us / 1_000).toFixed(0)} ms` : `${us.toFixed(us < 10 ? 1 : 0)} µs`;
const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');

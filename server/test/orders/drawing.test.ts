/**
 * The picture of an order's life in ARCHITECTURE.md shows the machine, arrow for arrow.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { STATES, TRANSITIONS } from '../../src/orders/machine.ts';

const page = readFileSync(new URL('../../../ARCHITECTURE.md', import.meta.url), 'utf8');

test('the drawn life of an order has the arrows of the machine, and no other', () => {
  const [, drawn = ''] = /stateDiagram-v2\n(.*?)```/s.exec(page) ?? [];
  const arrows = [...drawn.matchAll(/^ {2}(\w+) --> (\w+): (.+)$/gm)].flatMap(([, from, to, events = '']) =>
    events.split(', ').map((event) => `${from} ${event} ${to}`),
  );
  const rows = TRANSITIONS.flatMap(({ from, on, to }) => from.map((state) => `${state} ${on} ${to}`));
  assert.deepEqual(arrows.toSorted(), rows.toSorted());
  const ends = [...drawn.matchAll(/^ {2}(\w+) --> \[\*\]$/gm)].map(([, state]) => state);
  const final = Object.entries(STATES).flatMap(([state, { final: isFinal }]) => (isFinal ? [state] : []));
  assert.deepEqual(ends.toSorted(), final.toSorted());
});

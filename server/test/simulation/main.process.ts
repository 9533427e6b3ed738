/**
 * `npm run simulate -- --seeds A..B [--orders N] [--trace] [--twice] [--mutants]`: plays each seed, says what was found, and what was covered.
 *
 * A seed that fails prints what is broken, the history of the orders it names, and the command to play it again.
 */
import { parseArgs } from 'node:util';
import { FAULTS, type Fault } from './faults.ts';
import { prepareGround } from './ground.ts';
import { findMutants } from './mutants.ts';
import { parting, simulate } from './run.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1..20' },
    orders: { type: 'string', default: '10' },
    /** Prints the last steps of a seed that fails. */
    trace: { type: 'boolean', default: false },
    /** Plays planted bugs instead, each until it is found (mutants.ts). */
    mutants: { type: 'boolean', default: false },
    /** Stops at the first seed that fails. */
    first: { type: 'boolean', default: false },
    /** Plays every seed a second time and says where it parts from the first. */
    twice: { type: 'boolean', default: false },
    /** Prints every point and how often a process was there. */
    points: { type: 'boolean', default: false },
  },
});

const [from = 1, to = from] = values.seeds.split('..').map(Number);
const orders = Number(values.orders);
if (![from, to, orders].every(Number.isSafeInteger)) throw new Error('--seeds A..B and --orders N are whole numbers');

if (values.mutants) process.exit(await findMutants(values));

const ground = await prepareGround();
const faults = new Map<Fault, number>();
const points = new Map<string, number>();
const states = new Map<string, number>();
const failed: number[] = [];
let made = 0;
let steps = 0;
let waits = 0;
const deadlocks = new Map<string, number>();
let ms = 0;
for (let seed = from; seed <= to; seed += 1) {
  const outcome = await simulate(ground, seed, orders);
  if (values.twice) {
    const parts = parting(outcome, await simulate(ground, seed, orders));
    if (parts !== undefined) outcome.violations.push(parts);
  }
  made += outcome.orders;
  steps += outcome.steps;
  waits += outcome.waits;
  for (const statement of outcome.deadlocks) deadlocks.set(statement, (deadlocks.get(statement) ?? 0) + 1);
  ms += outcome.realMs;
  for (const [fault, times] of outcome.faults) faults.set(fault, (faults.get(fault) ?? 0) + times);
  for (const [point, times] of outcome.points) points.set(point, (points.get(point) ?? 0) + times);
  for (const [state, times] of Object.entries(outcome.states)) states.set(state, (states.get(state) ?? 0) + times);
  if (outcome.violations.length === 0) continue;
  failed.push(seed);
  console.log(`seed ${seed} FAILED`);
  for (const violation of outcome.violations) console.log(`  ${violation}`);
  for (const line of outcome.history) console.log(`    ${line}`);
  if (values.trace) for (const line of outcome.schedule.slice(-400)) console.log(`    ${line}`);
  console.log(`  again: npm run simulate -- --seeds ${seed}..${seed} --orders ${orders} --trace`);
  if (values.first) break;
}
await ground.drop();

const list = (of: ReadonlyMap<string, number>) =>
  [...of].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([name, times]) => `${name} ${times}`);
console.log(
  `seeds ${from}..${to}: ${to - from + 1 - failed.length} clean, ${failed.length} failed ${failed.join(' ')}`,
);
console.log(
  `${made} orders in ${(ms / 1000).toFixed(1)} s, ${((made * 1000) / ms).toFixed(1)} a second; ${steps} steps, ${waits} waits for a lock`,
);
console.log(`ended as: ${list(states).join(', ')}`);
console.log(`faults: ${list(faults).join(', ')}`);
for (const line of list(deadlocks)) console.log(`deadlock: ${line}`);
const never = Object.keys(FAULTS).filter((fault) => !faults.has(fault as Fault));
if (never.length > 0) console.log(`never struck: ${never.join(', ')}`);
console.log(`points passed: ${points.size}`);
if (values.points) for (const line of list(points)) console.log(`  ${line}`);
process.exitCode = failed.length === 0 ? 0 : 1;

/**
 * Time to screen a register of customers against lists, on one core: `node scripts/run.mjs bench/screening.ts`.
 *
 * Arguments: customers, entries. Lists and customers are generated, with the distribution of real names (a few given names are
 * very common). It needs no database: it measures the index and the comparison.
 */
import { parseArgs } from 'node:util';
import { indexOf } from '../server/src/compliance/sanctions/find.ts';
import { RULES_VERSION, USUAL_THRESHOLD } from '../server/src/compliance/sanctions/match.ts';
import { customers, register } from '../server/test/compliance/sanctions/register.ts';

const [wanted = 100_000, listed = 20_000] = parseArgs({ allowPositionals: true }).positionals.map(Number);
const seconds = (since: number) => ((performance.now() - since) / 1_000).toFixed(1);

const entries = register(listed);
const before = process.memoryUsage().heapUsed;
const built = performance.now();
const index = indexOf(entries.map((entry) => ({ entry, of: entry.id })));
const heapMb = Math.round((process.memoryUsage().heapUsed - before) / 1024 / 1024);
console.log(`index of ${index.size} entries: ${seconds(built)} s, ${heapMb} MB`);

const rules = { version: RULES_VERSION, threshold: USUAL_THRESHOLD };
const began = performance.now();
let [slowestMs, hits, customersHit] = [0, 0, 0];
for (const subject of customers(wanted, entries)) {
  const start = performance.now();
  const found = index.find(subject, rules).length;
  slowestMs = Math.max(slowestMs, performance.now() - start);
  hits += found;
  if (found > 0) customersHit += 1;
}
console.log(
  `${wanted} customers: ${seconds(began)} s, slowest ${slowestMs.toFixed(1)} ms; ${hits} hits, ${customersHit} customers hit`,
);

/**
 * Operations: how the server reports its health and metrics.
 *
 * Not here: logs (base/log.ts), cases about money (compliance).
 */
export {
  breakersCheck,
  clockCheck,
  databaseCheck,
  eventsCheck,
  failingJobsCheck,
  folderCheck,
  killSwitchesCheck,
  operatorsCheck,
  priceSourceCheck,
  pricesCheck,
  railCheck,
  reconcileCheck,
  sanctionsCheck,
  treasuryCheck,
  workCheck,
  workersCheck,
  writesCheck,
} from './checks.ts';
export { openMetrics, startMetrics } from './metrics.ts';
export { checkReadings, databaseReadings, railReadings, reconcileReadings, treasuryReadings } from './readings.ts';
export { type Check, opsRoutes } from './routes.ts';
export { standbyReadings, standbysCheck } from './standbys.ts';

/**
 * Operations: how the server shows those who run it how it is.
 *
 * Not here: logs (base/log.ts), alarms for people about money (compliance cases).
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
  treasuryCheck,
  workCheck,
  writesCheck,
} from './checks.ts';
export { openMetrics, startMetrics } from './metrics.ts';
export { checkReadings, databaseReadings, railReadings, reconcileReadings, treasuryReadings } from './readings.ts';
export { type Check, opsRoutes } from './routes.ts';

/** Position of a log on an EVM chain. ../erc20.ts decodes the transfer in it. */
import { count, hash32, Malformed, object } from './rpc.ts';

export { decodeTransfer, decodeTransferCall, encodeBalanceOf, encodeTransfer, TRANSFER_TOPIC } from '../erc20.ts';

export interface LogPlace {
  blockHash: string;
  txHash: string;
  logIndex: number;
}

/**
 * A log's position. If it cannot be read, the whole answer is invalid.
 * @throws Malformed
 */
export function placeOf(log: unknown): LogPlace {
  const fields = object(log, 'log');
  if (fields.removed === true) throw new Malformed('a log that says it was removed');
  return {
    blockHash: hash32(fields.blockHash, 'log.blockHash'),
    txHash: hash32(fields.transactionHash, 'log.transactionHash'),
    logIndex: Number(count(fields.logIndex, 'log.logIndex')),
  };
}

/** The code of the Sweeper contract, to deploy it: Sweeper.sol, compiled. */
import { encodeDeployData, getAddress } from 'viem/utils';
import artifact from './Sweeper.artifact.json' with { type: 'json' };

/** @param hot the wallet that it pays, and that alone may call it */
export const sweeperCode = (hot: string): `0x${string}` =>
  encodeDeployData({
    abi: artifact.abi,
    bytecode: artifact.bytecode as `0x${string}`,
    args: [getAddress(hot)],
  });

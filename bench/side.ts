/** One of the two sides of a pair over HTTP. */
export interface Side {
  baseUrl: string;
  /** The first pid is that of the Node process that answers. */
  pids: readonly [number, ...number[]];
}

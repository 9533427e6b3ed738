/**
 * Health check of a container: exits with 0 when the process answers `/healthz`, or, for a signer, when its socket accepts.
 */
import { connect } from 'node:net';

const { PORT = '8080', SIGNER_LISTEN } = process.env;
const end = (isHealthy) => process.exit(isHealthy ? 0 : 1);
setTimeout(() => end(false), 2_500).unref();

if (SIGNER_LISTEN === undefined) {
  fetch(`http://127.0.0.1:${PORT}/healthz`).then(
    (reply) => end(reply.ok),
    () => end(false),
  );
} else {
  const [, host, port] = /^(.+):([0-9]+)$/.exec(SIGNER_LISTEN) ?? [];
  connect(host === undefined ? { path: SIGNER_LISTEN } : { host, port: Number(port) })
    .once('connect', () => end(true))
    .once('error', () => end(false));
}

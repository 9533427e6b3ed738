/**
 * Sell and buy crypto for fiat through a Cloverleaf operator: the client, its errors, exact decimals, and verification of webhooks.
 * Runs in every runtime with fetch and Web Crypto: Node 22 and newer, and edge runtimes.
 */
export { type ClientOptions, Cloverleaf } from './client.ts';
export * as decimal from './decimal.ts';
export { ApiError, CloverleafError, hasReason, NoAnswerError, type Reason, UsageError } from './errors.ts';
export type * from './generated/v1.ts';
export type * as whitelabel from './generated/whitelabel.ts';
export type { SandboxControls, WhitelabelEndpoints } from './generated/whitelabel.ts';
export type { CallOptions, Files, HttpOptions } from './http.ts';
export { type Followed, type FollowOptions, type Page, Pages } from './pages.ts';
export { verifyQuote } from './quotes.ts';
export { bearerToken, signRequest, signWhitelabel, type WhitelabelKey } from './sign.ts';
export {
  signWebhook,
  type VerifiedWebhook,
  type VerifyOptions,
  verifyWebhook,
  WebhookError,
  type WebhookFormat,
  type WebhookMessage,
  type WebhookProblem,
} from './webhooks.ts';
export type { Whitelabel } from './whitelabel.ts';

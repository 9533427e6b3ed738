/**
 * The client: one object for one partner's key.
 *
 *     const client = new Cloverleaf({ baseUrl: 'https://ramp.example', apiKey, apiSecret });
 *     const quote = await client.quotes.create({ payAsset: 'usdc.matic20', receiveAsset: 'inr', payAmount: '250.5' });
 *
 * It keeps no state between calls. Token and secret stay in this object: no error, log or printed form of the client contains
 * them.
 */
import { UsageError } from './errors.ts';
import type { Event, V1 } from './generated/v1.ts';
import type { SandboxControls } from './generated/whitelabel.ts';
import { type HttpOptions, openHttp } from './http.ts';
import { type Followed, type FollowOptions, follow } from './pages.ts';
import { bearerToken, type WhitelabelKey } from './sign.ts';
import { v1Client } from './v1.ts';
import { sandboxControls, type Whitelabel, whitelabelClient } from './whitelabel.ts';

export interface ClientOptions extends HttpOptions {
  /** The bearer token of your key, for programs that only read. It is derived from key and secret if those are given. */
  readonly bearerToken?: string;
  readonly apiKey?: string;
  /** Signs writes under /v1, all of the white-label wire, and the sandbox's controls. */
  readonly apiSecret?: string;
}

type Events = V1['events'] & {
  /** Events as they happen, from a cursor on, by polling the feed. */
  follow(options?: FollowOptions): AsyncGenerator<Followed<Event>, void, undefined>;
};

/** The endpoints of /v1, by name. They are generated from the table of endpoints. */
// oxlint-disable-next-line typescript/no-unsafe-declaration-merging -- the constructor assigns each of them
export interface Cloverleaf extends Omit<V1, 'events'> {}

export class Cloverleaf {
  readonly baseUrl: string;
  readonly events: Events;
  /** The white-label wire. */
  readonly whitelabel: Whitelabel;
  /** Makes customers pay, banks fail and time pass; in a sandbox only. */
  readonly sandbox: SandboxControls;

  constructor(options: ClientOptions) {
    const { apiKey, apiSecret } = options;
    const http = openHttp(options);
    const known = apiKey === undefined || apiSecret === undefined ? undefined : { apiKey, apiSecret };
    const key = (): WhitelabelKey => {
      if (known === undefined) throw new UsageError('apiKey and apiSecret must be given: this request is signed');
      return known;
    };
    const access = {
      key: known,
      token: async () => {
        if (options.bearerToken !== undefined) return options.bearerToken;
        if (known === undefined) throw new UsageError('apiKey and apiSecret, or bearerToken, must be given');
        return await bearerToken(known);
      },
    };
    const { events, ...others } = v1Client(http, access);
    Object.assign(this, others);
    this.baseUrl = http.baseUrl;
    this.events = {
      ...events,
      follow: (how?: FollowOptions) => follow((query, call) => events.list(query, call).first(), how),
    };
    this.whitelabel = whitelabelClient(http, key);
    this.sandbox = sandboxControls(http, key);
  }
}

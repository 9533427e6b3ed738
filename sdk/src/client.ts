/**
 * The client: one object for one partner's key.
 *
 *     const client = new Cloverleaf({ baseUrl: 'https://ramp.example', apiKey, apiSecret });
 *
 * It keeps no state between calls. The secret stays in this object: it is in no error, no log and no printed form of the client.
 */
import { UsageError } from './errors.ts';
import type { SandboxControls } from './generated/whitelabel.ts';
import { type HttpOptions, openHttp } from './http.ts';
import type { WhitelabelKey } from './sign.ts';
import { sandboxControls, type Whitelabel, whitelabelClient } from './whitelabel.ts';

export interface ClientOptions extends HttpOptions {
  readonly apiKey?: string;
  /** Signs requests on the white-label wire, and the sandbox's controls. */
  readonly apiSecret?: string;
}

export class Cloverleaf {
  readonly baseUrl: string;
  /** The white-label wire. */
  readonly whitelabel: Whitelabel;
  /** Makes customers pay, banks fail and time pass; in a sandbox only. */
  readonly sandbox: SandboxControls;

  constructor(options: ClientOptions) {
    const { apiKey, apiSecret } = options;
    const http = openHttp(options);
    const key = (): WhitelabelKey => {
      if (apiKey === undefined || apiSecret === undefined)
        throw new UsageError('apiKey and apiSecret must be given: this request is signed');
      return { apiKey, apiSecret };
    };
    this.baseUrl = http.baseUrl;
    this.whitelabel = whitelabelClient(http, key);
    this.sandbox = sandboxControls(http, key);
  }
}

/** The part of the package that tests use: it has no types of its own. */
declare module 'oidc-provider' {
  import type { IncomingMessage, ServerResponse } from 'node:http';

  interface Grant {
    addOIDCScope(scope: string): void;
    addOIDCClaims(claims: readonly string[]): void;
    save(): Promise<string>;
  }
  interface Context {
    oidc: { client: { clientId: string }; session: { accountId: string } };
  }

  export class Provider {
    constructor(issuer: string, configuration: Readonly<Record<string, unknown>>);
    readonly Grant: new (grant: {
      accountId: string;
      clientId: string;
    }) => Grant;
    callback(): (request: IncomingMessage, reply: ServerResponse) => void;
    interactionFinished(request: IncomingMessage, reply: ServerResponse, result: object): Promise<void>;
  }
  export type { Context, Grant };
}

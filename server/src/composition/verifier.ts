/** The verifier of this installation, with its read access to customers and reviews. */
import { type AskedVerifier, askReview, reviewed } from '../compliance/index.ts';
import { checkUnderWay, openGivenDetails } from '../customers/index.ts';
import * as registry from '../registry.ts';
import type { Verifier } from '../verifiers/verifier.ts';
import type { Base } from './base.ts';

export const openVerifier = ({ config, db, vault, clock }: Base): Verifier & AskedVerifier =>
  registry.verifier(config, {
    async details(customerId) {
      const [check, fields] = await db.asSystem(async (tx) => [
        await checkUnderWay(tx, customerId),
        await openGivenDetails(tx, vault, customerId),
      ]);
      return check && fields && { fields, givenAt: check.givenAt };
    },
    now: () => clock.now(),
    reviews: {
      ask: (asked) => db.asSystem((tx) => askReview(tx, { ...asked, now: clock.now() })),
      found: (asked) => db.asSystem((tx) => reviewed(tx, asked.customerId)),
    },
  });

/** Address risk: what the provider says about addresses, hits, and decisions about hits. */
import { Type } from 'typebox';
import { ADDRESS_HIT_STATES, LEVELS, MAX_ADDRESS_HITS, MAX_ANSWERS } from '../../../compliance/index.ts';
import { about, id, oneOf, optional } from '../../declaration/fields.ts';
import { declareAction, declareRead, limit, PROPOSES } from '../declare.ts';
import { done, maybe, pages, rows } from '../replies.ts';
import { address } from './forms.ts';

const LEVEL = Type.Union(
  LEVELS.map((level) => Type.Literal(level)),
  { description: 'How risky it is' },
);
const HIT = [
  ...['id', 'customerId', 'rail', 'address', 'state', 'foundAt'],
  {
    owner: Type.String({
      description:
        'Owner of the address; a decision applies to this owner only: customer:<id>, deposit:<id>, or own:<id> of an own address',
    }),
    subject: Type.String({ description: 'payer:<deposit>, or destination' }),
    riskId: Type.String({ description: 'Number of the first answer with this finding' }),
    level: LEVEL,
    finding: Type.String({ description: "The provider's description" }),
    people: maybe(Type.Array(Type.String(), { description: 'Who decided' })),
    reason: maybe(Type.String({ description: 'Reason of the decision' })),
    decidedAt: maybe(Type.String({ description: 'When it was decided: ISO 8601 in UTC' })),
  },
];
const hit = { hit: about(id, 'Number of the hit', '17') };
const COMMON = ['unknown_hit'] as const;

export const ADDRESS_RISK = {
  hits: declareRead({
    path: '/address-risk/hits',
    says: 'Lists addresses whose risk is too high, oldest first. Without `state`, only undecided ones.',
    fields: {
      state: optional(about(oneOf(ADDRESS_HIT_STATES), 'Only hits in this state', 'open')),
      ...{ after: optional(id), limit: limit(MAX_ADDRESS_HITS) },
    },
    gives: pages('hits', HIT),
    command: {
      words: 'risk hits',
      list: 'hits',
      columns: ['id', 'foundAt', 'owner', 'subject', 'rail', 'address', 'level', 'finding', 'state'],
    },
  }),
  answers: declareRead({
    path: '/address-risk/answers',
    says: 'Lists the provider’s answers about an address, newest first.',
    fields: {
      address: about(address, 'The address', '0x52908400098527886E0F7030069857D2E4169EE7'),
      limit: limit(MAX_ANSWERS),
    },
    gives: rows('answers', [
      ...['id', 'rail', 'address'],
      {
        provider: Type.String({ description: 'Code of the provider' }),
        rules: Type.String({ description: 'Versions of our rules and of the parser of its answers' }),
        threshold: Type.String({ description: 'Risk level from which an address was a hit' }),
        level: LEVEL,
        score: Type.String({ description: "The provider's own word or number" }),
        reason: Type.String({ description: "The provider's description" }),
        askedAt: Type.String({ description: 'When it was asked: ISO 8601 in UTC' }),
        digest: Type.String({ description: 'SHA-256 of the question and the answer, in hex' }),
      },
    ]),
    command: {
      words: 'risk answers',
      args: ['address'],
      list: 'answers',
      columns: ['id', 'askedAt', 'rail', 'provider', 'level', 'score', 'reason', 'threshold', 'digest'],
    },
  }),
  confirm: declareAction({
    name: 'risk.confirm',
    path: '/address-risk/hits/:hit/confirm',
    says: 'Confirms the risk of an address: money that came from it, or would be sent to it, stays held.',
    right: 'reviews',
    people: 'one',
    fields: hit,
    refuses: [...COMMON, 'hit_over'],
    gives: done(HIT),
    command: { words: 'risk confirm' },
  }),
  dismiss: declareAction({
    name: 'risk.dismiss',
    path: '/address-risk/hits/:hit/dismiss',
    says: 'Accepts the risk of an address for this owner. The hit is opened again if the provider reports a different finding.',
    right: 'reviews',
    people: 'two',
    fields: hit,
    refuses: [...COMMON, 'hit_over', ...PROPOSES],
    gives: done(HIT),
    command: { words: 'risk dismiss' },
  }),
};

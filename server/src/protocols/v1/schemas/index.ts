/**
 * Schemas of the replies of /v1, one file per noun. Each is the static type of a handler's reply, is checked by the tests, and
 * is a component of OpenAPI.
 */
import type { TSchema } from 'typebox';
import { Asset, Chain, Market, PaymentMethod } from './catalogue.ts';
import {
  CodeSent,
  Customer,
  CustomerLimits,
  Destination,
  Exposure,
  InformationRequest,
  Limits,
  Link,
  Requirements,
} from './customers.ts';
import { Deposit, DestinationRef, Order, Payment, Payout, Refund, Trace } from './orders.ts';
import { Money } from './parts.ts';
import { Fee, PriceUsed, Quote } from './quotes.ts';
import { Diagnosis, Key, Problem, RequestDetail, RequestLine } from './requests.ts';
import { Happened } from './sandbox.ts';
import { BookStatement, StatementDay } from './statement.ts';
import { CustomerRequirements, Submission } from './submissions.ts';
import { ActivityLine, ApiKey, ApiKeyWithSecret, Branding, Colours, Invitation, Member, Settings } from './team.ts';
import {
  Attempt,
  Delivery,
  Event,
  Removed,
  Replayed,
  TestSent,
  WebhookEndpoint,
  WebhookEndpointWithSecret,
} from './webhooks.ts';

/** Schemas with a name of their own among the components of OpenAPI. */
export const COMPONENTS = {
  ActivityLine,
  ApiKey,
  ApiKeyWithSecret,
  Asset,
  Attempt,
  BookStatement,
  Branding,
  Chain,
  CodeSent,
  Colours,
  Customer,
  CustomerLimits,
  CustomerRequirements,
  Delivery,
  Deposit,
  Destination,
  DestinationRef,
  Diagnosis,
  Event,
  Exposure,
  Fee,
  Happened,
  InformationRequest,
  Invitation,
  Key,
  Limits,
  Link,
  Market,
  Member,
  Money,
  Order,
  Payment,
  PaymentMethod,
  Payout,
  PriceUsed,
  Problem,
  Quote,
  Refund,
  Removed,
  Replayed,
  RequestDetail,
  RequestLine,
  Requirements,
  Settings,
  StatementDay,
  Submission,
  TestSent,
  Trace,
  WebhookEndpoint,
  WebhookEndpointWithSecret,
} as const satisfies Readonly<Record<string, TSchema>>;

/** Actions on the risk of addresses and on the travel rule, as forms; a test compares them with the server's declarations. */
import type { FormAction } from './actions.ts';

const HIT = '/address-risk/hits/:hit';
export const ADDRESS_HIT_ACTIONS = {
  confirm: {
    ...{ name: 'risk.confirm', label: 'Confirm', path: `${HIT}/confirm`, right: 'reviews', people: 'one' },
    says: 'Decides that the risk is real: money from this address, and money for it, stays held.',
    isGrave: true,
  },
  dismiss: {
    ...{ name: 'risk.dismiss', label: 'Accept the risk', path: `${HIT}/dismiss`, right: 'reviews', people: 'two' },
    says: 'Accepts the risk of this address for this owner. The hit opens again if the provider finds something else.',
  },
} as const satisfies Record<string, FormAction>;
export const ADDRESS_HIT_STATES = ['open', 'true_hit', 'false_positive'];

export const TRAVEL_ACTIONS = {
  set: {
    ...{ name: 'travel.set', label: 'Set a rule', path: '/travel-rules', right: 'compliance', people: 'two' },
    says: 'Sets the order value from which a transfer needs the data of both sides. Earlier versions stay visible.',
    fields: [
      {
        name: 'jurisdiction',
        label: 'Country',
        hint: 'Of the customer: two capital letters, or * for every other',
        isRequired: true,
      },
      { name: 'fiat', label: 'Fiat', hint: 'Code of the fiat of the order, such as eur', isRequired: true },
      { name: 'threshold', label: 'From', hint: 'Worth in the fiat; 0 for every transfer', isRequired: true },
      { name: 'proofFrom', label: 'Proof from', hint: 'From this worth on, the owner of a wallet signs for it' },
      { name: 'deadlineHours', label: 'Hours to wait', hint: 'Until the deadline: 1 to 720', isRequired: true },
      {
        name: 'policy',
        label: 'At the deadline',
        hint: 'Hold the payout, send it without the data, or return the deposit',
        isRequired: true,
        choices: ['hold', 'send', 'return'],
      },
      {
        name: 'exchange',
        label: 'Exchange',
        hint: 'Whether the provider of a hosted wallet has to answer, or to send its data; none without an answer',
        choices: ['none', 'required'],
      },
      { name: 'isOn', label: 'In use', hint: 'In use without an answer', isSwitch: true },
    ],
  },
  setProvider: {
    ...{
      name: 'travel.provider',
      label: 'Set a provider',
      path: '/travel-providers',
      right: 'compliance',
      people: 'two',
    },
    says: 'Allows names of customers to be sent to a provider, and its data to be taken, or ends that.',
    fields: [
      {
        name: 'host',
        label: 'Host',
        hint: 'Of its travel addresses and callbacks, in small letters, such as trp.exchange.com',
        isRequired: true,
      },
      { name: 'name', label: 'Legal name', isRequired: true },
      { name: 'isOn', label: 'In use', hint: 'In use without an answer', isSwitch: true },
    ],
  },
  open: {
    ...{ name: 'travel.open', label: 'Look at the data', path: '/orders/:order/travel-rule', right: 'personal' },
    people: 'one',
    says: 'Shows the names and wallets that go with the transfers of the order. The audit records your access and your reason.',
  },
} as const satisfies Record<string, FormAction>;

/** Kinds of rules of monitoring, as the server has them. */
export const MONITORING_KINDS = [
  ...['velocity', 'structuring', 'first_large', 'shared_wallet', 'shared_account', 'country_mismatch'],
] as const;

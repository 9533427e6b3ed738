/** Actions on the risk of addresses and on the travel rule, as forms; a test compares them with the server's declarations. */
import type { FormAction } from './actions.ts';

const HIT = '/address-risk/hits/:hit';
export const ADDRESS_HIT_ACTIONS = {
  confirm: {
    ...{ name: 'risk.confirm', label: 'Confirm', path: `${HIT}/confirm`, right: 'reviews', people: 'one' },
    says: 'Confirms the risk: money from this address, and money for it, stays held.',
    isGrave: true,
  },
  dismiss: {
    ...{ name: 'risk.dismiss', label: 'Accept the risk', path: `${HIT}/dismiss`, right: 'reviews', people: 'two' },
    says: 'Accepts the risk of this address for this owner. The hit is opened again if the provider reports a different finding.',
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
        hint: 'Country of the customer: two capital letters, or * for all others',
        isRequired: true,
      },
      { name: 'fiat', label: 'Fiat', hint: 'Code of the fiat of the order, such as eur', isRequired: true },
      { name: 'threshold', label: 'From', hint: 'Value in the fiat; 0 for every transfer', isRequired: true },
      {
        name: 'proofFrom',
        label: 'Proof from',
        hint: 'Value from which the owner of a wallet proves ownership with a signature',
      },
      { name: 'deadlineHours', label: 'Hours to wait', hint: 'Until the deadline: 1 to 720', isRequired: true },
      {
        name: 'policy',
        label: 'At the deadline',
        hint: 'Hold the payout, send it without the data, return the deposit, or refuse the order',
        isRequired: true,
        choices: ['hold', 'send', 'return', 'refuse'],
      },
      {
        name: 'exchange',
        label: 'Exchange',
        hint: 'Whether the provider of a hosted wallet must answer or send its data; none by default',
        choices: ['none', 'required'],
      },
      { name: 'isOn', label: 'In use', hint: 'In use by default', isSwitch: true },
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
    says: 'Starts or stops the exchange of customer data with a provider.',
    fields: [
      {
        name: 'host',
        label: 'Host',
        hint: 'Host of its travel addresses and callbacks, in lower case, such as trp.exchange.com',
        isRequired: true,
      },
      { name: 'name', label: 'Legal name', isRequired: true },
      { name: 'isOn', label: 'In use', hint: 'In use by default', isSwitch: true },
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

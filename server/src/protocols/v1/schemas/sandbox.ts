/** Replies of the sandbox's controls. */
import { Type } from 'typebox';
import { closed, text } from './parts.ts';

export const Happened = Type.Object(
  {
    control: text('Name of the control', 'controls.pay'),
    facts: Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      description: 'Its effects: hashes of payments, the line of the bank, the moved time',
      examples: [{ payments: ['0x9f2e…'] }],
    }),
  },
  { ...closed, description: 'The cause is there; what follows from it takes its time' },
);

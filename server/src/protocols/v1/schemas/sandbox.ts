/** Replies of the sandbox's controls. */
import { Type } from 'typebox';
import { closed, text } from './parts.ts';

export const Happened = Type.Object(
  {
    control: text('Name of the control', 'controls.pay'),
    facts: Type.Unsafe<Record<string, unknown>>({
      type: 'object',
      description: 'Effects of the control, such as hashes of payments, the bank line, or the new time',
      examples: [{ payments: ['0x9f2e…'] }],
    }),
  },
  {
    ...closed,
    description: 'The control has caused the event. The server processes it like a real one, shortly afterwards',
  },
);

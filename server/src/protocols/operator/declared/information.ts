/** Questions about a customer that its partner answers, or the customer on the verification page. */
import { Type } from 'typebox';
import { about, id, typed, whole as wholeField } from '../../declaration/fields.ts';
import { maybe, text, time, whole } from '../../declaration/parts.ts';
import { declareAction } from '../declare.ts';
import { done, many } from '../replies.ts';
import { customerId } from './forms.ts';

const STATE = [
  { open: Type.Array(Type.String(), { description: 'Ids of open information requests' }) },
  { answered: Type.Array(Type.String(), { description: 'Ids of answered information requests' }) },
];

export const INFORMATION = {
  ask: declareAction({
    name: 'customer.ask',
    path: '/customers/:customer/questions',
    says: 'Asks a customer, or its partner, a question with a due date. The verification form is not changed.',
    right: 'reviews',
    people: 'one',
    fields: {
      customer: customerId,
      question: about(
        typed(1_000, /\S{2}/),
        'The question; the partner and the customer can read it',
        'Whose money is it?',
      ),
      days: about(wholeField(1, 90), 'In how many days the answer is due', 7),
    },
    refuses: ['unknown_customer'],
    gives: done(STATE, [{ request: text('Id of the information request') }, { dueAt: time('When the answer is due') }]),
    command: { words: 'customer ask', args: ['customer', 'question', 'days'] },
  }),
  withdraw: declareAction({
    name: 'customer.withdraw-question',
    path: '/customers/:customer/questions/:request/withdraw',
    says: 'Withdraws an information request that no longer needs an answer.',
    right: 'reviews',
    people: 'one',
    fields: { customer: customerId, request: about(id, 'Id of the information request', '747983292881815') },
    refuses: ['unknown_customer', 'unknown_information_request', 'information_request_over'],
    gives: done(STATE),
    command: { words: 'customer withdraw-question' },
  }),
  answers: declareAction({
    name: 'customer.answers',
    path: '/customers/:customer/questions/open',
    says: 'Shows the information requests about a customer with their answers, and closes the cases about the answers.',
    right: 'personal',
    people: 'one',
    fields: { customer: customerId },
    refuses: ['unknown_customer'],
    gives: done(STATE, [
      {
        questions: many(
          [
            { id: text('Id of the information request'), state: text('open, answered or withdrawn') },
            { question: text('The question'), answer: maybe(text('The answer')) },
            { askedAt: time('When the question was asked'), dueAt: time('When the answer is due') },
            { endedAt: maybe(time('When it was answered or withdrawn')) },
            {
              files: many(
                [
                  { id: text('Id of the file, for customer document') },
                  { type: text('Media type of the file'), bytes: whole('Size in bytes') },
                ],
                'Files of the answer',
              ),
            },
          ],
          'The newest hundred information requests, newest first',
        ),
      },
    ]),
    command: { words: 'customer answers' },
  }),
};

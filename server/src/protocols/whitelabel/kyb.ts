/** What a business, and what a person, must supply by default: the same as our own pages ask for. */
export { REQUIREMENTS as KYB_REQUIREMENTS, REQUIREMENTS as KYC_REQUIREMENTS } from '../../customers/index.ts';

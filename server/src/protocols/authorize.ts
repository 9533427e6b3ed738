/** Checks the rights of an authenticated key and the networks it may be used from, for all wires of partners. */
import { BlockList, isIP, isIPv6 } from 'node:net';
import { Refusal } from '../base/errors.ts';
import type { Credential, Scope } from '../partners/index.ts';

/** @throws Refusal 'partner_suspended' | 'address_not_allowed' | 'scope_missing' */
export function authorize(credential: Credential, asked: { address: string; scope: Scope }): void {
  if (credential.partner.suspended) throw new Refusal('partner_suspended');
  if (!addressAllowed(credential.addresses, asked.address)) throw new Refusal('address_not_allowed');
  if (!credential.scopes.includes(asked.scope) && !credential.scopes.includes('admin')) {
    throw new Refusal('scope_missing', { scope: asked.scope });
  }
}

/** @param networks CIDR texts; an empty list allows every address */
export function addressAllowed(networks: readonly string[], address: string): boolean {
  if (networks.length === 0) return true;
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, '');
  if (isIP(plain) === 0) return false;
  const list = new BlockList();
  for (const network of networks) {
    const [base = '', bits] = network.split('/');
    const family = isIPv6(base) ? 'ipv6' : 'ipv4';
    list.addSubnet(base, bits === undefined ? (family === 'ipv6' ? 128 : 32) : Number(bits), family);
  }
  return list.check(plain, isIPv6(plain) ? 'ipv6' : 'ipv4');
}

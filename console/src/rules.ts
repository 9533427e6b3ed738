/** How many people an action takes: the rules of this installation, as every form and the page of operators read them. */
import { useQuery } from '@tanstack/react-query';
import { read } from './api.ts';
import { every } from './live.ts';

export interface Rule {
  readonly action: string;
  readonly right: string;
  readonly asset: string;
  /** Of a rule for an amount of an asset. */
  readonly aboveUnits?: string;
  readonly people: number;
  /** Roles that must be among them; a role twice takes two people. */
  readonly roles: readonly string[];
  /** Of these, those that too few enabled operators have. */
  readonly unmet: readonly string[];
}
export interface Rules {
  readonly rules: readonly Rule[];
  readonly installation: { readonly operators: string; readonly delayS?: number };
  readonly otherwise: number;
  readonly findings: readonly string[];
}

export const useRules = () =>
  useQuery({ queryKey: ['rules'], queryFn: () => read<Rules>('/rules'), refetchInterval: every(30_000) });

/** `2 people, 1 of them compliance`. */
export function taken(people: number | string, roles: readonly string[]): string {
  const count = `${people} ${String(people) === '1' ? 'person' : 'people'}`;
  const named = [...new Set(roles)].map((role) => `${roles.filter((one) => one === role).length} of them ${role}`);
  return [count, ...named].join(', ');
}

export const hours = (seconds: number): string =>
  `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;

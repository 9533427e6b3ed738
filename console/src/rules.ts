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
}
export interface Rules {
  readonly rules: readonly Rule[];
  readonly installation: { readonly operators: string; readonly delayS?: number };
  readonly otherwise: number;
  readonly findings: readonly string[];
}

export const useRules = () =>
  useQuery({ queryKey: ['rules'], queryFn: () => read<Rules>('/rules'), refetchInterval: every(30_000) });

export const hours = (seconds: number): string =>
  `${Math.floor(seconds / 3600)} h ${Math.floor((seconds % 3600) / 60)} min`;

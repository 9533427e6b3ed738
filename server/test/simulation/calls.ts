/** Calls out of a process: they may be lost on the way there or back, answered late, or be a process's last action. */
import { Unavailable } from '../../src/base/errors.ts';
import type { Chance } from './chance.ts';
import type { SimulatedProcess } from './database.ts';
import type { Fault, Faults } from './faults.ts';
import { Gone, type Scheduler } from './scheduler.ts';

export interface Calls {
  /**
   * @param effect the effect outside, at one moment
   * @param kind `looks` if it changes nothing outside
   * @throws Unavailable without an answer
   */
  make<T>(name: string, effect: () => T, kind?: 'looks' | 'actions'): Promise<T>;
}

export function openCalls(deps: {
  chance: Chance;
  faults: Faults;
  scheduler: () => Scheduler;
  crash: (process: SimulatedProcess) => Promise<void>;
  freeze: (process: SimulatedProcess) => void;
  endsAt: (process: SimulatedProcess, point: string, fault: Fault) => boolean;
}): Calls {
  const { chance, faults } = deps;
  async function ends(process: SimulatedProcess | undefined, point: string, fault: Fault): Promise<void> {
    if (process === undefined || !deps.endsAt(process, point, fault)) return;
    await deps.crash(process);
    throw new Gone();
  }
  return {
    async make(name, effect, kind = 'looks') {
      const scheduler = deps.scheduler();
      const { task, process } = scheduler.context();
      const actions = kind === 'actions';
      const ours = process as SimulatedProcess | undefined;
      const point = `${task}: ${name}`;
      const answer = await scheduler.perform(`${point} (before)`, async () => {
        await ends(ours, `${point} (before)`, actions ? 'crash_before_call' : 'crash_before_look');
        return faults.occurs('call_lost') ? { lost: true as const } : { value: effect() };
      });
      if ('lost' in answer || faults.occurs('answer_late')) {
        const ms = chance.int(500, 20_000);
        await new Promise((wake) => setTimeout(wake, ms));
      }
      return await scheduler.perform(`${point} (after)`, async () => {
        await ends(ours, `${point} (after)`, actions ? 'crash_after_call' : 'crash_after_look');
        if (ours !== undefined && faults.occurs('frozen_at_call')) deps.freeze(ours);
        if ('lost' in answer || faults.occurs('answer_lost')) throw new Unavailable(name, 'no answer');
        return answer.value;
      });
    },
  };
}

/** A CPU profile as shares of its time: by kind of work, and the functions with the most self time. */

export interface Profile {
  nodes: { id: number; callFrame: { functionName: string; url: string; lineNumber: number }; children?: number[] }[];
  samples: number[];
  timeDeltas: number[];
}

export interface Shares {
  /** Shares of the whole time, including idle; they add up to 1. */
  groups: Record<string, number>;
  /** Shares of the time that was not idle, largest first. */
  top: { name: string; share: number }[];
}

const TOP = 8;
const OWN = new Map([
  ['(idle)', 'idle'],
  ['(garbage collector)', 'GC'],
  ['(program)', 'runtime and system calls'],
]);

export function shares({ nodes, samples, timeDeltas }: Profile): Shares {
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id] as const)));
  const groups: Record<string, number> = {};
  const self = new Map<string, number>();
  let all = 0;
  let idle = 0;
  for (const [at, id] of samples.entries()) {
    const us = timeDeltas[at] ?? 0;
    // Starting and stopping the profile is work of the profiler itself.
    if (byId.get(id)?.callFrame.url === 'node:inspector') continue;
    const group = groupOf(id);
    all += us;
    groups[group] = (groups[group] ?? 0) + us;
    if (group === 'idle') idle += us;
    else self.set(nameOf(id), (self.get(nameOf(id)) ?? 0) + us);
  }
  const most = [...self].sort((a, b) => b[1] - a[1]).slice(0, TOP);
  for (const group of Object.keys(groups)) groups[group] = (groups[group] ?? 0) / all;
  return { groups, top: most.map(([name, us]) => ({ name, share: us / (all - idle) })) };

  /** Node's own and native functions count for the library that called them. */
  function groupOf(id: number): string {
    for (let at: number | undefined = id; at !== undefined; at = parents.get(at)) {
      const { functionName, url } = (byId.get(at) as Profile['nodes'][number]).callFrame;
      const own = OWN.get(functionName);
      if (own !== undefined) return own;
      if (url.startsWith('node:internal/crypto')) return 'signature and seals';
      // A query class of ours sends batched statements.
      if (/\/node_modules\/pg[^/]*\/|\/server\/src\/base\/batch\.ts$/.test(url)) return 'pg client';
      if (/\/node_modules\/@noble\//.test(url)) return 'keys of addresses';
      if (url.includes('/node_modules/')) return 'HTTP and framework';
      if (url.includes('/server/src/')) return at === id || !crossed(id, at) ? 'ours' : 'HTTP and framework';
    }
    return 'HTTP and framework';
  }

  /** Whether Node's own code lies between the two: a native function called by us directly is ours. */
  function crossed(from: number, to: number): boolean {
    for (let at: number | undefined = from; at !== undefined && at !== to; at = parents.get(at))
      if (byId.get(at)?.callFrame.url.startsWith('node:')) return true;
    return false;
  }

  function nameOf(id: number): string {
    const { functionName, url, lineNumber } = (byId.get(id) as Profile['nodes'][number]).callFrame;
    const file = url.replace(/^.*\/(node_modules|server\/src)\//, '');
    return `${functionName || '(anonymous)'}${file === '' ? '' : ` ${file}:${lineNumber + 1}`}`;
  }
}

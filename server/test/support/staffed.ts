/** Stories that begin with operators: each has a name, a role and a token, and money takes two of them. */
import type { Role } from '../../src/operators/index.ts';
import { operatorNamed, type Person } from '../protocols/operator/people.ts';
import { openStory, type Story, type StoryOptions } from './story.ts';

/**
 * Opens a story on an installation of two or more operators, who get these roles.
 *
 * @example ({ world, ada, finn } = await openStaffedStory({ ada: 'admin', finn: 'finance' }));
 */
export async function openStaffedStory<Name extends string>(
  roles: Readonly<Record<Name, Role>>,
  options: Omit<StoryOptions, 'operators'> = {},
): Promise<{ world: Story } & Record<Name, Person>> {
  const world = await openStory({ ...options, operators: 'two' });
  try {
    const people: Partial<Record<Name, Person>> = {};
    for (const name of Object.keys(roles) as Name[]) people[name] = await operatorIn(world, name, roles[name]);
    return { world, ...(people as Record<Name, Person>) };
  } catch (error) {
    await world.close();
    throw error;
  }
}

/** Another operator of a story that has begun. */
export const operatorIn = (world: Story, name: string, role: Role): Promise<Person> =>
  operatorNamed({ ...world.server, clock: world.clock }, name, role);

/**
 * Loaded before the tests of a mutant: a property that fails is enough, its input need not be small. Making it small asks the
 * database hundreds of times more, and would pass for a mutant that hangs.
 */
import fc from 'fast-check';

fc.configureGlobal({ endOnFailure: true });

/**
 * Rotation: the exchange of the master key (docs/operating/master-key.md). parts.ts has every column of encrypted bytes, texts.ts the
 * texts in all others, rotate.ts the command that can be stopped and resumed.
 */
export { noteRotation, type RotationReport, rotate } from './rotate.ts';

/**
 * Rotation: the exchange of the master key (docs/operating/master-key.md). parts.ts lists every column of encrypted bytes,
 * texts.ts handles encrypted texts in all other columns, rotate.ts is the command, which can be stopped and resumed.
 * compact.ts rewrites the tables with these columns, so that no file has old versions of their rows.
 */
export { type CompactReport, compact } from './compact.ts';
export { noteRotation, type RotationReport, rotate } from './rotate.ts';

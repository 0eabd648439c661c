import type { Figures } from './server.ts';

/** A line: what it is called, its colour in the style sheet, and its value in a sample. */
export type Line = {
  readonly name: string;
  readonly color: 'a' | 'b' | 'c';
  readonly value: (sample: Figures) => number | null;
};

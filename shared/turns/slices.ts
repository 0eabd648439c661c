import { inSlice, SLICE_OVER, type Slice } from './slice.ts';

/** Lets other work run. Resolves to false if the caller must stop. */
export type Pause = () => Promise<boolean>;

/** Settings of work in slices. */
export type Slices = {
  readonly pause: Pause;
  /** Approximate milliseconds of a slice. A request waits at most this long. */
  readonly sliceMs: number;
};

/** Steps between two checks of the clock. */
const STEPS = 64;

/** Runs a step in slices, with a pause after each. Resolves to false if a pause ended the work. */
export async function runInSlices(step: () => unknown, { pause, sliceMs }: Slices): Promise<boolean> {
  for (let isOver = false; !isOver; ) {
    isOver = isDone(step, performance.now() + sliceMs);
    if (!(await pause())) return false;
  }
  return true;
}

/** Works until a slice ends. Returns whether the work is done. */
function isDone(step: () => unknown, restsAt: number): boolean {
  try {
    inSlice({ ...ENDLESS, restsAt }, step);
    return true;
  } catch (error) {
    if (error !== SLICE_OVER) throw error;
    return false;
  }
}

/** A slice of work that is never refused. */
const ENDLESS: Omit<Slice, 'restsAt'> = {
  now: () => performance.now(),
  steps: STEPS,
  haltsAt: Number.POSITIVE_INFINITY,
  refusesAt: Number.POSITIVE_INFINITY,
  refusal: () => SLICE_OVER,
};

import { followCurrent } from '../../shared/follow-current.ts';
import type { GenerationState } from './generation-state.ts';
import { applyMissed } from './open-next.ts';
import type { ReadSide } from './read-side.ts';
import { createSwitchedIndex } from './switched-index.ts';

/** The read side of whichever generation is live; what is applied is given to the one beside it as well, if there is one. */
export function createJointReadSide(state: GenerationState): ReadSide {
  const current = (): ReadSide => {
    const { readSide } = state.live;
    if (readSide === undefined) throw new Error('the read side is not open');
    return readSide;
  };
  const own: Partial<ReadSide> = {
    index: createSwitchedIndex(() => current().index),
    lead(epoch) {
      state.joint?.end.abort();
      state.role = async (readSide) => readSide?.lead(epoch);
      const ready = current().lead(epoch);
      ready.catch(() => {});
      state.leads = { epoch, ready };
      return ready;
    },
    follow() {
      state.joint?.end.abort();
      state.role = async (readSide) => readSide?.follow();
      state.leads = undefined;
      return current().follow();
    },
    sink: {
      async apply(batch) {
        await current().sink.apply(batch);
        await applyBeside(state);
      },
    },
  };
  const isAwaited = current().visible !== undefined;
  return followCurrent(current, isAwaited ? { ...own, visible: visibleInBoth(state, current) } : own);
}

/** The generation beside is no reason for the live one to fail. */
async function applyBeside(state: GenerationState): Promise<void> {
  const { joint } = state;
  if (joint === undefined) return;
  try {
    await applyMissed(state, joint.beside);
  } catch (error) {
    joint.end.abort(error);
  }
}

function visibleInBoth(state: GenerationState, current: () => ReadSide) {
  return async (position: bigint): Promise<void> => {
    const { joint } = state;
    const beside = joint?.beside.readSide;
    const isOver = joint?.over ?? Promise.resolve();
    await Promise.all([current().visible?.(position), Promise.race([beside?.visible?.(position), isOver])]);
  };
}

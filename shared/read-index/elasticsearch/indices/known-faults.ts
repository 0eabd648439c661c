import type { Uid } from '../../../schema/content-type.ts';
import type { IndexFault } from '../../index-fault.ts';

/** The faults of indices that this process knows. A read of such a type is refused. */
export type KnownFaults = {
  /** Returns the faults in the order of their discovery. */
  all(): readonly IndexFault[];
  /** Returns the fault because of which reads of a type are refused; undefined if there is none. */
  refusing(type: Uid): IndexFault | undefined;
  replace(faults: readonly IndexFault[]): void;
};

/** Creates a list without faults. */
export function createKnownFaults(): KnownFaults {
  let known: readonly IndexFault[] = [];
  let refusing = new Map<Uid, IndexFault>();
  return {
    all: () => known,
    refusing: (type) => refusing.get(type),
    replace(faults) {
      known = faults;
      refusing = new Map(faults.filter((each) => each.refusesReads).map((each) => [each.type, each]));
    },
  };
}

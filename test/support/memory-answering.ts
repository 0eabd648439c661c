import type {
  AnsweringProcesses,
  AnsweringReport,
  AwaitedProcesses,
} from '../../shared/read-index/answering-processes.ts';

/** The reports of processes, in memory. While it is cut off, every call rejects. A search finds the last `found` reports. */
export type MemoryAnswering = AnsweringProcesses & {
  cutOff(isCut: boolean): void;
  /** Names of the processes whose reports were read by name, one list per call. */
  readonly readByName: readonly (readonly string[])[];
};

export function createMemoryAnswering(found = Number.POSITIVE_INFINITY): MemoryAnswering {
  const reports = new Map<string, AnsweringReport>();
  let awaited: AwaitedProcesses | undefined;
  let isCut = false;
  const readByName: (readonly string[])[] = [];
  const reach = async (): Promise<void> => {
    if (isCut) throw new Error('unreachable');
  };
  return {
    readByName,
    cutOff(cut) {
      isCut = cut;
    },
    async report(report) {
      await reach();
      // A document that is written again moves to the end.
      reports.delete(report.process);
      reports.set(report.process, report);
    },
    async reports() {
      await reach();
      return [...reports.values()].slice(-found);
    },
    async reportsOf(processes) {
      await reach();
      readByName.push(processes);
      return processes.flatMap((process) => reports.get(process) ?? []);
    },
    async remove(process) {
      await reach();
      reports.delete(process);
    },
    async await(next) {
      await reach();
      if (next.epoch >= (awaited?.epoch ?? 0)) awaited = next;
    },
    async awaited() {
      await reach();
      return awaited;
    },
  };
}

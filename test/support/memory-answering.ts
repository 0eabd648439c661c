import type {
  AnsweringProcesses,
  AnsweringReport,
  AwaitedProcesses,
} from '../../shared/read-index/answering-processes.ts';

/** The reports of processes in memory. While it is cut off, every call rejects. */
export function createMemoryAnswering(): AnsweringProcesses & { cutOff(isCut: boolean): void } {
  const reports = new Map<string, AnsweringReport>();
  let awaited: AwaitedProcesses | undefined;
  let isCut = false;
  const reach = async (): Promise<void> => {
    if (isCut) throw new Error('unreachable');
  };
  return {
    cutOff(cut) {
      isCut = cut;
    },
    async report(report) {
      await reach();
      reports.set(report.process, report);
    },
    async reports() {
      await reach();
      return [...reports.values()];
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

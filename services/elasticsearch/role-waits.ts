import type { DocumentRole } from './document-role.ts';

type Shown = Pick<DocumentRole, 'visible' | 'shows'>;

/** Creates waits for positions. A wait continues with the next role if its role ends. `role` returns the current role. */
export function createRoleWaits(role: () => Shown) {
  const waiting = new Set<() => void>();
  const wait = <Result>(
    ask: (of: Shown) => Promise<Result>,
    isFinal: (result: Result) => boolean,
  ): Promise<Result> => {
    const over = Promise.withResolvers<Result>();
    const begin = () => {
      const mine = role();
      const hear = (result: Result) => {
        if (isFinal(result) || mine === role()) over.resolve(result);
      };
      void ask(mine).then(hear, over.reject);
    };
    waiting.add(begin);
    begin();
    return over.promise.finally(() => waiting.delete(begin));
  };
  return {
    /** Reports that this process has another role. */
    changed(): void {
      for (const begin of waiting) begin();
    },
    visible: (position: bigint) =>
      wait(
        (of) => of.visible(position),
        () => true,
      ),
    shows(position: bigint, timeoutMs: number) {
      const endsAt = performance.now() + timeoutMs;
      return wait(
        (of) => of.shows(position, Math.max(0, endsAt - performance.now())),
        (isShown) => isShown,
      );
    },
  };
}

/** Counts answers, so that a test can wait for more. */
export type AnswerCount = {
  total(): number;
  add(): void;
  /** Resolves after so many more answers. */
  more(answers: number): Promise<void>;
};

export function countAnswers(): AnswerCount {
  let total = 0;
  let waiting: { readonly at: number; readonly resolve: () => void }[] = [];
  return {
    total: () => total,
    add() {
      total++;
      for (const waiter of waiting.filter(({ at }) => at <= total)) waiter.resolve();
      waiting = waiting.filter(({ at }) => at > total);
    },
    more: (answers) => new Promise((resolve) => waiting.push({ at: total + answers, resolve })),
  };
}

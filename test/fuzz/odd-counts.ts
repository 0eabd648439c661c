import type { Answer, Answers, Asked } from '../support/two-engines.ts';

type Stored = {
  readonly data?: { readonly documentId?: string };
  readonly meta?: { readonly reason?: { readonly code?: string } };
};

/** Counts of the answers to writes and reads, by status. */
export type OddCounts = {
  addWrite(answers: Answers): void;
  addRead(answers: Answers): void;
  /** Writes that both engines have stored. */
  accepted(): number;
  text(): string;
};

export function createOddCounts(): OddCounts {
  const writes = new Map<string, number>();
  const reads = new Map<string, number>();
  let accepted = 0;
  const add = (counts: Map<string, number>, name: string) => counts.set(name, (counts.get(name) ?? 0) + 1);
  const textOf = (counts: ReadonlyMap<string, number>) =>
    [...counts]
      .sort()
      .map(([name, count]) => `${name}: ${count}`)
      .join(', ');
  return {
    addWrite({ embedded, outside }) {
      if (embedded.status < 300) accepted++;
      const code = notShownCode(outside) ?? notShownCode(embedded);
      add(writes, code === undefined ? String(outside.status) : `202 ${code}`);
    },
    addRead: ({ outside }) => add(reads, String(outside.status)),
    accepted: () => accepted,
    text: () => `writes ${textOf(writes)}; reads ${textOf(reads)}`,
  };
}

/** Returns the reason of a write that is stored but not shown, or undefined for another answer. */
export function notShownCode({ status, body }: Answer): string | undefined {
  return status === 202 ? ((body as Stored).meta?.reason?.code ?? 'no reason') : undefined;
}

/**
 * Returns whether both engines have carried out a write alike. A 202 that gives the reason counts as stored: the logs of both servers are
 * compared in the end.
 */
export function isSameWrite({ embedded, outside }: Answers): boolean {
  if (embedded.status >= 500) return false;
  const codes = [embedded, outside].map(notShownCode);
  if (codes.every((code) => code === undefined))
    return embedded.status === outside.status && textOfBody(embedded) === textOfBody(outside);
  const [first, second] = [documentIdOf(embedded), documentIdOf(outside)];
  const isSameDocument = first === undefined || second === undefined || first === second;
  return isSameDocument && !codes.includes('no reason') && embedded.status < 300 && outside.status < 300;
}

export function documentIdOf({ body }: Answer): string | undefined {
  return (body as Stored | undefined)?.data?.documentId;
}

const SHOWN = 700;

export function describeAsked({ method, path, body = '' }: Asked): string {
  const rest = body.length > SHOWN ? `… (${body.length})` : '';
  return `${method} ${path.slice(0, SHOWN)} ${body.slice(0, SHOWN)}${rest}`;
}

/** Returns both answers from shortly before the place where they begin to differ. */
export function describeAnswers({ embedded, outside }: Answers): string {
  const [first, second] = [textOfBody(embedded), textOfBody(outside)];
  let at = 0;
  while (at < first.length && first[at] === second[at]) at++;
  const from = Math.max(0, at - 200);
  const show = (status: number, text: string) =>
    `${status} (${text.length}) …${text.slice(from, from + SHOWN)}`;
  return `embedded ${show(embedded.status, first)}\noutside  ${show(outside.status, second)}`;
}

function textOfBody({ body }: Answer): string {
  return JSON.stringify(body) ?? '';
}

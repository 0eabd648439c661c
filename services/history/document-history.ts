import { assertNever } from '../../shared/assert-never.ts';
import { createLocks } from '../../shared/locks.ts';
import { listDeleted } from './deleted-documents.ts';
import { diffVersions } from './diff-versions.ts';
import { type HistoryAnswer, listVersions } from './list-versions.ts';
import { askedBy, type HistoryCaller, type HistoryOptions, type HistoryQuestion } from './question.ts';
import { readVersion } from './read-version.ts';
import { type Restorable, readRestorable } from './restorable.ts';

export type DocumentHistory = {
  /** Throws RequestError: 404 for a document or version that the caller may not see or that never existed, 400 for a wrong query. */
  answer(caller: HistoryCaller, question: HistoryQuestion): Promise<HistoryAnswer>;
  /** Returns the data of a version, as a write takes them. Throws RequestError as `answer` does. */
  restorable(caller: HistoryCaller, question: HistoryQuestion): Promise<Restorable>;
};

/** Creates the history of a process with a graph. It applies the events of one request at a time, because that takes memory and time. */
export function createDocumentHistory(options: HistoryOptions): DocumentHistory {
  const locks = createLocks();
  const inTurn = <Result>(work: () => Promise<Result>) => locks.run(['history'], work);
  return {
    async answer(caller, question) {
      const asked = askedBy(options, caller, question);
      switch (question.kind) {
        case 'versions':
          return listVersions(options, asked);
        case 'version':
          return inTurn(() => readVersion(options, asked));
        case 'diff':
          return inTurn(() => diffVersions(options, asked));
        case 'deleted':
          return inTurn(() => listDeleted(options, asked));
        default:
          return assertNever(question.kind);
      }
    },
    async restorable(caller, question) {
      const asked = askedBy(options, caller, question);
      return inTurn(() => readRestorable(options, asked));
    },
  };
}

import type { IncomingHttpHeaders } from 'node:http';
import type { Readable } from 'node:stream';
import type { Rights } from '../../../shared/access/rights.ts';
import type { Moments } from '../../past/moments.ts';
import type { PastMoment } from '../../past/past-worlds.ts';

/** A read of the content of a moment. The process that serves the present has checked that its caller may see the past. */
export type PastRead = {
  readonly moment: PastMoment;
  readonly method: string;
  /** Request target without `asOf`. */
  readonly url: string;
  /** Headers without those that name the caller. */
  readonly headers: IncomingHttpHeaders;
  readonly rights: Rights;
  /** Header `authorization` of the caller. */
  readonly authorization: string | undefined;
  /** Aborted when the client leaves. */
  readonly signal: AbortSignal;
};

export type PastAnswer = {
  readonly statusCode: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Readable | Buffer;
};

/** The pasts of a process. */
export type Past = {
  /** Finds what `asOf` names. */
  find: Moments['find'];
  /** Finds what was the present at an instant. */
  nearest: Moments['nearest'];
  /** Resolves with the answer of the process that has the content. Rejects with RequestError (503) if it takes long to open it. */
  answer(read: PastRead): Promise<PastAnswer>;
};

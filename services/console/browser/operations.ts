import type { Request } from './api.ts';
import { openStream } from './stream.ts';

/** Returns the request that runs an operation of operators. `data`: its form. */
export function operationRequest(name: string, data: object = {}): Request {
  return { method: 'POST', path: `/_varve/operations/${name}`, body: { data } };
}

/**
 * Runs an operation, and calls `seen` for each line of its answer. Resolves to false if the stream was cut off before the end of the
 * operation, for example because another process serves now. Rejects with the reason of a failure.
 */
export async function streamOperation<Line>(
  request: Request,
  seen: (line: Line) => void,
  signal: AbortSignal = NEVER,
): Promise<boolean> {
  const ends: string[] = [];
  let failure: string | undefined;
  await openStream(
    request,
    ({ event, data }) => {
      if (event === 'line') seen(data as Line);
      else ends.push(event);
      if (event === 'failed') failure = (data as { readonly message: string }).message;
    },
    signal,
  );
  if (failure !== undefined) throw new Error(failure);
  return ends.includes('done');
}

const NEVER = new AbortController().signal;

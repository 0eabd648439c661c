import { z } from 'zod';
import type { FormProblem } from '../../shared/form-problems.ts';
import { RequestError } from '../../shared/request-error.ts';
import { NotLeading } from '../command/not-leading.ts';
import { defineOperation, type OperatorContext } from './operation.ts';

/** Answer of a resource of releases, or why it refuses. `errors`: problems of the form. `problems`: entries that cannot be published. */
export type ReleaseLine =
  | { readonly kind: 'answer'; readonly data: unknown; readonly meta: object }
  | {
      readonly kind: 'refused';
      readonly message: string;
      readonly errors: readonly FormProblem[];
      readonly problems: readonly object[];
    };

const TEXTS = z.record(z.string(), z.string());
const FORM = z.strictObject({
  resource: z.string(),
  parameters: TEXTS.optional(),
  query: TEXTS.optional(),
  data: z.json().optional(),
});

/** Runs a resource of releases for `varve release`. Callers over HTTP use the paths of the resources. */
export const releaseOperation = defineOperation({
  form: FORM,
  ofLeader: 'once',
  writes: true,
  run: callReleases,
});

async function* callReleases(
  { releases, server }: OperatorContext,
  call: z.output<typeof FORM>,
): AsyncGenerator<ReleaseLine> {
  if (releases === undefined) throw new Error(server === undefined ? NO_SERVER : FOLLOWS);
  try {
    const { data, meta = {} } = await releases(call);
    yield { kind: 'answer', data, meta };
  } catch (error) {
    if (error instanceof NotLeading) throw new Error(NOT_HERE, { cause: error });
    if (!(error instanceof RequestError)) throw error;
    const { message, details } = error;
    yield {
      kind: 'refused',
      message,
      errors: listOf(details['errors']),
      problems: listOf(details['problems']),
    };
  }
}

const NO_SERVER = 'no server runs on the data directory: start it, then run the command again';
const FOLLOWS = 'a server that follows a Strapi has no releases';
const NOT_HERE = 'this server is not the leader: run the command on the data directory of the leader';

function listOf<Item>(value: unknown): readonly Item[] {
  return Array.isArray(value) ? value : [];
}

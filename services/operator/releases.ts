import { z } from 'zod';
import type { FormProblem } from '../../shared/form-problems.ts';
import { RequestError } from '../../shared/request-error.ts';
import { defineOperation, type OperatorContext } from './operation.ts';
import { NO_SERVER, refuseElsewhere } from './refuse-elsewhere.ts';

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
    if (!(error instanceof RequestError)) refuseElsewhere(error);
    const { message, details } = error;
    yield {
      kind: 'refused',
      message,
      errors: listOf(details['errors']),
      problems: listOf(details['problems']),
    };
  }
}

const FOLLOWS = 'a server that follows a Strapi has no releases';

function listOf<Item>(value: unknown): readonly Item[] {
  return Array.isArray(value) ? value : [];
}

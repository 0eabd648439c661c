import { localesOfEntries } from '../../shared/document/entry.ts';
import type { DocumentEvent } from '../../shared/document/events.ts';
import type { ContentType } from '../../shared/schema/content-type.ts';
import type { ActionCommand } from './command.ts';
import { type DocumentState, decide, draftOf, publishedOf } from './decide.ts';
import type { PlanningEnvironment } from './environment.ts';
import { preparePublication, refuse } from './prepare-write.ts';
import { type BodyProblem, notFoundError, validationError } from './problem.ts';
import { type UniqueClaim, uniqueProblems } from './unique-values.ts';
import { parseWriteStatus } from './write-target.ts';

/** Action on a document. `locale`: `*` for every locale that the document has. */
export type PlannedAction = { readonly kind: ActionCommand['kind']; readonly locale: string | null };

export type ActionPlan = {
  readonly claims: readonly UniqueClaim[];
  /** Locales that the action changes. */
  readonly locales: readonly (string | null)[];
  /**
   * Called when the claims are locked. `taken` returns the problems of values that other documents have. Throws a RequestError if the
   * action is refused.
   */
  readonly decide: (
    taken?: (claims: readonly UniqueClaim[]) => readonly BodyProblem[],
  ) => readonly DocumentEvent[];
};

/** Throws 400 for an action on versions that the type does not have, and for deleting only one version. */
export function refuseActionWithoutDrafts(
  type: ContentType,
  { kind, status }: Pick<ActionCommand, 'kind' | 'status'>,
): void {
  if (kind === 'delete') {
    if (parseWriteStatus(status) === 'published' || !type.draftAndPublish) return;
    throw validationError("Cannot delete only the draft: omit 'status', or discard the draft", {
      found: status,
      accepted: ['published'],
    });
  }
  if (type.draftAndPublish) return;
  throw validationError(
    `${type.displayName} has no draft & publish: there is nothing to ${kind.replace('-', ' ')}`,
  );
}

/** Plans an action on a document in this state. Throws 404 if there is nothing to act on, and 400 for an invalid action. */
export function planAction(
  environment: PlanningEnvironment,
  state: DocumentState,
  { kind, locale }: PlannedAction,
): ActionPlan {
  const locales = locale === '*' ? localesOfEntries(state.entries) : [locale];
  const present = locales.filter((one) => draftOf(state, one) !== undefined);
  if (present.length === 0 && kind !== 'delete') throw notFoundError();
  if (kind === 'discard-draft' && !present.some((one) => publishedOf(state, one) !== undefined)) {
    throw validationError('The entry was never published: there is nothing to restore');
  }
  const publications =
    kind === 'publish'
      ? present.map((one) =>
          preparePublication(environment, state, one, {
            values: draftOf(state, one)?.values ?? {},
            relations: [],
          }),
        )
      : [];
  const claims = publications.flatMap((publication) => publication.claims);
  const inGraph = () => uniqueProblems(environment.graph, claims, state.documentId);
  return {
    claims,
    locales,
    decide(taken = inGraph) {
      refuse(state.type, [...publications.flatMap(({ problems }) => problems), ...taken(claims)], []);
      return locales.flatMap((one) => decide({ kind, locale: one }, state));
    },
  };
}

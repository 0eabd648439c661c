import type { ContentGraphReader } from '../../shared/document/entry.ts';
import type { LinkTarget, RelationOperation } from '../../shared/document/events.ts';
import type { RequestError } from '../../shared/request-error.ts';
import { type ContentType, FILE_TYPE, type Uid } from '../../shared/schema/content-type.ts';
import type { EntryCheck } from './check.ts';
import { checkEntry, checkStoredEntry, type EntryInput } from './check-entry.ts';
import { type DocumentState, draftOf, type Intent, isShared, mergedValues } from './decide.ts';
import type { PlanningEnvironment } from './environment.ts';
import type { Data } from './parse-data.ts';
import { type BodyProblem, problemsError, validationError } from './problem.ts';
import { relationProblems } from './relation-problems.ts';
import type { LinkFinder, RelationScope } from './relation-scope.ts';
import { targetsAfter } from './required-relations.ts';
import { type UniqueClaim, uniqueClaims } from './unique-values.ts';
import { unknownDocumentError } from './unknown-documents.ts';

export type WriteRequest = {
  readonly data: Data;
  readonly locale: string | null;
  readonly publish: boolean;
  readonly hashes: ReadonlyMap<string, string>;
};

/** A validated write. It may proceed unless it has `problems` or unique values that are taken, which one answer lists together. */
export type PreparedWrite = {
  readonly intent: Intent;
  readonly claims: readonly UniqueClaim[];
  readonly problems: readonly BodyProblem[];
  /** Errors of unreadable dates and times, then of links: answered when there is no other problem. */
  readonly late: readonly RequestError[];
};

type CheckEnvironment = PlanningEnvironment & {
  /** Replaces the finder of the graph, because an import knows documents that are not stored yet. */
  readonly finder?: LinkFinder;
};

/**
 * Validates a body against the current document, in two strengths (SEMANTICS section 13). First as a draft; then, if it is published or its
 * type has no drafts, the whole resulting entry. Throws 400 for errors of the draft.
 */
export function prepareWrite(
  environment: CheckEnvironment,
  state: DocumentState,
  { data, locale, publish, hashes }: WriteRequest,
): PreparedWrite {
  const { type } = state;
  const draft = draftOf(state, locale);
  const isNewEntry = draft === undefined;
  const scope = relationScope(environment, locale, isNewEntry);
  const check: EntryCheck = {
    strength: type.draftAndPublish ? 'draft' : 'published',
    mode: isNewEntry ? 'creation' : 'update',
    isNewEntry,
    passwords: publish || !type.draftAndPublish ? 'published' : 'draft',
    problems: [],
    unreadable: [],
    hashes,
    relations: scope,
  };
  const isFurtherLocale = isNewEntry && state.entries.length > 0;
  const sent = checkEntry(check, type, data, {
    values: draft?.values ?? {},
    inherits: (attribute) => isFurtherLocale && isShared(type, attribute),
    linked: (attribute) => environment.graph.linkedTargets(type.uid, state.documentId, locale, attribute),
  });
  check.problems.push(...relationProblems(scope));
  // Like values, unchanged relations need not be stored.
  const relations = isNewEntry
    ? sent.relations
    : environment.graph.changingOperations(type.uid, state.documentId, locale, sent.relations);
  const input = { values: sent.values, relations };
  const inherited = isFurtherLocale ? inheritedRelations(environment.graph, state, locale, input) : [];
  const intent = { kind: 'write', locale, ...input, inheritedRelations: inherited, publish } as const;
  if (!type.draftAndPublish) return prepareWithoutDrafts(environment, check, state, intent);
  refuse(type, check.problems, lateErrors(check));
  if (!publish) return { intent, claims: [], problems: [], late: [] };
  const values = mergedValues(state, locale, input.values);
  const entry = { values, relations: [...inherited, ...relations] };
  return { intent, ...preparePublication(environment, state, locale, entry) };
}

/** Throws 400 for a document in a body that does not exist: Strapi looks for it before the entry that is written. */
export function refuseUnknownDocuments(
  environment: CheckEnvironment,
  type: ContentType,
  { data, locale }: WriteRequest,
): void {
  const error = unknownDocumentError(relationScope(environment, locale, false), type, data);
  if (error !== undefined) throw error;
}

/** Validates a whole entry for publication: its values, and its stored links after the operations in `relations`. */
export function preparePublication(
  environment: CheckEnvironment,
  state: DocumentState,
  locale: string | null,
  { values, relations }: EntryInput,
): Omit<PreparedWrite, 'intent'> {
  const check: EntryCheck = {
    strength: 'published',
    mode: 'publish',
    isNewEntry: false,
    passwords: 'published',
    problems: [],
    unreadable: [],
    hashes: new Map(),
    relations: relationScope(environment, locale, false),
  };
  const { type, documentId } = state;
  const linked = (name: string): readonly LinkTarget[] =>
    targetsAfter(
      environment.graph.linkedTargets(type.uid, documentId, locale, name),
      relations.findLast(({ attribute }) => attribute === name),
    );
  checkStoredEntry(check, type, { values, linked });
  const claims = claimsOf(environment, state, locale, values);
  return { claims, problems: check.problems, late: lateErrors(check) };
}

function lateErrors({ unreadable, relations }: EntryCheck): RequestError[] {
  return [...unreadable.map((message) => validationError(message)), ...relations.late];
}

/** Throws 400 for the problems, or else the first of the other errors. */
export function refuse(
  type: ContentType,
  problems: readonly BodyProblem[],
  late: readonly RequestError[],
): void {
  if (problems.length > 0) throw problemsError(problems, [...type.attributes.keys()]);
  const [first] = late;
  if (first !== undefined) throw first;
}

function prepareWithoutDrafts(
  environment: CheckEnvironment,
  check: EntryCheck,
  state: DocumentState,
  intent: Intent & { readonly kind: 'write' },
): PreparedWrite {
  const { locale, values: sent } = intent;
  const values = check.mode === 'creation' ? mergedValues(state, locale, sent) : sent;
  const claims = claimsOf(environment, state, locale, values);
  return { intent, claims, problems: check.problems, late: lateErrors(check) };
}

function claimsOf(
  { registry }: CheckEnvironment,
  state: DocumentState,
  locale: string | null,
  values: EntryInput['values'],
): UniqueClaim[] {
  return uniqueClaims(registry(), state.type, values, (attribute) => localesOf(state, locale, attribute));
}

/**
 * Returns the locales in which a value is claimed. A shared value is claimed in every locale of the document, because it is copied there.
 */
function localesOf(state: DocumentState, locale: string | null, attribute: string): (string | null)[] {
  if (!isShared(state.type, attribute)) return [locale];
  return [...new Set([locale, ...state.entries.map((entry) => entry.locale)])];
}

/** Returns the links of shared relation attributes for a new locale, unless the body sets them. */
function inheritedRelations(
  graph: ContentGraphReader,
  { type, documentId, entries }: DocumentState,
  locale: string | null,
  input: EntryInput,
): RelationOperation[] {
  const sibling = entries.find(({ version }) => version !== 'published');
  const sent = new Set(input.relations.map(({ attribute }) => attribute));
  return [...type.attributes.values()].flatMap((attribute): RelationOperation[] => {
    const { kind, name } = attribute;
    if (kind !== 'relation' || sibling === undefined || sent.has(name) || !isShared(type, name)) return [];
    const targets = graph
      .linkedTargets(type.uid, documentId, sibling.locale, name)
      .map((target) => ({ ...target, locale: target.locale === null ? null : locale }));
    return targets.length === 0 ? [] : [{ attribute: name, kind: 'set', targets }];
  });
}

function relationScope(
  environment: CheckEnvironment,
  locale: string | null,
  isNewEntry: boolean,
): RelationScope {
  return {
    registry: environment.registry(),
    finder: environment.finder ?? graphFinder(environment.graph),
    defaultLocale: environment.defaultLocale,
    locale,
    isNewEntry,
    strict: environment.strictRelations === true,
    unknown: [],
    faults: [],
    references: new Map(),
    late: [],
  };
}

function graphFinder(graph: ContentGraphReader): LinkFinder {
  const rowsOf = (type: Uid, { documentId, locale }: LinkTarget) =>
    graph.entries(type, documentId).filter((entry) => locale === null || entry.locale === locale);
  return {
    exists: (type, documentId, locale) =>
      graph.exists(type, documentId, ...(locale === null ? [] : [locale])),
    byId: (type, id) => graph.documentOfId(type, id),
    rowId: (type, target) => rowsOf(type, target).find(({ version }) => version !== 'published')?.id,
    isPublished: (type, target) => rowsOf(type, target).some(({ version }) => version !== 'draft'),
    mimeOf: (documentId) => graph.entries(FILE_TYPE, documentId)[0]?.values['mime'] as string | undefined,
  };
}

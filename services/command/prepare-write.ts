import type { ContentGraphReader } from '../../shared/document/entry.ts';
import type { LinkTarget, RelationOperation } from '../../shared/document/events.ts';
import { type ContentType, FILE_TYPE, type Uid } from '../../shared/schema/content-type.ts';
import type { EntryCheck } from './check-component.ts';
import { checkEntry, checkStoredEntry, type EntryInput } from './check-entry.ts';
import { type DocumentState, draftOf, type Intent, isShared, mergedValues } from './decide.ts';
import type { CommandEnvironment } from './environment.ts';
import type { Data } from './parse-data.ts';
import { type BodyProblem, problemsError, validationError } from './problem.ts';
import { relationProblems } from './relation-problems.ts';
import { targetsAfter } from './required-relations.ts';
import type { LinkFinder, RelationScope } from './resolve-relation.ts';
import { type UniqueClaim, uniqueClaims } from './unique-values.ts';

export type WriteRequest = {
  readonly data: Data;
  readonly locale: string | null;
  readonly publish: boolean;
  readonly hashes: ReadonlyMap<string, string>;
};

/**
 * A validated write. It may proceed unless it has `problems` or unique values that are taken, which one answer lists
 * together.
 */
export type PreparedWrite = {
  readonly intent: Intent;
  readonly claims: readonly UniqueClaim[];
  readonly problems: readonly BodyProblem[];
  /** Dates and times that cannot be parsed. They are reported if there is no other problem. */
  readonly unreadable: readonly string[];
};

type CheckEnvironment = Pick<
  CommandEnvironment,
  'graph' | 'registry' | 'defaultLocale' | 'strictRelations'
> & {
  /** Replaces the finder of the graph, because an import knows documents that are not stored yet. */
  readonly finder?: LinkFinder;
};

/**
 * Validates a body against the current document, in two strengths (SEMANTICS section 13). First as a draft; then, if it
 * is published or its type has no drafts, the whole resulting entry. Throws 400 for errors of the draft.
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
  refuse(type, check.problems, check.unreadable);
  if (!publish) return { intent, claims: [], problems: [], unreadable: [] };
  const values = mergedValues(state, locale, input.values);
  const entry = { values, relations: [...inherited, ...relations] };
  return { intent, ...preparePublication(environment, state, locale, entry) };
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
  return { claims, problems: check.problems, unreadable: check.unreadable };
}

/** Throws 400 for the problems, or else for the first date or time that cannot be read. */
export function refuse(
  type: ContentType,
  problems: readonly BodyProblem[],
  unreadable: readonly string[],
): void {
  if (problems.length > 0) throw problemsError(problems, [...type.attributes.keys()]);
  const [first] = unreadable;
  if (first !== undefined) throw validationError(first);
}

function prepareWithoutDrafts(
  environment: CheckEnvironment,
  { mode, problems, unreadable }: EntryCheck,
  state: DocumentState,
  intent: Intent & { readonly kind: 'write' },
): PreparedWrite {
  const { locale, values: sent } = intent;
  const values = mode === 'creation' ? mergedValues(state, locale, sent) : sent;
  return { intent, claims: claimsOf(environment, state, locale, values), problems, unreadable };
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
 * Returns the locales in which a value is claimed. A shared value is claimed in every locale of the document, because
 * it is copied there.
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
    faults: [],
    missing: new Map(),
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

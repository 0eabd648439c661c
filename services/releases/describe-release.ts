import type { Entry } from '../../shared/document/entry.ts';
import type { ReleaseProblem } from '../../shared/releases/release-events.ts';
import { isPending, type Release, type StoredAction } from '../../shared/releases/release-state.ts';
import type { SchemaRegistry } from '../../shared/schema/schema-registry.ts';
import type { RefusedAction, Together } from '../command/publish-together.ts';

export type DescribeOptions = {
  readonly together: Pick<Together, 'check'>;
  /** The content types in force. */
  readonly registry: () => SchemaRegistry;
  readonly graph: { entries(type: string, documentId: string): readonly Entry[] };
};

/** A release, as answers describe it. */
export type DescribedRelease = Awaited<ReturnType<typeof describeRelease>>;

/** An action of a release, as answers describe it. */
export type DescribedAction = ReturnType<typeof describeAction>;

/** Actions that are checked for a page of releases: planning each publication of 100 full releases would take minutes. */
const MOST_CHECKED = 2_000;

/** Returns a page of releases. The `status` of those behind the first 2,000 actions is null if they would have to be checked for it. */
export async function describeReleases(
  options: Pick<DescribeOptions, 'together'>,
  releases: readonly Release[],
): Promise<readonly DescribedRelease[]> {
  const described: DescribedRelease[] = [];
  let left = MOST_CHECKED;
  for (const release of releases) {
    if (isPending(release)) left -= release.actions.length;
    described.push(left < 0 ? describe(release, undefined) : await describeRelease(options, release));
  }
  return described;
}

/** Returns a release as Strapi describes it. Varve adds `lateMs`, and `problems` of one that is blocked or has failed. */
export async function describeRelease({ together }: Pick<DescribeOptions, 'together'>, release: Release) {
  return describe(release, isPending(release) ? await together.check(release.actions) : []);
}

/** Describes a release. `refused`: its actions that would be refused now; undefined if they were not checked. */
function describe(release: Release, refused: readonly RefusedAction[] | undefined) {
  const { id, name, scheduledAt, timezone, releasedAt, createdAt, updatedAt, createdBy, lateMs } = release;
  const problems = isPending(release) ? problemsOf(release, refused ?? []) : [];
  return {
    id,
    name,
    releasedAt,
    scheduledAt,
    timezone,
    status: statusOf(release, refused === undefined ? undefined : problems),
    createdAt,
    updatedAt,
    createdBy,
    actions: { meta: { count: release.actions.length } },
    lateMs,
    problems,
  };
}

function problemsOf({ failure }: Release, refused: readonly RefusedAction[]): readonly ReleaseProblem[] {
  return failure?.problems ?? refused.map(problemOf);
}

/** Returns why an action is refused, as events and answers say it. */
export function problemOf({ action, reason }: RefusedAction): ReleaseProblem {
  const { contentType, entryDocumentId, locale } = action;
  return { contentType, entryDocumentId, locale, reason };
}

function statusOf(
  { releasedAt, failure, actions }: Release,
  problems: readonly ReleaseProblem[] | undefined,
) {
  if (releasedAt !== null) return 'done';
  if (failure !== null) return 'failed';
  if (actions.length === 0) return 'empty';
  if (problems === undefined) return null;
  return problems.length > 0 ? 'blocked' : 'ready';
}

/** Returns actions of a release as Strapi describes them. `problem`: why the action would be refused now. */
export async function describeActions(
  options: DescribeOptions,
  release: Release,
  actions: readonly StoredAction[],
) {
  const refused = isPending(release) ? await options.together.check(release.actions) : [];
  const reasons = new Map(refused.map(({ action, reason }) => [keyOf(action), reason]));
  return actions.map((action) => describeAction(options, action, reasons.get(keyOf(action)) ?? null));
}

function keyOf({ contentType, entryDocumentId, locale }: Omit<ReleaseProblem, 'reason'>): string {
  return JSON.stringify([contentType, entryDocumentId, locale]);
}

function describeAction(options: DescribeOptions, action: StoredAction, problem: string | null) {
  const { id, type, contentType, entryDocumentId, locale, createdAt, updatedAt } = action;
  const definition = options.registry().contentTypes.get(contentType);
  const entries = options.graph.entries(contentType, entryDocumentId);
  const rows = entries.filter((entry) => locale === '*' || entry.locale === locale);
  const draft = rows.find(({ version }) => version === 'draft');
  return {
    id,
    type,
    contentType: { uid: contentType, displayName: definition?.displayName ?? contentType },
    entryDocumentId,
    locale: locale === null ? null : { code: locale, name: locale },
    isEntryValid: problem === null,
    problem,
    status: versionOf(
      draft,
      rows.find(({ version }) => version === 'published'),
    ),
    entry: draft === undefined ? null : entryOf(draft),
    createdAt,
    updatedAt,
  };
}

function entryOf({ id, documentId, locale, createdAt, updatedAt }: Entry) {
  return { id, documentId, locale, createdAt, updatedAt };
}

/** Strapi compares the times of the last edit. */
function versionOf(
  draft: Entry | undefined,
  published: Entry | undefined,
): 'draft' | 'published' | 'modified' {
  if (published === undefined) return 'draft';
  return draft !== undefined && draft.updatedAt > published.updatedAt ? 'modified' : 'published';
}

import * as z from 'zod';
import type { FormProblem } from '../../shared/form-problems.ts';
import { PAGE, pageOf } from '../../shared/list-page.ts';
import type { StoredAction } from '../../shared/releases/release-state.ts';
import type { Resource, ResourceRequest, ResourceResult } from '../../shared/resource.ts';
import { describeActions } from './describe-release.ts';
import type { ServedReleases } from './open-releases.ts';
import type { NewAction } from './release-commands.ts';
import { refusedRelease } from './release-error.ts';
import { found, idInPath, openedReleases, RELEASES_PATH } from './release-page.ts';
import {
  ACTION_CHANGE_FORM,
  ACTION_FORM,
  ACTIONS_FORM,
  type ActionRequest,
  parseReleaseForm,
  resolveAction,
} from './release-request.ts';

const ACTION = z.looseObject({
  id: z.int(),
  type: z.enum(['publish', 'unpublish']),
  isEntryValid: z.boolean(),
  status: z.enum(['draft', 'published', 'modified']),
});
const GROUPS = ['contentType', 'action', 'locale'] as const;

/** Entries of releases, and what happens to them. */
export const RELEASE_ACTION_RESOURCES: readonly Resource<ServedReleases>[] = [
  {
    name: 'listReleaseActions',
    summary: 'List the actions of a release',
    method: 'GET',
    path: `${RELEASES_PATH}/:id/actions`,
    query: z.object({ ...PAGE, groupBy: z.enum(GROUPS).default('contentType') }),
    result: z.record(z.string(), z.array(ACTION)).describe('By content type, kind of action or locale.'),
    run: listActions,
  },
  {
    name: 'addReleaseAction',
    summary: 'Add an entry to a release',
    method: 'POST',
    path: `${RELEASES_PATH}/:id/actions`,
    body: ACTION_FORM,
    result: ACTION,
    status: 201,
    ofLeader: true,
    async run(parts, request) {
      const wanted = resolvedActions(parts, [parseReleaseForm(ACTION_FORM, request.data)], false);
      const { added, release, position } = await openedReleases(parts).commands.addActions(
        idInPath(request),
        wanted,
      );
      const [action] = await describeActions(openedReleases(parts).describing, release, added);
      if (action === undefined)
        throw refusedRelease([{ path: 'entryDocumentId', message: 'is in the release already' }]);
      return { data: action, position };
    },
  },
  {
    name: 'addReleaseActions',
    summary: 'Add entries to a release, except those that it has',
    method: 'POST',
    path: `${RELEASES_PATH}/:id/actions/bulk`,
    body: ACTIONS_FORM,
    result: z.array(ACTION),
    status: 201,
    ofLeader: true,
    async run(parts, request) {
      const wanted = resolvedActions(parts, parseReleaseForm(ACTIONS_FORM, request.data), true);
      const { added, release, position } = await openedReleases(parts).commands.addActions(
        idInPath(request),
        wanted,
      );
      const data = await describeActions(openedReleases(parts).describing, release, added);
      const entriesAlreadyInRelease = wanted.length - added.length;
      return { data, meta: { entriesAlreadyInRelease, totalEntries: wanted.length }, position };
    },
  },
  {
    name: 'changeReleaseAction',
    summary: 'Publish or unpublish an entry of a release instead',
    method: 'PUT',
    path: `${RELEASES_PATH}/:id/actions/:actionId`,
    body: ACTION_CHANGE_FORM,
    result: ACTION,
    ofLeader: true,
    async run(parts, request) {
      const { commands, describing } = openedReleases(parts);
      const actionId = idInPath(request, 'actionId');
      const { type } = parseReleaseForm(ACTION_CHANGE_FORM, request.data);
      const { release, position } = await commands.changeAction(idInPath(request), actionId, type);
      const changed = release.actions.filter(({ id }) => id === actionId);
      const [data] = await describeActions(describing, release, changed);
      return { data, position };
    },
  },
  {
    name: 'removeReleaseAction',
    summary: 'Remove an entry from a release',
    method: 'DELETE',
    path: `${RELEASES_PATH}/:id/actions/:actionId`,
    result: ACTION,
    ofLeader: true,
    async run(parts, request) {
      const { commands, describing } = openedReleases(parts);
      const actionId = idInPath(request, 'actionId');
      const before = found(parts, request);
      const { position } = await commands.removeAction(before.id, actionId);
      const removed = before.actions.filter(({ id }) => id === actionId);
      const [data] = await describeActions(describing, before, removed);
      return { data, position };
    },
  },
];

async function listActions(parts: ServedReleases, request: ResourceRequest): Promise<ResourceResult> {
  const { query } = request;
  const given = query.get('groupBy') ?? 'contentType';
  const groupBy = GROUPS.find((each) => each === given);
  if (groupBy === undefined)
    throw refusedRelease([
      { path: 'groupBy', message: `must be one of ${GROUPS.join(', ')}, got "${given}"` },
    ]);
  const release = found(parts, request);
  const sorted = release.actions.toSorted((one, other) => {
    const [first, second] = [groupOf(one, groupBy), groupOf(other, groupBy)];
    return first < second ? -1 : first > second ? 1 : one.id - other.id;
  });
  const { rows, pagination } = pageOf(sorted, query);
  const actions = await describeActions(openedReleases(parts).describing, release, rows);
  const data = Object.groupBy(actions, (action) => {
    if (groupBy === 'contentType') return action.contentType.displayName;
    return groupBy === 'action' ? action.type : (action.locale?.name ?? 'No locale');
  });
  return { data, meta: { pagination } };
}

function groupOf({ contentType, type, locale }: StoredAction, groupBy: (typeof GROUPS)[number]): string {
  if (groupBy === 'contentType') return contentType;
  return groupBy === 'action' ? type : (locale ?? '');
}

/** Returns actions as they are stored. Throws RequestError (400) with the problems of all of them. */
function resolvedActions(
  parts: ServedReleases,
  requests: readonly ActionRequest[],
  isList: boolean,
): readonly NewAction[] {
  const { resolving, exists } = openedReleases(parts);
  const known = resolving();
  const actions: NewAction[] = [];
  const problems: FormProblem[] = [];
  for (const [n, request] of requests.entries()) {
    const path = isList ? String(n) : '';
    const action = resolveAction(request, known, path);
    if ('message' in action) problems.push(action);
    else if (exists(action)) actions.push(action);
    else {
      const at = [path, 'entryDocumentId'].filter(Boolean).join('.');
      problems.push({
        path: at,
        message: `is not an entry of ${action.contentType}: "${action.entryDocumentId}"`,
      });
    }
  }
  if (problems.length > 0) throw refusedRelease(problems);
  return actions;
}

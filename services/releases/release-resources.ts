import * as z from 'zod';
import { PAGE, pageOf } from '../../shared/list-page.ts';
import { isPending, type Release } from '../../shared/releases/release-state.ts';
import { RequestError } from '../../shared/request-error.ts';
import type { Resource, ResourceRequest, ResourceResult } from '../../shared/resource.ts';
import { describeRelease, describeReleases } from './describe-release.ts';
import type { ServedReleases } from './open-releases.ts';
import { RELEASE_ACTION_RESOURCES } from './release-action-resources.ts';
import { found, idInPath, openedReleases, RELEASES_PATH } from './release-page.ts';
import { parseRelease, RELEASE_FORM } from './release-request.ts';

const RELEASE = z.looseObject({
  id: z.int(),
  name: z.string(),
  releasedAt: z.iso.datetime().nullable(),
  scheduledAt: z.iso.datetime().nullable(),
  timezone: z.string().nullable(),
  status: z
    .enum(['ready', 'blocked', 'failed', 'done', 'empty'])
    .nullable()
    .describe('null: not checked, in a list of releases with more than 2,000 actions in all.'),
  actions: z.object({ meta: z.object({ count: z.int() }) }),
  lateMs: z.int().nullable().describe('Milliseconds after scheduledAt; null: a caller carried it out.'),
  problems: z
    .array(
      z.object({
        contentType: z.string(),
        entryDocumentId: z.string(),
        locale: z.string().nullable(),
        reason: z.string(),
      }),
    )
    .describe('Why it is blocked, or has failed.'),
});
/** Releases and their actions. Only the leader changes and carries them out. */
export const RELEASE_RESOURCES: readonly Resource<ServedReleases>[] = [
  {
    name: 'listReleases',
    summary: 'List releases, the newest first',
    method: 'GET',
    path: RELEASES_PATH,
    query: z.object(PAGE),
    result: z.array(RELEASE),
    async run(parts, { query }) {
      const { describing, commands } = openedReleases(parts);
      const all = commands.list().toReversed();
      const { rows, pagination } = pageOf(all, query);
      const data = await describeReleases(describing, rows);
      return { data, meta: { pagination, pendingReleasesCount: all.filter(isPending).length } };
    },
  },
  {
    name: 'addRelease',
    summary: 'Add a release',
    method: 'POST',
    path: RELEASES_PATH,
    body: RELEASE_FORM,
    result: RELEASE,
    status: 201,
    ofLeader: true,
    async run(parts, { data }) {
      const { commands } = openedReleases(parts);
      return answered(parts, await commands.add(parseRelease(data, Date.now())));
    },
  },
  {
    name: 'getRelease',
    summary: 'Read a release',
    method: 'GET',
    path: `${RELEASES_PATH}/:id`,
    result: RELEASE,
    run: async (parts, request) => ({
      data: await describeRelease(openedReleases(parts).describing, found(parts, request)),
    }),
  },
  {
    name: 'changeRelease',
    summary: 'Replace the name and the time of a release',
    method: 'PUT',
    path: `${RELEASES_PATH}/:id`,
    body: RELEASE_FORM,
    result: RELEASE,
    ofLeader: true,
    async run(parts, request) {
      const { commands } = openedReleases(parts);
      return answered(
        parts,
        await commands.change(idInPath(request), parseRelease(request.data, Date.now())),
      );
    },
  },
  {
    name: 'removeRelease',
    summary: 'Remove a release that was not carried out',
    method: 'DELETE',
    path: `${RELEASES_PATH}/:id`,
    result: RELEASE,
    ofLeader: true,
    run: async (parts, request) =>
      answered(parts, await openedReleases(parts).commands.remove(idInPath(request))),
  },
  {
    name: 'publishRelease',
    summary: 'Carry a release out now',
    method: 'POST',
    path: `${RELEASES_PATH}/:id/publish`,
    result: RELEASE,
    ofLeader: true,
    run: publish,
  },
  ...RELEASE_ACTION_RESOURCES,
];

async function publish(parts: ServedReleases, request: ResourceRequest): Promise<ResourceResult> {
  const { carryOut, describing, commands, author } = openedReleases(parts);
  const before = commands.find(idInPath(request));
  const ended = await carryOut(before.id, { author: author(), isDue: false });
  if (ended.kind === 'gone')
    throw new RequestError('invalid-release', 'Release already published', { id: before.id });
  const data = await describeRelease(describing, ended.release);
  if (ended.kind === 'failed')
    throw new RequestError('invalid-release', 'Release failed to publish', {
      id: before.id,
      problems: data.problems,
    });
  const { actions } = ended.release;
  const published = actions.filter(({ type }) => type === 'publish').length;
  const meta = {
    totalEntries: actions.length,
    totalPublishedEntries: published,
    totalUnpublishedEntries: actions.length - published,
  };
  return { data, meta, position: ended.position };
}

async function answered(
  parts: ServedReleases,
  { release, position }: { readonly release: Release; readonly position: bigint },
): Promise<ResourceResult> {
  return { data: await describeRelease(openedReleases(parts).describing, release), position };
}

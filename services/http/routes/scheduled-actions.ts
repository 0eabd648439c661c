import type { FastifyRequest } from 'fastify';
import { may } from '../../../shared/access/rights.ts';
import { isRecord } from '../../../shared/json-record.ts';
import type { ContentType } from '../../../shared/schema/content-type.ts';
import { refuseActionWithoutDrafts } from '../../command/action-plan.ts';
import { NotLeading } from '../../command/not-leading.ts';
import { notFoundError, validationError } from '../../command/problem.ts';
import { parseWriteLocale } from '../../command/write-target.ts';
import { type Problems, refuseIfAny, refuseOtherNames } from '../../query/problems.ts';
import { parseQueryString } from '../../query/query-string.ts';
import { describeRelease } from '../../releases/describe-release.ts';
import type { OpenedReleases, ServedReleases } from '../../releases/open-releases.ts';
import { parseAt } from '../../releases/release-request.ts';
import { forbidden } from '../api/guard-content-api.ts';
import { type Handler, idOf, queryOf } from './entry-routes.ts';
import { refuseMembers } from './refuse-unknown-names.ts';
import { dataOf } from './resource-routes.ts';
import { sendData } from './send-data.ts';

/** Action on an entry that can wait for its time. */
export type ScheduledAction = { readonly type: ContentType; readonly action: 'publish' | 'unpublish' };

/**
 * Returns a handler that schedules the action if the body has a time (`data.at`), and otherwise lets `atOnce` carry it out. The answer is a
 * 202 with the release of this one action; `at: null` removes it.
 */
export function scheduledOr(
  atOnce: Handler,
  { releases }: { readonly releases?: ServedReleases | undefined },
  scheduled: ScheduledAction,
): Handler {
  return async (request, reply) => {
    const data = dataOf(request);
    if (!(isRecord(data) && Object.hasOwn(data, 'at'))) return atOnce(request, reply);
    if (!may(request.rights, scheduled.type.uid, scheduled.action)) throw forbidden();
    if (releases === undefined)
      throw validationError('Nothing can be scheduled here: the content is that of a Strapi', { path: 'at' });
    if (request.isElsewhere || releases.opened === undefined) throw new NotLeading();
    const { release, position } = await schedule(releases.opened, scheduled, request);
    // The caller may not know who scheduled the action before.
    const { createdBy: _by, ...shown } = await describeRelease(releases.opened.describing, release);
    sendData(reply, shown, { status: 202, position });
  };
}

async function schedule(
  { commands, resolving, exists }: OpenedReleases,
  { type, action: kind }: ScheduledAction,
  request: FastifyRequest,
) {
  refuseActionWithoutDrafts(type, { kind });
  const query = parseQueryString(queryOf(request));
  refuseOthers(query, request.body);
  const locale = parseWriteLocale(type, query['locale'], resolving().defaultLocale, 'every-allowed');
  const action = { type: kind, contentType: type.uid, entryDocumentId: idOf(request), locale };
  if (!exists(action)) throw notFoundError();
  const at = parseAt(dataOf(request), Date.now());
  return at === null ? commands.unschedule(action) : commands.schedule(action, at);
}

/** Refuses parameters and members that would be ignored. */
function refuseOthers(query: Readonly<Record<string, unknown>>, body: unknown): void {
  const problems: Problems = [];
  refuseOtherNames(query, ['locale'], problems);
  refuseIfAny(problems);
  refuseMembers(body, ['data']);
}

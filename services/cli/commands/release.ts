import { defined } from '../../../shared/defined.ts';
import type { FormProblem } from '../../../shared/form-problems.ts';
import type { ReleaseProblem } from '../../../shared/releases/release-events.ts';
import type { ResourceCall } from '../../../shared/resource.ts';
import type { ReleaseLine } from '../../operator/releases.ts';
import type { DescribedAction, DescribedRelease } from '../../releases/describe-release.ts';
import { textTable } from '../output/text-table.ts';
import type { JsonOption } from '../settings/command.ts';
import { InvalidSettings, type OperatorSettings } from '../settings/settings.ts';
import { withOperations } from './operate.ts';
import { refusedOptions } from './run-resource.ts';

type TimeOptions = JsonOption & { readonly at?: string; readonly timezone?: string };
type EntryOptions = JsonOption & {
  readonly type?: string;
  readonly entries?: string;
  readonly locale?: string;
  readonly unpublish?: true;
};

/** `varve release list` */
export async function listReleases(settings: OperatorSettings, { json }: JsonOption): Promise<void> {
  const releases = await withReleases(settings, (call) => allPages<DescribedRelease>(call, 'listReleases'));
  if (json === true) printJson(releases);
  else if (releases.length === 0) console.error('There are no releases.');
  else console.log(textTable([['ID', 'NAME', 'STATUS', 'ENTRIES', 'TIME'], ...releases.map(columnsOf)]));
}

/** `varve release show`: prints a release and its entries. */
export async function showRelease(
  settings: OperatorSettings,
  { json }: JsonOption,
  id: string,
): Promise<void> {
  const [release, groups] = await withReleases(settings, async (call) => [
    (await call({ resource: 'getRelease', parameters: { id } })).data as DescribedRelease,
    await allPages<Readonly<Record<string, readonly DescribedAction[]>>>(call, 'listReleaseActions', { id }),
  ]);
  const actions = groups.flatMap((group) => Object.values(group).flat());
  if (json === true) return printJson({ ...release, actions });
  const { name, status, releasedAt, lateMs } = release;
  console.log(`Release ${id} "${name}": ${status}, ${timeOf(release)}`);
  if (releasedAt !== null)
    console.log(`Carried out at ${releasedAt}${lateMs === null ? '' : `, ${lateMs / 1_000} s late`}`);
  if (actions.length === 0) return console.error('The release has no entries.');
  const rows = actions.map((action) => [
    String(action.id),
    action.type,
    action.contentType.uid,
    action.entryDocumentId,
    action.locale?.code ?? '-',
    action.status,
    action.problem ?? '',
  ]);
  console.log(textTable([['ACTION', 'DOES', 'TYPE', 'ENTRY', 'LOCALE', 'STATE', 'PROBLEM'], ...rows]));
}

/** `varve release create`: writes the id alone to stdout, for scripts. */
export async function createRelease(
  settings: OperatorSettings,
  { json, at, timezone }: TimeOptions,
  name: string,
): Promise<void> {
  const data = { name, scheduledAt: at ?? null, timezone: timezone ?? null };
  const { data: made } = await one(settings, { resource: 'addRelease', data });
  const release = made as DescribedRelease;
  if (json === true) return printJson(release);
  console.error(`Release "${release.name}": ${timeOf(release)}. Its id:`);
  console.log(String(release.id));
}

/** `varve release change`: what is not given stays as it is. */
export async function changeRelease(
  settings: OperatorSettings,
  { json, name, at, timezone }: TimeOptions & { readonly name?: string },
  id: string,
): Promise<void> {
  if (name === undefined && at === undefined) throw new InvalidSettings('pass --name or --at');
  await replaceHead(settings, { json, id }, (release) => ({
    name: name ?? release.name,
    ...(at === undefined
      ? timeAsStored(release)
      : { scheduledAt: at, timezone: timezone ?? release.timezone }),
  }));
}

/** `varve release cancel`: a caller has to carry the release out. */
export async function cancelRelease(
  settings: OperatorSettings,
  { json }: JsonOption,
  id: string,
): Promise<void> {
  await replaceHead(settings, { json, id }, ({ name, timezone }) => ({ name, scheduledAt: null, timezone }));
}

/** `varve release add` */
export async function addEntries(
  settings: OperatorSettings,
  { json, type: contentType, entries, locale, unpublish }: EntryOptions,
  id: string,
): Promise<void> {
  const type = unpublish === true ? 'unpublish' : 'publish';
  const documentIds = entries?.split(',').map((each) => each.trim()) ?? [undefined];
  const data = documentIds.map((entryDocumentId) => ({
    type,
    contentType,
    ...defined({ entryDocumentId, locale }),
  }));
  const call = { resource: 'addReleaseActions', parameters: { id }, data };
  const { data: added, meta } = await one(settings, call);
  if (json === true) return printJson(added);
  const present = Number(
    (meta as { readonly entriesAlreadyInRelease?: number }).entriesAlreadyInRelease ?? 0,
  );
  const actions = added as readonly DescribedAction[];
  console.error(
    `${actions.length} entries are added${present === 0 ? '' : `; the release had ${present} already`}.`,
  );
  for (const { entryDocumentId, problem } of actions)
    if (problem !== null) console.error(`  ${entryDocumentId} would be refused: ${problem}`);
}

/** `varve release remove` */
export async function removeEntry(
  settings: OperatorSettings,
  { json, action: actionId = '' }: JsonOption & { readonly action?: string },
  id: string,
): Promise<void> {
  const { data } = await one(settings, { resource: 'removeReleaseAction', parameters: { id, actionId } });
  if (json === true) return printJson(data);
  const { entryDocumentId } = data as DescribedAction;
  console.error(`The entry ${entryDocumentId} is no longer in the release ${id}.`);
}

/** `varve release publish`: fails if an entry is refused, and names all of these. */
export async function publishRelease(
  settings: OperatorSettings,
  { json }: JsonOption,
  id: string,
): Promise<void> {
  const { data, meta } = await one(settings, { resource: 'publishRelease', parameters: { id } });
  if (json === true) return printJson(data);
  const { totalPublishedEntries, totalUnpublishedEntries } = meta as Readonly<Record<string, number>>;
  console.error(`${totalPublishedEntries} entries are published, ${totalUnpublishedEntries} unpublished.`);
}

/** `varve release delete` */
export async function deleteRelease(
  settings: OperatorSettings,
  { json }: JsonOption,
  id: string,
): Promise<void> {
  const { data } = await one(settings, { resource: 'removeRelease', parameters: { id } });
  if (json === true) return printJson(data);
  console.error(`Release "${(data as DescribedRelease).name}" (${id}) is deleted.`);
}

type Answer = Extract<ReleaseLine, { kind: 'answer' }>;
type Call = (call: ResourceCall) => Promise<Answer>;

/** Runs `use` on the releases of the server of the data directory. */
function withReleases<Result>(
  settings: OperatorSettings,
  use: (call: Call) => Promise<Result>,
): Promise<Result> {
  return withOperations(settings, (operations) =>
    use(async ({ data, ...call }) => {
      let last: ReleaseLine | undefined;
      const request = { ...call, ...(data === undefined ? {} : { data: data as never }) };
      for await (const line of operations.run('release', request)) last = line;
      if (last === undefined) throw new Error('the server sent no answer');
      if (last.kind === 'answer') return last;
      throw last.errors.length > 0 ? refusedEntries(last.errors) : new Error(sentencesOf(last));
    }),
  );
}

function one(settings: OperatorSettings, call: ResourceCall): Promise<Answer> {
  return withReleases(settings, (run) => run(call));
}

/** Returns the error for a refused form. Problems of a list of entries begin with the number of the entry. */
function refusedEntries(errors: readonly FormProblem[]): InvalidSettings {
  const named = errors.map(({ path, message }) => ({ path: path.replace(/^\d+\./, ''), message }));
  return refusedOptions([...new Map(named.map((each) => [JSON.stringify(each), each])).values()]);
}

function sentencesOf({ message, problems }: Extract<ReleaseLine, { kind: 'refused' }>): string {
  const lines = (problems as readonly ReleaseProblem[]).map(
    ({ contentType, entryDocumentId, locale, reason }) =>
      `  ${[contentType, entryDocumentId, locale].filter(Boolean).join(' ')}: ${reason}`,
  );
  return [message, ...lines].join('\n');
}

/** Returns the lists or groups of all pages. */
async function allPages<Item>(
  call: Call,
  resource: string,
  parameters: Readonly<Record<string, string>> = {},
): Promise<readonly Item[]> {
  const found: Item[] = [];
  for (let page = 1; ; page++) {
    const query = { page: String(page), pageSize: '100' };
    const { data, meta } = await call({ resource, query, parameters });
    found.push(...([data].flat() as Item[]));
    const { pageCount } = (meta as { readonly pagination: { readonly pageCount: number } }).pagination;
    if (page >= pageCount) return found;
  }
}

/** Replaces the name and the time of a release, and prints it. */
async function replaceHead(
  settings: OperatorSettings,
  { json, id }: { readonly json: true | undefined; readonly id: string },
  head: (release: DescribedRelease) => object,
): Promise<void> {
  const changed = await withReleases(settings, async (call) => {
    const parameters = { id };
    const { data } = await call({ resource: 'getRelease', parameters });
    return call({ resource: 'changeRelease', parameters, data: head(data as DescribedRelease) });
  });
  const release = changed.data as DescribedRelease;
  if (json === true) printJson(release);
  else console.error(`Release "${release.name}" (${id}): ${timeOf(release)}.`);
}

function timeAsStored({ scheduledAt, timezone }: DescribedRelease): object {
  return { scheduledAt, timezone };
}

function columnsOf(release: DescribedRelease): readonly string[] {
  const { id, name, status, actions } = release;
  return [String(id), name, status ?? 'not checked', String(actions.meta.count), timeOf(release)];
}

function timeOf({ scheduledAt, timezone, releasedAt }: DescribedRelease): string {
  if (scheduledAt === null) return releasedAt ?? 'waits for varve release publish';
  return timezone === null ? scheduledAt : `${scheduledAt} (${timezone})`;
}

function printJson(value: unknown): void {
  console.log(JSON.stringify(value, null, 2));
}

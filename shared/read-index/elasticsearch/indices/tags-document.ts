import type { ChangedTags, ChangedTagsStore, TagsVersion } from '../../changed-tags.ts';
import {
  openSmallIndex,
  type ProgressDocumentOptions,
  progressIndex,
  undefinedOn,
} from './progress-document.ts';

const OPTIONS = { requestTimeout: 5_000, maxRetries: 0 };
const GLANCED = ['term', 'number', 'set', 'upTo'] as const;

type TagsBody = Omit<ChangedTags, 'since' | 'upTo' | 'changes'> & {
  readonly since: string;
  readonly upTo: string;
  readonly changes: readonly (readonly [position: string, ...tags: readonly string[]])[];
};
type Version = { readonly _seq_no: number; readonly _primary_term: number };
type Found = Version & { readonly _source: TagsBody };
/** Result of a read. `error`: the index does not exist, or no copy of it answers. */
type Glanced<Source> = { readonly _source?: Source; readonly error?: { readonly type: string } };
type Glance = {
  readonly docs: readonly [
    Glanced<Pick<TagsBody, (typeof GLANCED)[number]>>,
    Glanced<{ readonly position: string }>,
  ];
};

/** Returns the name of the index of the tags; see `createTagsDocument`. */
export function tagsIndex(space: string): string {
  return `${space}-tags`;
}

/**
 * Creates the storage of changed tags: a document with the name of the log as its id, in an index of its own. It is read in real time, not
 * by searches.
 */
export function createTagsDocument({ client, space, log }: ProgressDocumentOptions): ChangedTagsStore {
  const index = tagsIndex(space);
  const path = `/${index}/_doc/${encodeURIComponent(log)}`;
  const latest: ChangedTagsStore['latest'] = async () => {
    const answer = await client.transport.request({ method: 'GET', path }, OPTIONS).catch(undefinedOn(404));
    if (answer === undefined) return { state: undefined, version: 'absent' };
    const found = answer as Found;
    return { state: readBody(found._source), version: versionOf(found) };
  };
  return {
    latest,
    read: async () => (await latest()).state,
    async glance() {
      const docs = [
        { _index: index, _id: log, _source: GLANCED },
        { _index: progressIndex(space), _id: log, _source: ['position'] },
      ];
      const request = { method: 'POST', path: '/_mget', body: { docs } };
      const [tags, progress] = ((await client.transport.request(request, OPTIONS)) as Glance).docs;
      const [state, announced] = [sourceOf(tags), sourceOf(progress)];
      return {
        newest: state && { ...state, upTo: BigInt(state.upTo) },
        announced: announced && BigInt(announced.position),
      };
    },
    async replace(version, state) {
      if (version === 'absent') await openSmallIndex(client, index);
      const condition =
        version === 'absent'
          ? 'op_type=create'
          : `if_seq_no=${version.sequence}&if_primary_term=${version.primary}`;
      const request = { method: 'PUT', path: `${path}?${condition}`, body: bodyOf(state) };
      // 404: the condition refers to an index that was deleted.
      const answer = await client.transport.request(request, OPTIONS).catch(undefinedOn(409, 404));
      return answer === undefined ? undefined : versionOf(answer as Version);
    },
  };
}

/** Returns the content of a document. Throws if no copy of the index answers. */
function sourceOf<Source>({ _source, error }: Glanced<Source>): Source | undefined {
  if (error !== undefined && error.type !== 'index_not_found_exception') throw new Error(error.type);
  return _source;
}

function versionOf({ _seq_no: sequence, _primary_term: primary }: Version): TagsVersion {
  return { sequence, primary };
}

function bodyOf({ since, upTo, changes, ...rest }: ChangedTags): TagsBody {
  const rows = changes.map(({ position, tags }) => [String(position), ...tags] as const);
  return { ...rest, since: String(since), upTo: String(upTo), changes: rows };
}

function readBody({ since, upTo, changes, ...rest }: TagsBody): ChangedTags {
  return {
    ...rest,
    since: BigInt(since),
    upTo: BigInt(upTo),
    changes: changes.map(([position, ...tags]) => ({ position: BigInt(position), tags })),
  };
}

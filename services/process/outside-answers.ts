import type { ElasticsearchCluster } from '../../shared/read-index/elasticsearch/elasticsearch-cluster.ts';
import { type IndexSet, nameOfSet } from '../../shared/read-index/index-set.ts';
import { remembered } from '../../shared/remembered.ts';
import type { OutsideIndex } from '../delivery/known-answers.ts';
import { digestTag, isWordsTag, type Tag } from '../delivery/tag.ts';
import type { TagPositions } from '../delivery/tag-positions.ts';
import { createTagReader } from '../elasticsearch/tag-reader.ts';

/** Changes in documents that another process writes, as far as this process knows them. */
export type OutsideAnswers = { readonly positions: TagPositions; readonly outside: OutsideIndex };

export type OutsideAnswersOptions = {
  readonly cluster: Pick<ElasticsearchCluster, 'changedTags' | 'indices'>;
  /** Name of the log. */
  readonly log: string;
  /** Epoch of the newest claim of the lease that is known here. */
  readonly epoch: () => number;
  /** Position that searches show, as far as it is known here. */
  readonly shown: () => bigint;
};

/** Creates answers that use the tags which the leader of a log notes. */
export function createOutsideAnswers({ cluster, log, epoch, shown }: OutsideAnswersOptions): OutsideAnswers {
  const tags = createTagReader({ store: cluster.changedTags(log), shown });
  const names = remembered((set: IndexSet) => nameOfSet(set));
  const digests = remembered((all: Iterable<Tag>) => digestsOf(all));
  return {
    positions: {
      watch() {},
      note() {},
      isUnchanged(all, since) {
        const known = digests(all);
        return known !== undefined && tags.isUnchanged(known, since);
      },
    },
    outside: {
      look: tags.look,
      state() {
        const set = cluster.indices.get();
        if (!(set instanceof Promise)) return tags.term(epoch(), names(set));
        set.catch(() => {});
        return undefined;
      },
    },
  };
}

/** Returns undefined for an answer that Elasticsearch ranks, which depends on documents that no tag names. */
function digestsOf(tags: Iterable<Tag>): readonly string[] | undefined {
  const all = [...tags];
  return all.some(isWordsTag) ? undefined : all.map(digestTag);
}

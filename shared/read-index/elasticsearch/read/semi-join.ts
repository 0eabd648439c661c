import { RequestError } from '../../../request-error.ts';
import type { Dsl } from '../plan/dsl.ts';
import { fitClauses } from '../plan/long-text.ts';
import { chooseCopies, type PlannedQuery, type SemiJoin, semiJoinsOf } from '../plan/planned-query.ts';
import { renderQuery } from '../plan/render-query.ts';
import type { SearchBody } from '../wire/write-search.ts';
import { findTexts } from './find-texts.ts';
import { BUCKETS, FROM_HITS, readKeys } from './read-keys.ts';
import type { Session } from './session.ts';

/** Returns a plan's DSL after running its semi-joins. Inner ones run before outer ones, and independent ones at the same time. */
export async function resolveQuery(session: Session, query: PlannedQuery): Promise<Dsl> {
  const fitting = fitClauses(chooseCopies(query, session.isUncopied));
  const joins = semiJoinsOf(fitting);
  const found = await Promise.all(joins.map((join) => findKeys(session, join)));
  const keys = new Map(joins.map((join, i) => [join, found[i] as readonly number[]]));
  return renderQuery(fitting, (join) => keys.get(join) ?? []);
}

async function findKeys(session: Session, join: SemiJoin): Promise<readonly number[]> {
  const query = await resolveQuery(session, join.query);
  const { type, select, into, texts } = join;
  if (texts !== undefined) return findTexts(session, type, query, texts);
  const few: SearchBody = { size: FROM_HITS, query, track_total_hits: true, docvalue_fields: [select] };
  const { hits } = await session.search(type, few);
  if ((hits.total?.value ?? 0) > FROM_HITS) {
    const refuse = () => refuseTooMany(session.semiJoinLimit, into);
    return readKeys(session, { type, query, field: select, atOnce: BUCKETS }, refuse);
  }
  const keys = new Set<number>();
  for (const { fields } of hits.hits) for (const key of fields?.[select] ?? []) keys.add(key as number);
  return [...keys];
}

function refuseTooMany(limit: number, into: string): never {
  throw new RequestError('query-too-large', `Invalid filters: more than ${limit} related entries match`, {
    param: 'filters',
    source: 'query',
    path: into,
    found: `more than ${limit} related entries`,
    accepted:
      'a narrower filter, or the relation copied into the documents (pluginOptions.varve.denormalise)',
  });
}

import { RequestError } from '../../../request-error.ts';
import type { Uid } from '../../../schema/content-type.ts';
import { columnValue, textForm } from '../../column.ts';
import { textComparison } from '../../compare-text.ts';
import { foldText } from '../../fold-text.ts';
import type { ComponentStep } from '../../read-index.ts';
import type { StoredPart, StoredParts } from '../layout/index-document.ts';
import { type Dsl, markDsl } from '../plan/dsl.ts';
import type { TextCheck } from '../plan/planned-query.ts';
import type { SearchHit } from '../wire/search-answer.ts';
import { componentsOf, hitDetails, locate } from './read-rows.ts';
import type { Session } from './session.ts';

/** Documents that one request reads, and documents that are read for one text at most. */
const [AT_ONCE, MOST] = [200, 10_000];

/** A row or component with its JSON. */
type Source = { readonly key: number; readonly json: string };

/**
 * Returns the keys of the rows or components whose text satisfies a comparison. `pieces` matches those that may. Reads their documents, a
 * page at a time.
 */
export async function findTexts(
  session: Session,
  type: Uid,
  pieces: Dsl,
  { path, scalar, comparison }: TextCheck,
): Promise<readonly number[]> {
  const { list, place } = locate(session.layouts(type), path);
  const inItem: Dsl = place.item === undefined ? pieces : { bool: { filter: [markDsl(place.item), pieces] } };
  const query: Dsl =
    list === undefined ? pieces : { nested: { path: list, query: inItem, score_mode: 'none' } };
  const isMatch = textComparison(comparison);
  const matches = ({ json }: Source) => {
    const value = columnValue(scalar.type, (JSON.parse(json) as Record<string, unknown>)[scalar.name]);
    if (value === null) return false;
    const text = textForm(scalar.type, value);
    return isMatch(comparison.fold ? foldText(text) : text);
  };
  const keys: number[] = [];
  let [after, read]: [number | undefined, number] = [undefined, 0];
  do {
    const docvalue_fields = ['key', path.length === 0 ? 'src' : 'parts'];
    const page = { size: AT_ONCE, query, docvalue_fields, sort: [{ key: { order: 'asc' as const } }] };
    const { hits } = await session.search(
      type,
      after === undefined ? page : { ...page, search_after: [after] },
    );
    for (const hit of hits.hits) {
      for (const source of sourcesOf(hit, path)) if (matches(source)) keys.push(source.key);
    }
    read += hits.hits.length;
    if (read >= MOST) refuseText(comparison.value);
    after = hits.hits.length < AT_ONCE ? undefined : keyOf(hits.hits.at(-1));
  } while (after !== undefined);
  return [...new Set(keys)];
}

function keyOf(hit: SearchHit | undefined): number {
  return hit?.fields?.['key']?.[0] as number;
}

function sourcesOf(hit: SearchHit, path: readonly ComponentStep[]): readonly Source[] {
  if (path.length === 0) return [{ key: keyOf(hit), json: Buffer.from(hit.source ?? []).toString() }];
  return partsAt(componentsOf(hitDetails(hit)), path).map(({ key, source }) => ({ key, json: source }));
}

/** Returns the components of a document at a path. */
function partsAt(parts: StoredParts, [step, ...rest]: readonly ComponentStep[]): readonly StoredPart[] {
  if (step === undefined) return [];
  const here = (parts[step.attribute] ?? []).filter(
    ({ component }) => step.zoneComponent === undefined || component === step.zoneComponent,
  );
  return rest.length === 0 ? here : here.flatMap(({ components = {} }) => partsAt(components, rest));
}

function refuseText(value: string): never {
  const message = `Invalid filters: ${MOST} entries may contain a text of ${value.length} characters`;
  throw new RequestError('query-too-large', message, {
    param: 'filters',
    source: 'query',
    found: `${value.length} characters`,
    accepted: `a shorter text, or a narrower one: entries that have parts of a long text are compared one by one, at most ${MOST}`,
  });
}

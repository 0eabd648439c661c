import type { QueryAttribute, QueryModel, QueryScalar } from '../../services/query/query-model.ts';
import { queryModelOf } from '../../services/query/query-model.ts';
import { generateQuery } from '../support/naive-queries.ts';
import type { Random } from '../support/naive-random.ts';
import { conformanceRegistry } from '../support/naive-schema.ts';
import { createRequestSource } from '../support/random-requests.ts';
import { type FuzzMaterial, type Request, requestOf } from './requests.ts';

const registry = conformanceRegistry();
const TYPES = [...registry.contentTypes.values()].filter(({ uid }) => uid.startsWith('api::'));
/** Levels of populate. The bench set has thousands of rows behind each of them. */
const DEEPEST = 4;
/** The read that once ended the server: more than 128 restaurants have more reviews than an answer may have rows. */
const ENDED_THE_SERVER =
  '/api/tags?pagination[pageSize]=16&populate[restaurants][fields]=name&populate[restaurants][populate][reviews][fields]=id';

/** Makes a read of many rows: generated filters, deep populates, and the requests of the corpus with larger pages. */
export function makeBenchRead(random: Random, material: FuzzMaterial): Request {
  const caller = random.chance(0.05) ? 'anonymous' : 'full';
  return requestOf(material, { caller, method: 'GET', target: targetOf(random), body: '', headers: [] });
}

function targetOf(random: Random): string {
  const kind = random.next();
  if (kind < 0.02) return ENDED_THE_SERVER;
  if (kind < 0.3) return createRequestSource(random.between(0, 2 ** 30)).next();
  const type = random.pick(TYPES);
  const model = queryModelOf(registry, type.uid);
  const parts: string[] = [];
  if (random.chance(0.4)) parts.push(generateQuery(random, { registry }, type.uid, 3).filters);
  if (random.chance(0.85)) populate(random, model, { key: 'populate', depth: 1, parts });
  if (random.chance(0.3)) parts.push(`sort=${sortOf(random, model)}`);
  if (random.chance(0.4)) parts.push(`fields=${scalarOf(random, model).name}`);
  if (random.chance(0.2)) parts.push(`status=${random.pick(['draft', 'published'])}`);
  parts.push(`pagination[pageSize]=${random.pick([1, 16, 25, 50, 100])}`);
  if (random.chance(0.2)) parts.push(`pagination[page]=${random.between(1, 40)}`);
  return `/api/${type.kind === 'singleType' ? type.singularName : type.pluralName}?${parts.join('&')}`;
}

type Place = { readonly key: string; readonly depth: number; readonly parts: string[] };

/** Populates one or two attributes, if the model has any. */
function populate(random: Random, model: QueryModel, { key, depth, parts }: Place): void {
  const links = [...model.attributes.values()].filter(({ kind }) => kind !== 'scalar');
  if (links.length === 0) return;
  const chosen = new Set(random.sample(links, random.chance(0.35) ? 2 : 1));
  for (const link of chosen) populateLink(random, link, { key: `${key}[${link.name}]`, depth, parts });
}

function populateLink(random: Random, link: QueryAttribute, { key, depth, parts }: Place): void {
  if (link.kind === 'scalar') return;
  if (link.kind === 'zone') {
    for (const kind of new Set(random.sample(link.components, 2)))
      populateInner(random, queryModelOf(registry, kind), { key: `${key}[on][${kind}]`, depth, parts });
    return;
  }
  if (link.kind === 'relation' && link.toMany && random.chance(0.05)) {
    parts.push(`${key}[count]=true`);
    return;
  }
  const model = queryModelOf(registry, link.target);
  if (link.kind === 'relation' && random.chance(0.15)) {
    const { filters } = generateQuery(random, { registry }, link.target, 1);
    parts.push(filters.replace(/(^|&)filters/g, `$1${key}[filters]`));
  }
  if (link.kind === 'relation' && random.chance(0.15))
    parts.push(`${key}[sort]=${scalarOf(random, model).name}`);
  populateInner(random, model, { key, depth, parts });
}

function populateInner(random: Random, model: QueryModel, { key, depth, parts }: Place): void {
  const before = parts.length;
  if (random.chance(0.5)) parts.push(`${key}[fields]=${scalarOf(random, model).name}`);
  if (depth < DEEPEST && random.chance(0.75))
    populate(random, model, { key: `${key}[populate]`, depth: depth + 1, parts });
  if (parts.length === before) parts.push(`${key}[populate]=*`);
}

function sortOf(random: Random, model: QueryModel): string {
  const links = [...model.attributes.values()].filter(({ kind }) => kind === 'relation');
  const link = links.length > 0 && random.chance(0.4) ? random.pick(links) : undefined;
  const direction = random.pick(['', ':desc']);
  if (link?.kind !== 'relation') return `${scalarOf(random, model).name}${direction}`;
  return `${link.name}.${scalarOf(random, queryModelOf(registry, link.target)).name}${direction}`;
}

function scalarOf(random: Random, model: QueryModel): QueryScalar {
  return random.pick([...model.attributes.values()].filter((attribute) => attribute.kind === 'scalar'));
}
